"""Worker processes that never hear Ctrl-C, from their first moment on.

A terminal sends it to every process of a run. What it means is for the one that
started them to say: it ends its workers. One that heard it as well would end on
its own, with a traceback, and most likely while it still imports its modules.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deaf_children"]


@contextmanager
def deaf_children() -> Iterator[None]:
    """Context in which processes, and threads that start them later, begin with Ctrl-C blocked.

    For this process it is not lost: it is heard at the end of the block, when whoever
    was started can be ended in good order.

    Examples
    --------
    >>> with deaf_children():
    ...     pass
    """
    if os.name != "posix":
        yield
        return
    _start_tracker()
    with _heard_later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _heard_later() -> Iterator[None]:
    """Put off Ctrl-C, which may come by way of a thread of this process that does not block it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # signals are none of its business
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
    """Start Python's own helper process, which would unblock the signal after its start."""
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()
