"""No function takes more than eight names, but those that people call and the commands.

Nor does a dataclass take more than eight values by their places.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import poise

ROOT = Path(poise.__file__).parent
MOST = 8

RECORDS = ("poise.results.", "poise.storage.")  # their classes have the fields of a file
LONG_DATACLASSES = {
    "ClassifierNetwork": "settings of a public function, each given by name",
    "TorchSettings": "settings of a public function, each given by name",
    "PlanRequest": "settings of a public function, each given by name",
    "PlannedTest": "the fields of the public record Plan",
    "NewRun": "the fields of a form",
    "ResultFile": "what a page shows of any file, each value given by name",
    "RunLine": "the cells of a row of a table, each value given by name",
    "PartitionSummary": "what a worker says about its rows, each value given by name",
}


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


@dataclass(frozen=True)
class _Class:
    """A class of the source, and where the names of its file come from."""

    module: str
    node: ast.ClassDef
    imported: dict[str, str]

    @property
    def is_dataclass(self) -> bool:
        return any("dataclass" in ast.unparse(each) for each in self.node.decorator_list)

    @property
    def bases(self) -> list[tuple[str, str]]:
        names = [ast.unparse(base).partition("[")[0] for base in self.node.bases]
        return [(self.imported.get(name, self.module), name) for name in names]

    @property
    def own(self) -> set[str]:
        """The fields of its own that a dataclass takes by their places."""
        lines = [ast.unparse(each) for each in self.node.body if isinstance(each, ast.AnnAssign)]
        if "_: KW_ONLY" in lines:
            lines = lines[: lines.index("_: KW_ONLY")]
        if any("kw_only=True" in ast.unparse(each) for each in self.node.decorator_list):
            lines = []
        other = "ClassVar", "kw_only=True", "init=False"
        return {line.partition(":")[0] for line in lines if not any(word in line for word in other)}


Classes = dict[tuple[str, str], _Class]


def _classes() -> Classes:
    found: Classes = {}
    for path in ROOT.rglob("*.py"):
        module = ".".join(["poise", *path.relative_to(ROOT).with_suffix("").parts])
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        names = {each.name: str(node.module) for node in imports for each in node.names}
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                found[module, node.name] = _Class(module, node, names)
    return found


def _by_place(one: _Class, classes: Classes) -> set[str]:
    """Return the fields that a dataclass takes by their places, with those of its bases."""
    bases = [_by_place(classes[base], classes) for base in one.bases if base in classes]
    return set().union(one.own if one.is_dataclass else set(), *bases)


def test_no_dataclass_takes_more_than_eight_values_by_their_places() -> None:
    classes, public = _classes(), _public()
    long = {
        name
        for (module, name), one in classes.items()
        if one.is_dataclass and len(_by_place(one, classes)) > MOST
        if name not in public and not module.startswith(RECORDS)
    }
    assert long == set(LONG_DATACLASSES)
