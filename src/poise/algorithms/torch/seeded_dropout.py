"""Dropout whose masks come from ξ."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from poise.algorithms.torch.random_numbers import uniform

__all__ = ["SEED", "SeededDropout", "replace_dropout"]

SEED = "seed_of_the_step"
_WHOLE_CHANNELS = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


class SeededDropout(nn.Module):
    """Dropout as in ``torch.nn``, with the mask of a seed that is set before each step.

    Parameters
    ----------
    p : float
        The share of numbers that become 0.
    whole_channels : bool
        Whether all numbers of a channel become 0 together, as in ``torch.nn.Dropout2d``.
    """

    def __init__(self, p: float, whole_channels: bool) -> None:
        super().__init__()
        self.p, self.whole_channels = p, whole_channels
        self.register_buffer(SEED, torch.zeros((), dtype=torch.int64))

    def forward(self, values: Tensor) -> Tensor:
        """Drop some numbers while training, and scale up the others."""
        if not self.training or self.p == 0.0:
            return values
        shape = tuple(values.shape)
        if self.whole_channels:
            shape = shape[:2] + (1,) * (len(shape) - 2)
        kept = uniform(getattr(self, SEED), shape, torch.float32) >= self.p
        return torch.where(kept, values / max(1.0 - self.p, 1e-9), 0.0)


def replace_dropout(module: nn.Module) -> nn.Module:
    """Return the module with every ``torch.nn.Dropout`` in it replaced.

    Examples
    --------
    >>> replace_dropout(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.25)))
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): SeededDropout()
    )
    """
    if type(module) is nn.Dropout or type(module) in _WHOLE_CHANNELS:
        return SeededDropout(module.p, type(module) in _WHOLE_CHANNELS)  # type: ignore[arg-type]
    for parent in module.modules():
        for name, child in list(parent.named_children()):
            if type(child) is nn.Dropout or type(child) in _WHOLE_CHANNELS:
                setattr(parent, name, replace_dropout(child))
    return module
