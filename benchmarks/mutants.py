"""Errors planted one at a time: do the tests of a room notice?

    python benchmarks/mutants.py theory results [--sample 20] [--seed 0] [--limit 120]

A mutant is a copy of the library with one small error: ``<`` for ``<=``, a number off by
one, a condition negated, ``+`` for ``-``, a result that is forgotten. The tests of the room
run on each of a random sample of them, until one fails: first the doctests of the mutated
file and the tests that bear its name, then those of any room that import it, then the rest.
A mutant that no test notices is a survivor: a test is missing, or the line does not matter.
The same seed gives the same mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "poise"

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
# A test that is still running after this many times the usual time has noticed something.
PATIENCE, LEAST_PATIENCE = 3.0, 60.0
NO_TESTS = 5  # exit status of pytest
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", "pyproject.toml"]


@dataclass(frozen=True)
class Mutant:
    """One error: a piece of a file, and what stands there instead."""

    path: Path
    line: int
    start: int
    stop: int
    before: str
    after: str
    kind: str

    def text(self, source: bytes) -> bytes:
        """Return the file with the error in it."""
        return source[: self.start] + f"({self.after})".encode() + source[self.stop :]

    def __str__(self) -> str:
        where = self.path.relative_to(SOURCE).as_posix()
        before, after = (" ".join(piece.split()) for piece in (self.before, self.after))
        return f"{where}:{self.line}  {self.kind}: {before}  ->  {after}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        for kind, changed in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            before, after = source[start:stop].decode(), ast.unparse(changed)
            yield Mutant(path, node.lineno, start, stop, before, after, kind)


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what is computed: no annotations, no strings, nothing for the type checker."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                continue
            if isinstance(node, ast.Return) and node.value is not None:
                yield ast.copy_location(_Result(), node.value)
            if isinstance(node, ast.If | ast.While):
                yield ast.copy_location(_Condition(node.test), node.test)
            if isinstance(node, ast.expr):
                yield node
            yield from _expressions(node)


class _Result(ast.expr):
    """Marks an expression whose value is returned."""


class _Condition(ast.expr):
    """Marks an expression that decides what happens next."""

    def __init__(self, test: ast.expr) -> None:
        super().__init__()
        self.test = test


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what could stand in place of an expression."""
    if isinstance(node, _Result):
        yield "returns nothing", ast.Constant(None)
    elif isinstance(node, _Condition):
        yield "negation", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[place] = COMPARISONS[type(operator)]()
            yield "comparison", changed
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        changed = copy.deepcopy(node)
        changed.op = SIGNS[type(node.op)]()
        yield "sign", changed
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", node.operand
    elif isinstance(node, ast.IfExp):
        yield "negation", ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant", ast.Constant(node.value + 1)


