"""Generators that algorithms use without saying so: Python's, NumPy's, PyTorch's.

``coupling="shared"`` promises that both fits see the same randomness. An
algorithm that draws from a global generator would break that promise silently,
so these are set from ξ before each fit, and left as they were found afterwards.
"""

from __future__ import annotations

import random
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

import numpy as np

__all__ = ["AmbientGenerators", "one_at_a_time"]

_TURN = threading.RLock()


def one_at_a_time(thread_safe: bool) -> AbstractContextManager[Any]:
    """Context that threads enter in turn, unless the algorithm is known not to need it.

    The global generators belong to the whole process: two threads that both set
    and use them would see each other's randomness.

    Examples
    --------
    >>> with one_at_a_time(thread_safe=False):
    ...     pass
    """
    return nullcontext() if thread_safe else _TURN


class AmbientGenerators:
    """Context in which :meth:`pin` sets the global generators; restored on the way out.

    Examples
    --------
    >>> with AmbientGenerators() as ambient:
    ...     ambient.pin(7)
    ...     first = random.random()
    ...     ambient.pin(7)
    ...     random.random() == first
    True
    """

    def __enter__(self) -> AmbientGenerators:
        self._python = random.getstate()
        self._numpy: Any = np.random.get_state()  # noqa: NPY002 - the global one is the point
        self._torch = sys.modules.get("torch")
        self._torch_state = self._torch.get_rng_state() if self._torch else None
        return self

    def pin(self, xi: int) -> None:
        """Set every loaded global generator from ``xi``."""
        random.seed(xi)
        np.random.seed(xi & 0xFFFFFFFF)  # noqa: NPY002
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.manual_seed(xi >> 1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        random.setstate(self._python)
        np.random.set_state(self._numpy)  # noqa: NPY002
        if self._torch is not None:
            self._torch.set_rng_state(self._torch_state)
