"""Random numbers from ξ alone, for one copy of a module or for thousands.

PyTorch's own generators give numbers to a whole batch: those of one copy would depend on
how many others are trained with it. Here the i-th number of a stream is a function of the
seed and of i (SplitMix64; Steele, Lea & Flood, 2014), so that ``torch.vmap`` can compute it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["RandomNumbers", "uniform"]

_STEP = 0x9E3779B97F4A7C15 - (1 << 64)  # PyTorch's whole numbers have a sign
_FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
_SECOND = 0x94D049BB133111EB - (1 << 64)
_DIGITS = 53  # binary digits of a number between 0 and 1


def uniform(seed: Tensor, shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> Tensor:
    """Return independent numbers, uniform on [0, 1).

    Parameters
    ----------
    seed : tensor of one int64
        The stream.
    shape, dtype
        Shape and type of the result.

    Examples
    --------
    >>> [round(value, 4) for value in uniform(torch.tensor(0), (2,)).tolist()]
    [0.8833, 0.4315]
    """
    places = torch.arange(1, math.prod(shape) + 1, device=seed.device).reshape(shape)
    mixed = _mixed(seed + places * _STEP)
    whole = _shifted(mixed, 64 - _DIGITS) if dtype == torch.float64 else _shifted(mixed, 40)
    return whole.to(dtype) * 2.0 ** -(_DIGITS if dtype == torch.float64 else 24)


class RandomNumbers:
    """The random numbers of one copy of a module, from its ξ alone.

    It takes the place of ``torch.Generator`` in a function that ``torch.vmap`` maps over
    thousands of copies. Every call gives new numbers.

    Parameters
    ----------
    seed : tensor of one int64
        Made from ξ.

    Examples
    --------
    >>> numbers = RandomNumbers(torch.tensor(7))
    >>> numbers.uniform(2, 3).shape, numbers.normal(4).dtype
    (torch.Size([2, 3]), torch.float32)
    >>> sorted(numbers.permutation(5).tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(self, seed: Tensor) -> None:
        self.seed, self.calls = seed, 0

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return independent numbers, uniform on [0, 1)."""
        self.calls += 1
        return uniform(_mixed(self.seed + self.calls), shape, dtype)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return independent standard normal numbers."""
        inside = self.uniform(*shape, dtype=torch.float64).clamp(min=2.0**-54)
        found: Tensor = torch.special.ndtri(inside)
        return found.to(dtype)

    def permutation(self, count: int) -> Tensor:
        """Return the numbers 0 to ``count`` − 1 in random order."""
        return torch.argsort(self.uniform(count, dtype=torch.float64))


def _mixed(values: Tensor) -> Tensor:
    values = (values ^ _shifted(values, 30)) * _FIRST
    values = (values ^ _shifted(values, 27)) * _SECOND
    return values ^ _shifted(values, 31)


def _shifted(values: Tensor, places: int) -> Tensor:
    """Shift to the right and fill up with zeros, though PyTorch's numbers have a sign."""
    return (values >> places) & ((1 << (64 - places)) - 1)
