"""One thread inside each fit: BLAS and OpenMP are limited to one.

Two workers that each start two OpenMP threads on two cores can be a hundred times
slower than one worker. And sums computed by several threads differ in their last bits
from run to run. poise computes several trials at the same time instead.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

__all__ = ["one_inner_thread"]


def one_inner_thread() -> AbstractContextManager[Any]:
    """Context in which BLAS and OpenMP use a single thread in this process.

    Examples
    --------
    >>> with one_inner_thread():
    ...     pass
    """
    limit: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller(loaded_modules: int) -> Any:
    """Find the thread pools of this process; search again when more modules are loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
