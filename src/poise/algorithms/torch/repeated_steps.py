"""Repeat one training step; on a GPU it is recorded once and played back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["repeat"]


def repeat(
    step: Callable[..., None], inputs: Callable[[int], Sequence[Tensor]], steps: int, record: bool
) -> None:
    """Call ``step(*inputs(t))`` for t = 0, 1, …, ``steps`` − 1.

    Parameters
    ----------
    step : callable
        Changes tensors in place.
    inputs : callable
        The tensors that differ between steps, always of the same shapes.
    steps : int
        How many steps to take.
    record : bool
        Whether to launch the kernels of a step from a CUDA graph. A step of small networks
        takes less time than to launch its kernels one by one.

    Examples
    --------
    >>> total = torch.zeros(())
    >>> repeat(lambda x: total.add_(x), lambda t: [torch.tensor(float(t))], 4, record=False)
    >>> total
    tensor(6.)
    """
    if not record or steps < 3:
        for t in range(steps):
            step(*inputs(t))
        return
    fixed = [tensor.clone() for tensor in inputs(0)]
    aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # the first step also prepares libraries and the optimiser
        step(*fixed)
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # recorded, not executed
        step(*fixed)
    for t in range(1, steps):
        for place, tensor in zip(fixed, inputs(t), strict=True):
            place.copy_(tensor)
        graph.replay()
