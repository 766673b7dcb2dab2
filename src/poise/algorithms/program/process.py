"""One program in a process group of its own, which is killed as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import IO

from poise.algorithms.program.command import Command
from poise.algorithms.program.scratch_folders import Scratch
from poise.errors import TrialError

__all__ = ["Late", "Problem", "Process", "Watchdog", "failure", "kill_all"]

_TAIL_BYTES = 8192
_TAIL_LINES = 10
_GRACE_SECONDS = 2.0


class Problem(Exception):
    """What a program did wrong, as the end of a sentence that begins with its name."""


class Late(Problem):
    """It did not answer in time."""


def failure(command: Command, problem: Problem, process: Process | None = None) -> TrialError:
    """Turn a problem into the error that the fit raises, with the last output of the program."""
    ending = "" if process is None else process.last_words()
    message = f"the program `{command}` {problem}{ending}"
    return TrialError(message, kind="timeout" if isinstance(problem, Late) else "error")


_running: weakref.WeakSet[Process] = weakref.WeakSet()


def kill_all() -> None:
    """Kill every program of this process, which is about to end."""
    for process in list(_running):
        process.kill()


class Process:
    """A running program.

    The whole group is killed: if only a wrapper script were killed, the real work would go
    on. As a context manager it leaves no process running.
    """

    def __init__(
        self, command: Command, words: Sequence[str], scratch: Scratch, *, talks: bool = False
    ) -> None:
        scratch.about_to_start()
        try:
            self.popen = subprocess.Popen(
                words,
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=command.cwd,
                env=command.environment(scratch.name),
                start_new_session=True,
            )
        except OSError as error:
            raise failure(command, Problem(f"could not be started: {error}")) from error
        _running.add(self)
        scratch.occupied_by(self.popen.pid)
        assert self.popen.stderr is not None
        assert self.popen.stdout is not None
        self._tails = {"error": _Tail(self.popen.stderr)}
        if not talks:
            self._tails["output"] = _Tail(self.popen.stdout)
        self._closed = False

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self) -> None:
        """Kill the program and everything it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.popen.pid, signal.SIGKILL)
            else:
                self.popen.kill()

    def close(self) -> None:
        """Kill the rest of the group and release every resource; it may be called twice."""
        if self._closed:
            return
        self._closed = True
        _running.discard(self)
        self.kill()
        self.popen.wait()
        for tail in self._tails.values():
            tail.close()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None and "output" not in self._tails:
                with contextlib.suppress(OSError):  # input that could not be sent is lost
                    pipe.close()

    def end_of_input(self) -> None:
        """Close the input of the program, so that it can end by itself."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(_GRACE_SECONDS)

    def last_words(self) -> str:
        """Quote the last lines of its standard error or, if that is empty, of its output."""
        for name, tail in self._tails.items():
            last = tail.text().splitlines()[-_TAIL_LINES:]
            if last:
                quoted = "".join(f"\n    {line}" for line in last)
                return f"; the last lines of its standard {name}:{quoted}"
        return ""

    def forget_stderr(self) -> None:
        """Forget what was printed for an earlier request."""
        self._tails["error"].clear()

    def ending(self) -> str:
        """Say how the program ended: its exit status, or the signal that killed it."""
        status = self.popen.wait()
        if status >= 0:
            return f"exit status {status}"
        return f"killed by signal {-status}, {signal.strsignal(-status)}"


class _Tail:
    """The last bytes of a stream; a thread reads it, so that the writer never waits."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._bytes = b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while chunk := os.read(self._stream.fileno(), 1 << 16):
            self._bytes = (self._bytes + chunk)[-_TAIL_BYTES:]

    def clear(self) -> None:
        self._bytes = b""

    def text(self) -> str:
        return self._bytes.decode(errors="backslashreplace").strip()

    def close(self) -> None:
        """Read to the end, but do not wait for a process that left the group and holds it open."""
        self._thread.join(_GRACE_SECONDS)
        if not self._thread.is_alive():
            self._stream.close()


class Watchdog:
    """Context that kills the program if it is still busy after ``seconds`` (None: never)."""

    def __init__(self, seconds: float | None, kill: Callable[[], None]) -> None:
        self.expired = False
        self._kill = kill
        self._timer = None if seconds is None else threading.Timer(seconds, self._bite)

    def _bite(self) -> None:
        self.expired = True
        self._kill()

    def __enter__(self) -> Watchdog:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # from here on ``expired`` is final
