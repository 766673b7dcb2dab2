"""Run the tests that could notice an error, on a copy of the library that has it.

The copy and the records of the tests lie in ``.mutants/``; use one process at a time.
"""

from __future__ import annotations

import enum
import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import tests_of_functions
import trace_functions

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".mutants"
LIBRARY = KEPT / "library" / "poise"
LOG = KEPT / "log"
OUTPUT = KEPT / "output"  # of the last run of pytest

OPTIONS = ["-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]
FEW = 12  # tests that run first: collecting many takes longer than running them
# A test that is still running after this many times its usual time has noticed something.
PATIENCE, LEAST_PATIENCE = 3.0, 30.0
# One that waits for ever uses no CPU: this many times longer on the clock of a busy machine.
BUSY = 10.0


class Outcome(enum.Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    UNFINISHED = "UNFINISHED"


class Room:
    """A copy of the library in which one file at a time is wrong, and the tests of a room."""

    def __init__(self, room: str, tests: list[str], only_about: set[str] | None = None) -> None:
        _copy_library()
        _import_what_takes_long()
        own = LIBRARY / room
        folders = [own if own.is_dir() else own.with_suffix(".py")]
        folders += [ROOT / test for test in (f"tests/{room.split('/')[0]}", *tests)]
        if missing := [str(folder) for folder in folders if not folder.exists()]:
            sys.exit(f"there is no {', '.join(missing)}")
        files = [file for folder in folders for file in _test_files(folder)]
        if only_about is not None:
            files = [file for file in files if any(_is_about(file, name) for name in only_about)]
        _record(files)
        # What was recorded for other rooms serves this one too.
        everywhere = [*_test_files(LIBRARY), *_test_files(ROOT / "tests")]
        self.records = tests_of_functions.load(KEPT, everywhere)
        self.sound: dict[str, bool] = {}  # does a test that failed pass without the error?

    def outcome(
        self, inside: str, function: str, wrong: bytes, limit: float
    ) -> tuple[Outcome, str]:
        """Plant an error, run the tests until one fails, and repair the file."""
        tests = self.tests_of(inside, function)
        while True:
            outcome, why = self._outcome_with(inside, wrong, tests, limit)
            if outcome is not Outcome.KILLED or self._is_sound(why, limit):
                return outcome, why
            tests = [test for test in tests if not test[2].endswith(why)]

    def _is_sound(self, test: str, limit: float) -> bool:
        """Tell whether a test that failed passes without the error: machines fail too."""
        if test not in self.sound:
            known = "::" in test and " " not in test  # not how a process ended
            self.sound[test] = not known or not _failed([str(ROOT / test)], limit)
        return self.sound[test]

    def _outcome_with(
        self, inside: str, wrong: bytes, tests: list[tuple[bool, float, str]], limit: float
    ) -> tuple[Outcome, str]:
        honest = (LIBRARY / inside).read_bytes()
        try:
            (LIBRARY / inside).write_bytes(wrong)
            return self._outcome(tests, limit)
        finally:
            (LIBRARY / inside).write_bytes(honest)

    def _outcome(self, tests: list[tuple[bool, float, str]], limit: float) -> tuple[Outcome, str]:
        spent, names = 0.0, []
        for beside, seconds, name in tests:
            spent += seconds
            if spent > limit and names:
                if not beside:
                    return self._tried(names, limit, Outcome.UNFINISHED)
                break
            names.append(name)
        return self._tried(names, spent, Outcome.SURVIVED)

    def _tried(self, names: list[str], seconds: float, otherwise: Outcome) -> tuple[Outcome, str]:
        for some in (names[:FEW], names[FEW:]):
            if some and (failed := _failed(some, seconds)):
                return Outcome.KILLED, failed
        return otherwise, f"{len(names)} tests" if names else "no test runs it"

    def tests_of(self, inside: str, function: str) -> list[tuple[bool, float, str]]:
        """Return the tests that run a function, then those beside it; in each the fastest first.

        Beside a function are the tests that run its file; beside what is outside of
        functions, all others.
        """
        found = []
        for path, record in self.records.items():
            for test, seconds in record.seconds.items():
                functions = record.functions(test)
                in_file = any(name.startswith(f"{inside}:") for name in functions)
                runs = f"{inside}:{function}" in functions if function else in_file
                if runs or in_file or not function:
                    found.append((not runs, seconds, f"{path}::{test}"))
        return sorted(found)


def _copy_library() -> None:
    shutil.rmtree(LIBRARY.parent, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "poise", LIBRARY, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(trace_functions.__file__, LIBRARY.parent / "sitecustomize.py")


def _test_files(place: Path) -> Iterator[Path]:
    """Yield the files of tests in a folder; those of the library have doctests."""
    pattern = "*.py" if LIBRARY in (place, *place.parents) else "test_*.py"
    yield from sorted(place.rglob(pattern)) if place.is_dir() else [place]


def _is_about(test: Path, inside: str) -> bool:
    """Tell whether a file of tests bears the name of a file or folder, or imports it."""
    place = Path(inside).with_suffix("")
    if test == LIBRARY / inside or test.stem in (f"test_{place.name}", f"test_{place.parent.name}"):
        return True
    text = test.read_text(encoding="utf-8") if test.stem.startswith("test_") else ""
    module = f"poise.{'.'.join(place.parent.parts)}"
    return f"{module}.{place.name} import" in text or f"from {module} import" in text


def _record(files: list[Path]) -> None:
    """Run the tests that have no record or have changed, to see which functions they run."""
    known = tests_of_functions.load(KEPT, files)
    if new := [file for file in files if file not in known]:
        print(f"  {len(new)} files of tests run once, to see which functions they run", flush=True)
        LOG.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            os.environ |= {trace_functions.LOG: str(LOG), trace_functions.LIBRARY: str(LIBRARY)}
            recorder = tests_of_functions.Recorder()
            _become_pytest([*map(str, new)], recorder, lambda: recorder.save(KEPT, new, LOG))
        os.waitpid(child, 0)
        known = tests_of_functions.load(KEPT, files)
    if not any(record.seconds for record in known.values()):
        sys.exit(f"no test passes on the library as it is; {OUTPUT} says why")


def _failed(tests: list[str], seconds: float) -> str:
    """Run tests in a fork; return which has failed, or nothing."""
    limit = LEAST_PATIENCE + PATIENCE * seconds
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        _become_pytest(["-x", *tests], _Reporter(writer))
    os.close(writer)
    status = _wait(child, BUSY * limit)
    with os.fdopen(reader) as said:
        return "" if status == 0 else said.read() or f"ended with status {status}"


class _Reporter:
    """A plugin of pytest: tells the parent which test has failed."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            os.write(self.pipe, f"{report.nodeid} cannot be imported ".encode())


def _become_pytest(arguments: list[str], plugin: object, then=lambda: None) -> NoReturn:
    os.setsid()  # so that whatever it starts can be ended with it
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(LIBRARY.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(LIBRARY.parent))
    code = 1
    try:
        code = int(pytest.main([*OPTIONS, *arguments], plugins=[plugin]))
        then()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _wait(child: int, seconds: float) -> int:
    """Return how a child ended; it is ended if it takes longer than that."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.05)


def _import_what_takes_long() -> None:
    """Import what the tests will need, before any fork: everything but the library itself."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in ("numpy", "scipy.stats", "pandas", "sklearn.ensemble", "joblib", "rich.console"):
        importlib.import_module(name)
