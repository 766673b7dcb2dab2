"""Initial weights of many copies of a module in one draw.

To make a module takes a quarter of a millisecond, and a GPU trains one in a tenth of that. Where
all layers are PyTorch's own, with their usual initialisation, the numbers that a seed gives are
known without making the module; that they are is seen by making some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

__all__ = ["drawn_weights"]

_UNIFORM = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_CONSTANT = (nn.LayerNorm, nn.GroupNorm)
_COMPARED = (1, 2, 12345)  # seeds of the modules that are made to see that the draw is right


def drawn_weights(
    make: Callable[[int], nn.Module], seeds: Sequence[int]
) -> dict[str, Tensor] | None:
    """Return the stacked parameters of modules with these seeds; None if they must be made.

    Parameters
    ----------
    make : callable
        ``make(seed)`` returns the module of a seed.
    seeds : sequence of int
        One per copy.

    Examples
    --------
    >>> def make(seed):
    ...     _ = torch.manual_seed(seed)
    ...     return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> drawn = drawn_weights(make, [7, 8])
    >>> bool((drawn["0.weight"][1] == make(8)[0].weight).all())
    True
    """
    module = make(0)
    limits = _limits(module)
    if limits is None:
        return None
    for seed in _COMPARED:
        made, drawn = make(seed), _draw(module, limits, [seed])
        if not all(torch.equal(drawn[name][0], p) for name, p in made.named_parameters()):
            return None
        if not all(map(torch.equal, made.buffers(), module.buffers())):
            return None
    return _draw(module, limits, seeds)


def _limits(module: nn.Module) -> dict[str, float] | None:
    """Return ±limit of the uniform draw of each parameter, 0 for a constant; None if unknown."""
    limits: dict[str, float] = {}
    for prefix, layer in module.named_modules():
        own = dict(layer.named_parameters(prefix, recurse=False))
        if own and type(layer) not in _UNIFORM + _CONSTANT:
            return None
        limit = 0.0
        if type(layer) in _UNIFORM:
            limit = 1 / math.sqrt(layer.weight[0].numel())
        limits.update(dict.fromkeys(own, limit))
    return limits


def _draw(module: nn.Module, limits: dict[str, float], seeds: Sequence[int]) -> dict[str, Tensor]:
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    sizes = {name: p.numel() for name, p in parameters.items() if limits[name]}
    numbers, generator = torch.empty(len(seeds), sum(sizes.values())), torch.Generator()
    for row, seed in zip(numbers.unbind(), seeds, strict=True):
        row.uniform_(generator=generator.manual_seed(seed))
    split = numbers.split(list(sizes.values()), dim=1)  # type: ignore[no-untyped-call]
    parts = dict(zip(sizes, split, strict=True))
    return {
        name: _scaled(parts[name], limits[name]).reshape(-1, *p.shape).to(p.dtype)
        if name in parts
        else p.expand(len(seeds), *p.shape).clone()
        for name, p in parameters.items()
    }


def _scaled(unit: Tensor, limit: float) -> Tensor:
    """Bring numbers between 0 and 1 between −limit and limit, rounded once as PyTorch does."""
    bound = torch.tensor(limit, dtype=unit.dtype)
    return (unit.double() * (bound + bound).double() - bound.double()).to(unit.dtype)
