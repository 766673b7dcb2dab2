"""Idle serving programs, kept for the next request and ended later.

One thread takes a server and returns it after its answer. So threads never share a
server, and a worker process has at most as many servers as threads. Each task brings a
new copy of :class:`~poise.algorithms.program.Program` to a worker; it finds the server
of the last task, because servers belong to the process, not to the object.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
import time
from collections import defaultdict, deque

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.program.command import Command
from poise.algorithms.program.process import Problem, failure
from poise.algorithms.program.serving import Server, read_reply
from poise.algorithms.program.task_files import Task, to_json

__all__ = ["Pool", "ask_server", "servers"]

_Key = tuple[int, Command]


class Pool:
    """Idle servers; each is ended after ``idle_seconds`` without work, or on request.

    Keys hold the process id: a forked child sees the entries of its parent and
    must neither use nor end them. Every step on a deque is atomic, so that a
    finalizer may run in the middle of another call without a lock to wait for.
    """

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._idle: defaultdict[_Key, deque[tuple[float, Server]]] = defaultdict(deque)
        self._sweeper: dict[int, threading.Timer] = {}

    def take(self, command: Command) -> Server:
        """Return the server used last, or a new one; dead servers are removed."""
        idle = self._idle[os.getpid(), command]
        while True:
            try:
                _, server = idle.pop()
            except IndexError:
                return Server(command)
            if server.alive:
                return server
            server.end()

    def give(self, server: Server) -> None:
        """Return a server that is ready for the next request."""
        self._idle[os.getpid(), server.command].append((time.monotonic(), server))
        self._sweep_later()

    def end(self, command: Command | None = None, *, older_than: float = -1.0) -> None:
        """End idle servers of this process: of one command, or all."""
        for (process, owner), idle in list(self._idle.items()):
            if process == os.getpid() and command in (None, owner):
                _end_stale(idle, older_than)

    def __len__(self) -> int:
        return sum(len(idle) for (pid, _), idle in list(self._idle.items()) if pid == os.getpid())

    def _sweep_later(self) -> None:
        if os.getpid() not in self._sweeper:
            sweeper = threading.Timer(self._idle_seconds, self._sweep)
            sweeper.daemon = True
            self._sweeper[os.getpid()] = sweeper
            sweeper.start()

    def _sweep(self) -> None:
        self._sweeper.pop(os.getpid(), None)
        self.end(older_than=self._idle_seconds)
        if len(self):
            self._sweep_later()


def _end_stale(idle: deque[tuple[float, Server]], older_than: float) -> None:
    """End the servers that have been idle too long."""
    while idle:
        try:
            since, server = idle.popleft()
        except IndexError:  # another thread took the last one
            return
        if time.monotonic() - since < older_than:
            idle.appendleft((since, server))
            return
        server.end()


servers = Pool(idle_seconds=60.0)
atexit.register(servers.end)

_requests = itertools.count(1)


def ask_server(command: Command, task: Task, timeout: float | None) -> NDArray[np.float64]:
    """Train and predict in a running server; one that breaks the contract is not used again."""
    request = next(_requests)
    line = to_json(task, request)
    server = servers.take(command)
    try:
        reply = server.ask(line, request, task.n_predictions, timeout)
    except BaseException as error:
        server.kill()
        if isinstance(error, Problem):
            raise failure(command, error, server.process) from None
        raise
    try:
        return read_reply(reply, task.n_predictions)
    except Problem as problem:
        raise failure(command, problem, server.process) from None
    finally:
        servers.give(server)  # an error that it reports, or a wrong count, leaves it usable
