"""What differs between steps: the rows of minibatches, the seeds of dropout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Schedule", "drawn"]

_ORDERS, _DROPOUT = 1, 2  # the streams of one ξ


@dataclass(frozen=True)
class Schedule:
    """The rows and the seeds of every step, for several copies of a module.

    Attributes
    ----------
    orders : tensor of shape (copies, passes, rows), optional
        The order of the rows in every pass over them; None if a step takes all rows.
    size : int
        Rows per step.
    seeds : tensor of shape (steps, layers of dropout, copies)
        The seed of every mask.
    """

    orders: Tensor | None
    size: int
    seeds: Tensor

    def on(self, device: torch.device) -> Schedule:
        """Return the same schedule on this device."""
        orders = None if self.orders is None else self.orders.to(device)
        return Schedule(orders, self.size, self.seeds.to(device))

    def rows(self, step: int) -> Tensor | None:
        """Return the rows of a step, shape (copies, size); None means all rows.

        Rows that do not fill a last batch are left out of that pass.
        """
        if self.orders is None:
            return None
        pass_, place = divmod(step, self.orders.shape[2] // self.size)
        return self.orders[:, pass_, place * self.size : (place + 1) * self.size]


def drawn(xi: NDArray[np.uint64], rows: int, steps: int, size: int | None, layers: int) -> Schedule:
    """Draw the schedule of copies with these random terms.

    The numbers that order the first n − 1 rows are the same with n rows and with n − 1.

    Examples
    --------
    >>> terms = np.array([5], dtype=np.uint64)
    >>> some, fewer = (drawn(terms, n, steps=2, size=n, layers=0) for n in (6, 5))
    >>> [k for k in some.rows(0)[0].tolist() if k < 5] == fewer.rows(0)[0].tolist()
    True
    """
    seeds = np.empty((len(xi), steps, layers), dtype=np.uint64)
    if layers:
        for place, term in enumerate(xi):
            seeds[place] = _bits(term, _DROPOUT).random_raw(steps * layers).reshape(steps, layers)
    # The layout makes the seeds of one step and layer contiguous.
    by_step = torch.from_numpy(np.ascontiguousarray(seeds.transpose(1, 2, 0)).view(np.int64))
    if size is None or size > rows:
        return Schedule(None, rows, by_step)
    passes = -(-steps // (rows // size))
    keys = np.empty((len(xi), rows, passes))
    for place, term in enumerate(xi):
        np.random.Generator(_bits(term, _ORDERS)).random(out=keys[place])
    orders = torch.from_numpy(keys).argsort(dim=1, stable=True).transpose(1, 2)
    return Schedule(orders, size, by_step)


def _bits(term: np.uint64, stream: int) -> np.random.Philox:
    return np.random.Philox(key=np.array([term, stream], dtype=np.uint64))
