"""The rooms of the house: who may import from whom, and what each folder says of itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import poise

ROOT = Path(poise.__file__).parent

# A room imports from its own row and from the rows above it.
ROWS = [
    ["errors"],
    ["arguments"],
    ["theory"],
    ["data"],
    ["protocol"],
    ["algorithms", "shortcuts"],
    ["running"],
    ["results"],
    ["procedures"],
    ["storage"],
    ["questions"],
    ["simulation"],
    ["cli"],
]

# A result draws itself, on demand: results know their pictures, and pictures know results.
DOORWAYS = {"results/plots", "results/report"}

RANK = {room: rank for rank, row in enumerate(ROWS) for room in row}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__main__.py")
ROOMS = sorted(path.parent for path in ROOT.rglob("__init__.py") if path.parent != ROOT)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")


NAMES = {_name(path): path for path in MODULES}


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what can run: names for annotations alone are imported by nobody."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, part, ()):
            if not _is_type_checking(node):
                yield node
                yield from _statements(node)


def _imported(path: Path) -> Iterator[str]:
    """Yield every module of poise that a file imports, at its top or inside a function."""
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "poise":
            base = (node.module or "").replace(".", "/").removeprefix("poise").removeprefix("/")
            for alias in node.names:
                inner = f"{base}/{alias.name}".removeprefix("/")
                if inner in NAMES or base in NAMES:
                    yield inner if inner in NAMES else base
        elif isinstance(node, ast.Import):
            names = [alias.name.replace(".", "/").removeprefix("poise/") for alias in node.names]
            yield from (name for name in names if name in NAMES)


def _packages(name: str) -> set[str]:
    parts = name.split("/")
    return {"/".join(parts[:length]) for length in range(1, len(parts))} & set(NAMES)


def _with_packages(name: str, others: set[str]) -> set[str]:
    """Add what Python imports on the way: the packages around a module."""
    around = {package for other in others for package in _packages(other)}
    return (others | (around - _packages(name))) - {name}


BELOW_THE_TOP = [
    name for name, path in NAMES.items() if path.parent != ROOT or path.stem != "__init__"
]


@cache  # not when this file is imported: every process of a run does that
def _imports() -> dict[str, set[str]]:
    return {name: _with_packages(name, set(_imported(NAMES[name]))) for name in BELOW_THE_TOP}


def _through_doorway(name: str, other: str) -> bool:
    return name.startswith("results/") and any(other.startswith(door) for door in DOORWAYS)


def test_there_are_a_dozen_rooms() -> None:
    entries = {name.split("/")[0] for name in NAMES} - {"__init__"}
    assert entries == set(RANK)
    assert len(entries) <= 14


@pytest.mark.parametrize("name", BELOW_THE_TOP)
def test_imports_only_from_rows_above(name: str) -> None:
    room = name.split("/")[0]
    below = {other for other in _imports()[name] if RANK[other.split("/")[0]] > RANK[room]}
    assert not below


def test_no_file_imports_itself_by_a_detour() -> None:
    """There is no cycle, also among files that are imported when they are first needed."""
    open_edges = {
        name: {other for other in others if not _through_doorway(name, other)}
        for name, others in _imports().items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for other in open_edges.get(name, ()):
                visit(other, (*path, name))
            done.add(name)

    for name in open_edges:
        visit(name, ())


# Folders of the source without tests of their own, and why.
NO_TESTS = {
    "simulation": "it holds folders, and a file only to say which",
}


def test_tests_mirror_the_rooms() -> None:
    """What is tested in a folder lives in the folder of the same name, and each has tests."""
    tests = Path(__file__).parent
    files = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    rooms = {room.relative_to(ROOT).as_posix() for room in ROOMS}
    assert files - {"."} == rooms - set(NO_TESTS)


def test_no_relative_imports() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_a_room_opens_with_a_map_of_its_files(room: Path) -> None:
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    files = {path.stem for path in room.glob("*.py")} - {"__init__"}
    folders = {f"{path.parent.name}/" for path in room.glob("*/__init__.py")}
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("    ")]
    assert listed == sorted(files | folders, key=lambda name: name.rstrip("/"))
