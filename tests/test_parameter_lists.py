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

# Classes that take more than eight values, and why each of them is no list of arguments.
LONG_DATACLASSES = {
    "algorithms.networks.perceptron.ClassifierNetwork": (
        "the settings of the public mlp_classifier, with those of every network"
    ),
    "algorithms.torch.torch_settings.TorchSettings": (
        "the settings of the public torch_algorithm, each by its name"
    ),
    "cli.ui.new_run_page.NewRun": "the fields of a form, which its page sends by name",
    "cli.ui.result_file.ResultFile": (
        "what a page shows of any file; a reader gives by name what its kind of file has"
    ),
    "results.certified_result._Content": "the keys of a certificate",
    "results.compare_result.Compared": "a result: one row of a comparison, and of its file",
    "storage.journal.header.Header": "the keys of the first line of a journal",
    "storage.monitor_record.record_content.RowBatch": "the keys of a line of a record",
    "storage.monitor_record.record_header.RecordHeader": "the keys of the first line of a record",
    "storage.monitor_record.record_header.RecordQuestion": "the keys of the question of a record",
    "storage.transcript.archive._Header": "the keys of the header of a transcript",
    "theory.plan_request.PlanRequest": (
        "the arguments of the public plan, one of which is found and filled in by its name"
    ),
    "theory.planned_test.PlannedTest": "a result: the fields of the public Plan, and of its file",
}


def _is_command(function: ast.FunctionDef) -> bool:
    return any("click.command" in ast.unparse(each) for each in function.decorator_list)


def _names(function: ast.FunctionDef) -> list[str]:
    given = function.args
    several = [each for each in (given.vararg, given.kwarg) if each is not None]
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]
    return [each.arg for each in every if each.arg not in ("self", "cls")]


def _public() -> set[str]:
    """Return what people call, by module and name: a private ``run`` is not the public one."""
    home = {f"poise.{module}.{name}" for name, module in poise._HOME.items()}
    modules = [getattr(poise, name) for name in poise._MODULES]
    found = [getattr(module, name) for module in modules for name in module.__all__]
    named = (each for each in found if hasattr(each, "__qualname__"))
    return home | {f"{each.__module__}.{each.__qualname__}" for each in named}


def _module(path: Path) -> str:
    return ".".join(["poise", *path.relative_to(ROOT).with_suffix("").parts])


def _functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function with its module and name: the class, where it makes one."""
    for path in ROOT.rglob("*.py"):
        yield from _inside(ast.parse(path.read_text(encoding="utf-8")), _module(path))


def _inside(node: ast.AST, place: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for each in ast.iter_child_nodes(node):
        named = isinstance(each, (ast.ClassDef, ast.FunctionDef))
        inner = f"{place}.{each.name}" if named else place
        if isinstance(each, ast.FunctionDef):
            makes_one = isinstance(node, ast.ClassDef) and each.name == "__init__"
            yield place if makes_one else inner, each
        yield from _inside(each, inner)


def test_no_parameter_list_is_longer_than_eight_names() -> None:
    public = _public()
    long = {
        name
        for name, function in _functions()
        if len(_names(function)) > MOST and not _is_command(function) and name not in public
    }
    assert not long


def test_a_public_name_excuses_the_public_function_only() -> None:
    public = _public()
    assert {"poise.questions.plan.plan", "poise.questions.monitor.monitor.Monitor"} <= public
    source = ast.parse("class Page:\n    def plan(self): pass\ndef run(): pass")
    names = {name for name, _ in _inside(source, "poise.cli.page")}
    assert names == {"poise.cli.page.Page.plan", "poise.cli.page.run"}
    assert not names & public


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
        module = _module(path)
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
        f"{module}.{name}"
        for (module, name), one in classes.items()
        if one.is_dataclass and len(_by_place(one, classes)) > MOST
    }
    assert long - public == {f"poise.{name}" for name in LONG_DATACLASSES}
