"""Errors planted one at a time: do the tests of a room notice?

    python benchmarks/mutants.py theory results [--sample 20] [--seed 0] [--limit 120]

A mutant is a copy of the library with one small error: ``<`` for ``<=``, a number off by
one, a condition negated, ``+`` for ``-``, a result that is forgotten. A random sample of them
is drawn; the same seed gives the same mutants. Each meets the tests and doctests of its room
that run the wrong function, the fastest first, then those that run anything in its file,
until one fails. Which tests run which functions is recorded once, and again for a file of
tests that has changed. All times are times of the CPU: a busy machine changes nothing.

A mutant that no test notices is a survivor: a test is missing, or the line does not matter.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mutant_trials import ROOT, Outcome, Room

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


@dataclass(frozen=True)
class Mutant:
    """One error: a piece of a file, and what stands there instead."""

    path: Path
    function: str
    line: int
    start: int
    stop: int
    before: str
    after: str
    kind: str

    @property
    def inside(self) -> str:
        """Where the file is, in the library."""
        return self.path.relative_to(SOURCE).as_posix()

    def text(self) -> bytes:
        """Return the file with the error in it."""
        source = self.path.read_bytes()
        return source[: self.start] + f"({self.after})".encode() + source[self.stop :]

    def __str__(self) -> str:
        before, after = (" ".join(piece.split()) for piece in (self.before, self.after))
        return f"{self.inside}:{self.line}  {self.kind}: {before}  ->  {after}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    functions = list(_functions(tree))
    for node in _expressions(tree):
        for kind, changed in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            before, after = source[start:stop].decode(), ast.unparse(changed)
            around = [name for first, last, name in functions if first <= node.lineno <= last]
            function = around[-1] if around else ""
            yield Mutant(path, function, node.lineno, start, stop, before, after, kind)


def _functions(tree: ast.AST, outer: str = "") -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line and qualified name of every function, the inner ones last."""
    for node in ast.iter_child_nodes(tree):
        inner = outer
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.end_lineno, outer + node.name
            inner = f"{outer}{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            inner = f"{outer}{node.name}."
        yield from _functions(node, inner)


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
            if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
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


def examine(
    room: str, sample: int, seed: int, tests: list[str], limit: float, near: bool
) -> tuple[int, int]:
    """Run the tests of a room on a sample of its mutants; print those that are not killed."""
    every = of_room(room)
    chosen = sampled(every, sample, seed)
    trial = Room(room, tests, {mutant.inside for mutant in chosen} if near else None)
    killed = 0
    for mutant in chosen:
        outcome, why = trial.outcome(mutant.inside, mutant.function, mutant.text(), limit)
        killed += outcome is Outcome.KILLED
        print(f"  {outcome.value:9} {mutant}\n            {why}", flush=True)
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
    parser.add_argument("--tests", nargs="+", default=[], help="tests to run beside the room's")
    parser.add_argument("--limit", type=float, default=120, help="seconds of CPU for a mutant")
    parser.add_argument(
        "--near", action="store_true", help="run only tests that name the file; the score is lower"
    )
    wanted = parser.parse_args()
    how = (wanted.sample, wanted.seed, wanted.tests, wanted.limit, wanted.near)
    found = [examine(room, *how) for room in wanted.room]
    killed, tried = (sum(counts) for counts in zip(*found, strict=True))
    print(f"in all: {score(killed, tried)}")


if __name__ == "__main__":
    main()