def sampled(every: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Draw mutants, as many of each kind as there are: numbers would crowd out the others."""
    order = random.Random(seed).sample(every, len(every))
    kinds: dict[str, int] = {}
    rank = {}
    for mutant in order:
        kinds[mutant.kind] = rank[mutant] = kinds.get(mutant.kind, 0) + 1
    return sorted(order, key=rank.__getitem__)[:size]


def of_room(room: str) -> list[Mutant]:
    """Return every mutant of a room, or of one file of it, in a fixed order."""
    place = SOURCE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return [mutant for path in files for mutant in mutants(path)]


class Trial:
    """A copy of the library in which one file at a time is wrong."""

    def __init__(self, folder: Path, room: str, tests: list[str]) -> None:
        ignored = shutil.ignore_patterns("__pycache__")
        self.folder = folder
        self.library = shutil.copytree(SOURCE, folder / "poise", ignore=ignored)
        own = f"tests/{room.split('/')[0]}"
        self.tests = tests or [own if (ROOT / own).is_dir() else "tests/questions"]
        if missing := [test for test in self.tests if not (ROOT / test).exists()]:
            sys.exit(f"there is no {', '.join(missing)}: say which tests to run with --tests")
        self.limit = LEAST_PATIENCE

    def measure(self) -> float:
        """Run the tests on the library as it is; they must pass. Return how long it took."""
        began = time.monotonic()
        if self._pytest(self.tests, timeout=None) != 0:
            sys.exit(f"{' '.join(self.tests)} fail without any mutant; run pytest to see why")
        seconds = time.monotonic() - began
        self.limit = max(LEAST_PATIENCE, PATIENCE * seconds)
        return seconds

    def check(self, path: Path) -> None:
        """Run the tests of one file as it is: if they fail, every mutant would seem killed."""
        tests = next(self._stages(path))
        if self._pytest(tests, timeout=None) != 0:
            sys.exit(f"{' '.join(tests)} fail without any mutant; run pytest to see why")

    def outcome(self, mutant: Mutant) -> str:
        """Plant an error, run the tests until one fails, and repair the file."""
        file = self.library / mutant.path.relative_to(SOURCE)
        honest = file.read_bytes()
        until = time.monotonic() + self.limit
        try:
            file.write_bytes(mutant.text(honest))
            for tests in self._stages(mutant.path):
                found = self._pytest(tests, until - time.monotonic())
                if found != 0:
                    return "unfinished" if found is None else "killed"
            return "survived"
        finally:
            file.write_bytes(honest)

    def _stages(self, path: Path) -> Iterator[list[str]]:
        """Yield tests in the order in which they are likely to notice something."""
        inside = path.relative_to(SOURCE)
        names = {f"test_{path.stem}.py", f"test_{path.parent.name}.py"}
        everywhere = sorted(
            (ROOT / "tests").rglob("test_*.py"), key=lambda test: test.stat().st_size
        )
        mirrored = ROOT / "tests" / inside.parent
        named = [test for test in everywhere if test.name in names and mirrored in test.parents]
        yield [str(self.library / inside), *map(str, named)]
        module = ".".join(["poise", *inside.with_suffix("").parts])
        importing = [test for test in everywhere if module in test.read_text(encoding="utf-8")]
        if others := [str(test) for test in importing if test not in named]:
            yield others
        yield [*self.tests, *(f"--ignore={test}" for test in {*named, *importing})]

    def _pytest(self, tests: list[str], timeout: float | None) -> int | None:
        """Run tests in a fork, which need not import numpy and the others again."""
        child = os.fork()
        if child == 0:
            self._become_pytest(tests)
        status = _wait(child, timeout)
        return 0 if status == NO_TESTS else status

    def _become_pytest(self, tests: list[str]) -> NoReturn:
        import pytest

        os.setsid()  # so that whatever it starts can be ended with it
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.chdir(ROOT)
        os.environ |= {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.folder))
        code = 1
        try:
            code = int(pytest.main([*OPTIONS, *tests]))
        finally:
            os._exit(code)


def _wait(child: int, timeout: float | None) -> int | None:
    """Return how a child ended; None if it was ended because time was up."""
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if until is not None and time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.05)


def _import_what_takes_long() -> None:
    """Import what the tests will need, before any fork: everything but the library itself."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in ("numpy", "scipy.stats", "pandas", "sklearn.pipeline"):
        importlib.import_module(name)


def examine(
    room: str, sample: int, seed: int, tests: list[str], limit: float | None
) -> tuple[int, int]:
    """Run the tests of a room on a sample of its mutants; print the survivors."""
    every = of_room(room)
    chosen = sampled(every, sample, seed)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trial = Trial(Path(folder), room, tests)
        if limit is None:
            print(f"{room}: its tests take {trial.measure():.0f} s", flush=True)
        else:
            trial.limit = limit
            trial.check(chosen[0].path)
        killed = 0
        for mutant in chosen:
            outcome = trial.outcome(mutant)
            # With time enough for the tests, one that hangs has noticed something.
            noticed = outcome == "killed" or (outcome == "unfinished" and limit is None)
            killed += noticed
            if not noticed:
                print(f"  {outcome}  {mutant}", flush=True)
    print(f"{room}: {score(killed, len(chosen))}, drawn from {len(every):,} mutants", flush=True)
    return killed, len(chosen)


def score(killed: int, tried: int) -> str:
    """Say how many were noticed."""
    return f"killed {killed} of {tried} ({killed / max(1, tried):.0%})"


def main() -> None:
    """Read the arguments and examine room after room."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    rooms = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
    parser.add_argument("room", nargs="*", default=rooms, help="rooms, or files: theory/bands")
    parser.add_argument("--sample", type=int, default=20, help="mutants per room")
    parser.add_argument("--seed", type=int, default=0, help="decides which")
    parser.add_argument("--tests", nargs="+", default=[], help="tests to run instead of the room's")
    parser.add_argument(
        "--limit", type=float, help="seconds for a mutant; without, its room's tests run once first"
    )
    wanted = parser.parse_args()
    _import_what_takes_long()
    how = (wanted.sample, wanted.seed, wanted.tests, wanted.limit)
    found = [examine(room, *how) for room in wanted.room]
    killed, tried = (sum(counts) for counts in zip(*found, strict=True))
    print(f"in all: {score(killed, tried)}")


if __name__ == "__main__":
    main()
