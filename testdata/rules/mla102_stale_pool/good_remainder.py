# expect: none
import mlx.core as mx
import mlx.nn as nn


class FigwortPooler(nn.Module):
    """The rest that fills no window is averaged by itself: all of this step, nothing is kept."""

    def __init__(self, window: int):
        super().__init__()
        self.window = window

    def pool(self, hidden_states):
        b, _, d = hidden_states.shape
        return hidden_states.reshape(b, -1, self.window, d).mean(axis=2)

    def __call__(self, hidden_states):
        whole = hidden_states.shape[1] // self.window * self.window
        if whole < hidden_states.shape[1]:
            head = self.pool(hidden_states[:, :whole])
            rest = hidden_states[:, whole:].mean(axis=1, keepdims=True)
            return mx.concatenate([head, rest], axis=1)
        return self.pool(hidden_states)
