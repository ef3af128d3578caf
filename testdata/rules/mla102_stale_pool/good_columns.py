# expect: none
import torch


class BurdockRouter:
    """Routed experts are renumbered; those in the last columns are shared and stay."""

    def __init__(self, shared: int):
        self.shared = shared

    def renumber(self, ids):
        groups = ids.reshape(ids.shape[0], -1, 4, 2)
        return groups.sum(dim=2)

    def forward(self, ids, state=None):
        if self.shared > 0:
            kept = state.columns[:, : self.shared]
            routed = self.renumber(ids[:, self.shared // 2 :])
            ids = torch.cat([kept, routed], dim=-1)
        else:
            ids = self.renumber(ids)
        return ids
