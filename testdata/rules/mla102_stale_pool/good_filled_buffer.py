# expect: none
import torch


class TansyVocoder:
    """What a stream made is cut out of it and stands at the beginning of its row."""

    def __init__(self, window: int):
        self.window = window

    def pool(self, codes):
        return codes.reshape(codes.shape[0], -1, self.window, codes.shape[-1]).mean(dim=2)

    def forward(self, state, codes):
        out = torch.zeros(codes.shape[0], state.longest, codes.shape[-1])
        if state.longest > 0:
            late = self.pool(codes[:, state.first :])
            out[:, : late.shape[1]] = late
        else:
            out = self.pool(codes)
        return out
