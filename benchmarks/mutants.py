"""Errors planted one at a time in a copy of the library: do the tests notice?

    python benchmarks/mutants.py theory data [--sample 20] [--seed 0] [--also tests/cli]

Each error is small: ``<`` for ``<=``, ``+`` for ``-``, a number off by one, a condition negated, a
result that is forgotten. Of each kind as many are drawn as of the others. The tests and doctests
of the room are run once, to record which of them enter which function; then each error meets
those that enter the wrong function (else its file, else all: what runs in a worker process is not
seen), the fastest first, until one fails. An error that no test notices is a survivor: a test is
missing, or the line does not matter.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
UNSEEN = ("annotation", "returns", "decorator_list")
FEW = 40  # tests in the first go: most errors meet one of these


def wrong(node, parent):
    """Yield what could stand in place of an expression, with a word for it."""
    if isinstance(parent, ast.Return) and not isinstance(node, ast.Constant):
        yield "result", ast.Constant(None)
    if isinstance(parent, ast.If | ast.While | ast.IfExp) and node is parent.test:
        yield "condition", ast.UnaryOp(ast.Not(), node)
    if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp):
        name = "ops" if isinstance(node, ast.Compare) else "op"
        operators = getattr(node, name) if name == "ops" else [node.op]
        if type(operators[0]) in SWAPPED:
            changed = copy.copy(node)
            swapped = SWAPPED[type(operators[0])]()
            setattr(changed, name, [swapped, *operators[1:]] if name == "ops" else swapped)
            yield type(node).__name__, changed
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        if value != node.value:  # 1e300 + 1 is 1e300
            yield "constant", ast.Constant(value)


def mutants(path):
    """Yield (kind, function, line, before, after, whole text) for every error of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def inside(parent, function):
        for field, value in ast.iter_fields(parent):
            if field in UNSEEN:
                continue
            for node in value if isinstance(value, list) else [value]:
                if (
                    not isinstance(node, ast.AST)
                    or field in UNSEEN
                    or isinstance(node, ast.JoinedStr)
                ):
                    continue
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                    continue
                here = function
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    here = f"{function}.{node.name}".lstrip(".")
                if isinstance(node, ast.expr):
                    start = starts[node.lineno - 1] + node.col_offset
                    stop = starts[node.end_lineno - 1] + node.end_col_offset
                    for kind, changed in wrong(node, parent):
                        after = f"({ast.unparse(changed)})"
                        text = source[:start] + after.encode() + source[stop:]
                        yield kind, here, node.lineno, source[start:stop].decode(), after, text
                yield from inside(node, here)

    yield from inside(ast.parse(source), "")


class Recorder:
    """Records which functions of the copy each test enters, and how long it takes."""

    def __init__(self, library):
        self.library, self.found, self.failed = str(library), {}, set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        entered, began = set(), time.process_time()

        def profile(frame, event, argument):
            if event == "call" and frame.f_code.co_filename.startswith(self.library):
                name = frame.f_code.co_qualname.replace(".<locals>", "").partition(".<")[0]
                entered.add(f"{Path(frame.f_code.co_filename).relative_to(self.library)}:{name}")

        sys.setprofile(profile)
        yield
        sys.setprofile(None)
        if item.nodeid not in self.failed:  # as some tests of memory do, being watched
            self.found[item.nodeid] = (time.process_time() - began, sorted(entered))

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid)


def forked(library, arguments, seconds, recorder=None):
    """Run pytest on the copy in a fork; return whether all tests passed, in time."""
    child = os.fork()
    if child == 0:
        sys.path[:0] = [str(library.parent), str(ROOT)]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
        log = os.open(library.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        signal.alarm(int(seconds))
        options = ["-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", "-c", "pyproject.toml"]
        status = pytest.main([*options, *arguments], plugins=[recorder] if recorder else [])
        if recorder:
            (library.parent / "found").write_text(json.dumps(recorder.found))
        os._exit(int(status))
    return os.waitpid(child, 0)[1] == 0


def examine(room, size, seed, also):
    """Plant a sample of errors in one room; print those that survive."""
    library = Path(tempfile.mkdtemp(prefix="mutants-")) / "poise"
    shutil.copytree(ROOT / "src/poise", library, ignore=shutil.ignore_patterns("__pycache__"))
    tests = [f"tests/{room}", str(library / room), *also]
    passed = forked(library, tests, 3000, Recorder(library))
    record = json.loads((library.parent / "found").read_text())
    if not passed:
        print((library.parent / "log").read_text().partition("short test summary")[2])
    files = sorted((library / room).rglob("*.py"))
    every = [(path, *each) for path in files for each in mutants(path)]
    chosen = sampled(every, size, seed)
    noticed = 0
    for path, kind, function, line, before, after, text in chosen:
        inside = path.relative_to(library)
        key = f"{inside}:{function}"
        names = touching(record, key) if function else []
        names = (
            names or touching(record, f"{inside}:") or list(record)
        )  # worker processes are unseen
        right = path.read_bytes()
        path.write_bytes(text)
        parts = (names[:FEW], names[FEW:])
        killed = any(
            part and not forked(library, ["-x", *part], 60 + 5 * sum(record[n][0] for n in part))
            for part in parts
        )
        path.write_bytes(right)
        noticed += killed
        if not killed:
            words = (" ".join(piece.split()) for piece in (before, after))
            print(f"  survived: {inside}:{line} {kind}: {' -> '.join(words)} ({len(names)} tests)")
    shutil.rmtree(library.parent)
    print(f"{room}: {noticed} of {len(chosen)} noticed, drawn from {len(every):,}", flush=True)


def touching(record, key):
    """Return the tests that enter a function, or any of a file, the fastest first."""
    found = [name for name, (_, entered) in record.items() if key in "\n".join(entered)]
    return sorted(found, key=lambda name: record[name][0])


def sampled(every, size, seed):
    """Draw errors, as many of each kind: constants would crowd out the others."""
    order, ranks, seen = random.Random(seed).sample(every, len(every)), [], {}
    for each in order:
        seen[each[1]] = seen.get(each[1], 0) + 1
        ranks.append((seen[each[1]], len(ranks)))
    return [order[place] for _, place in sorted(ranks)[:size]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="+")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--also", nargs="*", default=[], help="further tests")
    asked = parser.parse_args()
    os.chdir(ROOT)
    for heavy in ("pandas", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model"):
        import_module(heavy)  # once, before the forks
    for room in asked.rooms:
        examine(room, asked.sample, asked.seed, asked.also)
