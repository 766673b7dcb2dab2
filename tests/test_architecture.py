"""The direction of imports: a module imports only from rows above its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import poise

ROOT = Path(poise.__file__).parent

# Each row may import from the rows above it; modules in one row may import each other.
ROWS = [
    ["errors"],
    ["_check", "_suggest", "folders", "_words", "filelock"],
    ["theory"],
    ["stored"],
    ["tables"],
    ["randomness", "ambient"],
    ["record"],
    ["budget"],
    ["sample", "groups", "fit_params", "duplicates", "targets"],
    ["distance", "losses"],
    ["algorithm"],
    ["adapters", "shortcuts"],
    ["networks"],
    ["progress"],
    ["engines"],
    ["results"],
    ["journal"],
    ["work", "ledger"],
    ["oracle"],
    ["second_look"],
    ["procedures"],
    ["transcript"],
    ["blackbox"],
    ["notions"],
    ["world"],
    ["adversary"],
    ["auditing"],
    ["api"],
    ["comparing", "curve", "testing", "preflight", "config"],
    ["plots", "report", "readers"],
    ["reproduction"],
    ["cli"],
]

# A result draws itself: the one place where a method reaches downwards, on demand.
DOORWAYS = {("results", "plots"), ("results", "report")}

RANK = {name: rank for rank, row in enumerate(ROWS) for name in row}


def _area(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imported_areas(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            parts = node.module.split(".")
            if parts[0] == "poise":
                found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {parts[1] for parts in names if parts[0] == "poise" and len(parts) > 1}
    return found & set(RANK)


MODULES = sorted(
    path for path in ROOT.rglob("*.py") if path.parent != ROOT or not path.stem.startswith("__")
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_from_rows_above(path: Path) -> None:
    area = _area(path)
    assert area in RANK, f"give {area} a row in tests/test_architecture.py"
    downwards = {
        other
        for other in _imported_areas(path)
        if RANK[other] > RANK[area] and (area, other) not in DOORWAYS
    }
    assert not downwards


def test_no_relative_imports() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path
