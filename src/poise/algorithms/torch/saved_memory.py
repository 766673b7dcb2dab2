"""The memory that one copy of a module needs while it is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from poise.algorithms.torch.module_copies import ModuleCopies

__all__ = ["bytes_per_copy"]

_ROWS = 4  # enough to tell what grows with the rows
_NUMBERS_KEPT = 6  # a parameter, its gradient, the optimiser's two averages, two temporaries


def bytes_per_copy(copies: ModuleCopies, rows: int, d: int) -> int:
    """Estimate the memory for a step with so many rows of d numbers.

    Backpropagation keeps what PyTorch saves in the forward pass, and as much again for the
    gradients of it.
    """
    module = copies.prototype()
    sizes: list[int] = []
    own = {p.data_ptr() for p in module.parameters()}

    def note(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() not in own:
            sizes.append(tensor.nbytes)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        copies.outputs(module, None, torch.zeros((_ROWS, d), dtype=copies.dtype))
    return 2 * sum(sizes) * rows // _ROWS + _NUMBERS_KEPT * _parameter_bytes(module)


def _parameter_bytes(module: nn.Module) -> int:
    return sum(p.nbytes for p in module.parameters())
