"""The rooms of the house: what may import what, and what a first import costs."""

from __future__ import annotations

import ast
from pathlib import Path

import poise
from helpers import ROOT, python

SOURCE = ROOT / "src" / "poise"
ROOMS = """
errors, checks numbers progress, settings, theory, data, results, algorithms, shortcuts, engine,
procedures, questions, simulation, ui, cli
"""
LEVEL = {room: level for level, rooms in enumerate(ROOMS.split(",")) for room in rooms.split()}
FACADES = {"__init__", "__main__", "decisions", "research"}  # they only name what is elsewhere


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_by(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("poise.")}
    return found & set(LEVEL)


def test_rooms_import_only_rooms_above_them():
    wrong = [
        f"{path.relative_to(SOURCE)} imports {room}"
        for path in SOURCE.rglob("*.py")
        if room_of(path) not in FACADES
        for room in imported_by(path)
        if LEVEL[room] > LEVEL[room_of(path)]
    ]
    assert not wrong


def test_public_names_are_those_of_the_stub():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    typed = {
        alias.asname or alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == set(poise.__all__) - {"__version__"}
    for name in poise.__all__:
        assert getattr(poise, name).__doc__ or name == "__version__"
        assert name in dir(poise)


def test_the_first_import_loads_nothing_heavy():
    heavy = ["scipy", "sklearn", "pandas", "pyarrow", "polars", "matplotlib", "rich", "jinja2"]
    code = f"import sys, poise; print([m for m in {heavy} if m in sys.modules])"
    assert python(code).stdout.strip() == "[]"


FIRST_CALL = """
import sys
from pathlib import Path
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso
import poise

home, files, frames = str(Path(poise.__file__).parent), set(), set()

def entered(frame, event, argument):
    name, function = frame.f_code.co_filename, frame.f_code.co_name
    if name.startswith(home) and not function.startswith("<"):
        files.add(name)
    if function == "fit" and name.endswith("_coordinate_descent.py"):
        own = 0
        while frame := frame.f_back:
            own += frame.f_code.co_filename.startswith(home)
        frames.add(own)

X, y = load_diabetes(return_X_y=True)
question = {"n": 10, "epsilon": 25, "delta": 0.2, "check": False}
poise.stability_test(Lasso(), X, y, **question)  # bodies of classes are imports
sys.setprofile(entered)
poise.stability_test(Lasso(), X, y, **question | {"check": len(sys.argv) > 1})
sys.setprofile(None)
print(len(files), max(frames), sum(name.startswith("poise.") for name in sys.modules))
"""


def test_the_first_call_enters_few_files():
    files, _, modules = map(int, python(FIRST_CALL, "looked at").stdout.split())
    assert files <= 30
    assert modules <= 48
    assert int(python(FIRST_CALL).stdout.split()[1]) <= 8  # own frames above fit
