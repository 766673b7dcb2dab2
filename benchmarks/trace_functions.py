"""Write down which functions of the library run, in this process and in those it starts.

`mutants.py` copies this file as `sitecustomize.py` to where the tests find the library, so
that Python runs it at the start of every process. Each function is written once per test:
only calls are traced, not lines, so that tests take little longer than usual.
"""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType

LOG, LIBRARY, TEST = "MUTANTS_LOG", "MUTANTS_LIBRARY", "MUTANTS_TEST"


class Tracer:
    """Appends to a file: the test that runs, and the function that it calls for the first time."""

    def __init__(self, log: str, library: str) -> None:
        self.log = log
        self.library = library + os.sep
        self.begin(os.environ.get(TEST, ""))

    def begin(self, test: str) -> None:
        """Write what follows down under this name, also in processes that start now."""
        os.environ[TEST] = self.test = test
        self.seen: set[tuple[str, str]] = set()
        threading.settrace(self)  # once more: a test may have ended it
        sys.settrace(self)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Look at a call; Python calls this."""
        code = frame.f_code
        if not code.co_filename.startswith(self.library):
            return
        called = code.co_filename, code.co_qualname
        if called not in self.seen:
            self.seen.add(called)
            inside = code.co_filename.removeprefix(self.library)
            # Opened each time: a test may close every file of its process.
            with open(self.log, "ab", buffering=0) as file:
                file.write(f"{self.test}\t{inside}\t{code.co_qualname}\n".encode())


def start() -> Tracer:
    """Trace from now on."""
    return Tracer(os.environ[LOG], os.environ[LIBRARY])


if __name__ == "sitecustomize" and LOG in os.environ:
    start()
