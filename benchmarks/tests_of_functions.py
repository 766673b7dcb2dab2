"""Which tests run which function of the library, and what each test costs: recorded once.

A record per file of tests holds until the file changes. A test that fails on the library as
it is gets no record: it would seem to notice every error.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

import trace_functions

SHARED = ""  # what the import of a file or a fixture of several tests runs, for all its tests


@dataclass
class Record:
    """What is known about a file of tests: seconds of CPU per test, functions that each runs."""

    digest: str
    seconds: dict[str, float] = field(default_factory=dict)
    runs: dict[str, list[str]] = field(default_factory=dict)

    def functions(self, test: str) -> set[str]:
        """Return what a test runs, as ``theory/bands.py:name``."""
        return {*self.runs[test], *self.runs[SHARED]}


def load(folder: Path, files: list[Path]) -> dict[Path, Record]:
    """Return the records that hold."""
    found = {}
    for path in files:
        place = _place(folder, path)
        if place.exists():
            record = Record(**json.loads(place.read_text(encoding="utf-8")))
            if record.digest == _digest(path):
                found[path] = record
    return found


class Recorder:
    """A plugin of pytest: says which test runs now, and measures what it costs."""

    def __init__(self) -> None:
        self.tracer = trace_functions.start()
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        self.tracer.begin(f"{collector.path}::{SHARED}")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        test = self.tracer.test
        if fixturedef.scope != "function":
            self.tracer.begin(f"{test.partition('::')[0]}::{SHARED}")
        try:
            return (yield)
        finally:
            self.tracer.begin(test)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        test = f"{item.path}::{item.nodeid.partition('::')[2]}"
        self.tracer.begin(test)
        began = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.seconds[test] = sum(os.times()[:4]) - began
            self.tracer.begin(f"{item.path}::{SHARED}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(self.tracer.test)
            print("left out:", self.tracer.test)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.interrupted = exitstatus == pytest.ExitCode.INTERRUPTED

    def save(self, folder: Path, files: list[Path], log: Path) -> None:
        """Keep what was recorded, file by file."""
        if self.interrupted:
            return
        runs: dict[str, set[str]] = defaultdict(set)
        for line in log.read_text(encoding="utf-8").splitlines():
            test, inside, function = line.split("\t")
            runs[test].add(f"{inside}:{function}")
        for path in files:
            record = Record(_digest(path))
            passed = [test for test in self.seconds if test not in self.failed]
            for test in passed:
                file, _, name = test.partition("::")
                if file == str(path):
                    record.seconds[name] = round(self.seconds[test], 3)
            for name in (*record.seconds, SHARED):
                record.runs[name] = sorted(runs[f"{path}::{name}"])
            text = json.dumps(asdict(record), indent=1)
            _place(folder, path).write_text(text, encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _place(folder: Path, path: Path) -> Path:
    return folder / f"{path.stem}-{hashlib.sha256(str(path).encode()).hexdigest()[:8]}.json"
