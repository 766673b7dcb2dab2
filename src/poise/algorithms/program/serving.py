"""Serving programs: started once per worker, one JSON line per request."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.program import predictions
from poise.algorithms.program.command import Command
from poise.algorithms.program.process import Late, Problem, Process, Watchdog
from poise.algorithms.program.scratch_folders import Scratch
from poise.arguments.json_text import parse_json
from poise.arguments.printed_numbers import exactly

__all__ = ["Server", "parse", "read_reply"]

_SECONDS_TO_END = 2.0  # that a program has after it closed its output; then it is killed


class Server:
    """One running program that answers requests, one at a time."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self._scratch = Scratch()
        try:
            self.process = Process(command, command.words, self._scratch, talks=True)
        except BaseException:
            self._scratch.remove()
            raise

    @property
    def alive(self) -> bool:
        """Whether the program is still running."""
        return self.process.popen.poll() is None

    def ask(
        self, line: bytes, request: int, expected: int, timeout: float | None
    ) -> dict[str, Any]:
        """Send one line and return the reply to it.

        After a :class:`Problem` the program's state is unknown; :meth:`kill` it.
        """
        self.process.forget_stderr()
        answer = b""
        try:
            with Watchdog(timeout, self.process.kill) as watchdog:
                # A program that writes before it reads must not block both sides.
                writer = self._write(line)
                answer = self._read(predictions.most_bytes(expected))
                reply = parse(answer, request) if answer else self._died()
                writer.join()
        except Problem:
            if not watchdog.expired:
                raise
        if watchdog.expired:
            unfinished = f" after printing {shown(answer)} without an end of line" if answer else ""
            raise Late(f"did not answer within {exactly(timeout)} s{unfinished} and was killed")
        return reply

    def _write(self, line: bytes) -> threading.Thread:
        writer = threading.Thread(target=_send, args=(self.process.popen.stdin, line), daemon=True)
        writer.start()
        return writer

    def _read(self, limit: int) -> bytes:
        stdout = self.process.popen.stdout
        assert stdout is not None
        answer = stdout.readline(limit)
        if not answer.endswith(b"\n"):
            self._see_it_end()
        return answer

    def _died(self) -> dict[str, Any]:
        raise Problem(
            f"ended, or closed its standard output, before answering ({self.process.ending()})"
        )

    def _see_it_end(self) -> None:
        """Wait for a program that closed its output to end with its own exit status."""
        try:
            self.process.popen.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.popen.wait()

    def end(self) -> None:
        """End an idle program: close its input and, if that does not help, kill it."""
        self.process.end_of_input()
        self.kill()

    def kill(self) -> None:
        """Kill the program and remove its folder."""
        self.process.close()
        self._scratch.remove()


def _send(stdin: IO[bytes], line: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):  # a dead reader shows as end of output
        stdin.write(line)
        stdin.flush()


def parse(answer: bytes, request: int) -> dict[str, Any]:
    """Read an answer as the reply to ``request``, or say what it is instead.

    Examples
    --------
    >>> parse(b'{"id": 4, "predictions": [1.5]}', request=4)
    {'id': 4, 'predictions': [1.5]}
    """
    try:
        reply = parse_json(answer)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise Problem(
            f"printed {shown(answer)} where one JSON object on one line was due; everything else "
            "belongs on standard error"
        )
    if reply.get("id") != request:
        raise Problem(
            f"answered request {reply.get('id')!r} when {request} was asked; it must print "
            "exactly one line per request and repeat its id"
        )
    return reply


def shown(answer: bytes) -> str:
    """Quote what a program printed, shortened."""
    text = answer.decode(errors="backslashreplace").rstrip("\r\n")
    return repr(text if len(text) <= 200 else text[:197] + "...")


def read_reply(reply: dict[str, Any], expected: int) -> NDArray[np.float64]:
    """Return the predictions in a reply, or raise the error that the program reports.

    Examples
    --------
    >>> read_reply({"id": 4, "predictions": [1.5, None]}, expected=2)
    array([1.5, nan])
    """
    if reply.get("error") is not None:
        raise Problem(f"reported an error: {reply['error']}")
    if "predictions" not in reply:
        raise Problem(f"answered without 'predictions' or 'error', only with {sorted(reply)}")
    return predictions.from_json(reply["predictions"], expected)
