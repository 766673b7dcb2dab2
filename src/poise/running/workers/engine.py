"""Engines compute the tasks of a batch and yield the answers in plan order.

An engine never looks at an answer. The oracle, which reads the answers in order,
decides when a run stops and what a failure means.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Protocol

from poise.protocol.messages import Answer
from poise.protocol.work import Work

if TYPE_CHECKING:
    from poise.running.workers.backend import Backend

__all__ = ["Engine", "choose_engine"]


class Engine(Protocol):
    """Runs :class:`Work`; closing the generator early cancels what was not started."""

    @property
    def backend(self) -> Backend | None:
        """The workers; None if the engine computes in this process, one task at a time."""
        ...

    def map(self, work: Work, start: int, stop: int) -> Generator[Answer, None, None]:
        """Yield the answers to tasks ``start`` to ``stop - 1`` in that order."""
        ...


def choose_engine(
    n_jobs: int | None = None,
    backend: str | None = None,
    *,
    address: str | None = None,
    timeout: float | None = None,
) -> Engine:
    """Choose the engine for ``n_jobs``; :func:`joblib.parallel_config` is respected.

    Parameters
    ----------
    n_jobs, backend, address
        See :func:`poise.stability_test`.
    timeout : float or None
        Seconds for one fit; only worker processes can be held to it.

    Examples
    --------
    >>> type(choose_engine(1)).__name__
    'SerialEngine'
    """
    from poise.running.faults.time_limit import check_timeout
    from poise.running.workers.backend import choose_backend
    from poise.running.workers.parallel import ParallelEngine
    from poise.running.workers.serial import SerialEngine

    chosen = choose_backend(n_jobs, backend, address)
    if timeout is not None:
        check_timeout(timeout, chosen)
    return SerialEngine() if chosen.serial else ParallelEngine(chosen, timeout)
