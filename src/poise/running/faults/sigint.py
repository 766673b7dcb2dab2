"""Worker processes ignore Ctrl-C from their start; the main process ends them.

A terminal sends Ctrl-C to every process of a run. The main process reacts to it and
ends its workers. A worker that reacted too would end with a traceback of its own,
most likely while it still imports its modules.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["block_sigint_in_children"]


@contextmanager
def block_sigint_in_children() -> Iterator[None]:
    """Context in which new processes (and threads that start processes) begin with Ctrl-C blocked.

    In this process Ctrl-C is only delayed: it is raised at the end of the block, when
    the processes that were started can be ended in order.

    Examples
    --------
    >>> with block_sigint_in_children():
    ...     pass
    """
    if os.name != "posix":
        yield
        return
    _start_tracker()
    with _delayed_sigint():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _delayed_sigint() -> Iterator[None]:
    """Delay Ctrl-C also when it reaches a thread of this process that does not block it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # only the main thread may handle signals
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _start_tracker() -> None:
    """Start Python's resource tracker first: starting it later would unblock the signal."""
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()
