"""Errors planted one at a time: do the tests of a room notice?

    python benchmarks/mutants.py theory results [--sample 20] [--seed 0]

A mutant is a copy of the library with one small error: ``<`` for ``<=``, a number off by
one, a condition negated, ``+`` for ``-``, a result that is forgotten. The tests of the room
run on each of a random sample of them (the tests named like the mutated file first, and
its doctests), until one fails. A mutant that no test notices is a survivor: a test is
missing, or the line does not matter. The same seed gives the same mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
        self.library = shutil.copytree(SOURCE, folder / "poise", ignore=ignored)
        self.environment = os.environ | {
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
        }
        self.tests = tests or [f"tests/{room.split('/')[0]}"]
        if missing := [test for test in self.tests if not (ROOT / test).exists()]:
            sys.exit(f"there is no {', '.join(missing)}: say which tests to run with --tests")
        self.limit = LEAST_PATIENCE

    def measure(self) -> float:
        """Run the tests on the library as it is; they must pass. Return how long it took."""
        began = time.monotonic()
        done = self._pytest(self.tests, timeout=None)
        if done != 0:
            sys.exit(f"{' '.join(self.tests)} fail without any mutant; run pytest to see why")
        seconds = time.monotonic() - began
        self.limit = max(LEAST_PATIENCE, PATIENCE * seconds)
        return seconds

    def kills(self, mutant: Mutant) -> bool:
        """Plant an error, run the tests until one fails, and repair the file."""
        file = self.library / mutant.path.relative_to(SOURCE)
        honest = file.read_bytes()
        try:
            file.write_bytes(mutant.text(honest))
            first = [str(file), *self._named_like(mutant.path)]
            return any(self._pytest(tests, self.limit) != 0 for tests in (first, self.tests))
        finally:
            file.write_bytes(honest)

    def _named_like(self, path: Path) -> list[str]:
        """Return the tests that bear the name of a file, or of the folder it is in."""
        names = {f"test_{path.stem}.py", f"test_{path.parent.name}.py"}
        inside = path.relative_to(SOURCE).parent
        found = (ROOT / "tests" / inside).rglob("test_*.py")
        return [str(test) for test in sorted(found) if test.name in names]

    def _pytest(self, tests: list[str], timeout: float | None) -> int:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=self.environment, timeout=timeout, check=False, **quiet
            )
        except subprocess.TimeoutExpired:
            return -1
        return 0 if done.returncode == 5 else done.returncode  # 5: there was nothing to run


def examine(room: str, sample: int, seed: int, tests: list[str]) -> tuple[int, int]:
    """Run the tests of a room on a sample of its mutants; print the survivors."""
    every = of_room(room)
    chosen = sampled(every, sample, seed)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trial = Trial(Path(folder), room, tests)
        print(f"{room}: {len(every):,} mutants; its tests take {trial.measure():.0f} s", flush=True)
        killed = 0
        for mutant in chosen:
            if trial.kills(mutant):
                killed += 1
            else:
                print(f"  survived  {mutant}", flush=True)
    print(f"{room}: {score(killed, len(chosen))}", flush=True)
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
    wanted = parser.parse_args()
    found = [examine(room, wanted.sample, wanted.seed, wanted.tests) for room in wanted.room]
    killed, tried = (sum(counts) for counts in zip(*found, strict=True))
    print(f"in all: {score(killed, tried)}")


if __name__ == "__main__":
    main()
