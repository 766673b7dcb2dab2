"""No function takes more than eight names, but those that people call and the commands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import poise

ROOT = Path(poise.__file__).parent
MOST = 8


def _is_command(function: ast.FunctionDef) -> bool:
    return any("click.command" in ast.unparse(each) for each in function.decorator_list)


def _names(function: ast.FunctionDef) -> list[str]:
    given = function.args
    several = [each for each in (given.vararg, given.kwarg) if each is not None]
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]
    return [each.arg for each in every if each.arg not in ("self", "cls")]


def _public() -> set[str]:
    """Return the functions of poise and of its public modules."""
    modules = [getattr(poise, name) for name in poise._MODULES]
    return {*poise._HOME, *(name for module in modules for name in module.__all__)}


def _functions() -> Iterator[tuple[Path, str, ast.FunctionDef]]:
    """Yield every function with the name it is called by: a class, where it makes one."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.FunctionDef):
                    made = isinstance(node, ast.ClassDef) and each.name == "__init__"
                    yield path, node.name if made else each.name, each


def test_no_parameter_list_is_longer_than_eight_names() -> None:
    public = _public()
    long = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, name, function in _functions()
        if len(_names(function)) > MOST and not _is_command(function) and name not in public
    }
    assert not long
