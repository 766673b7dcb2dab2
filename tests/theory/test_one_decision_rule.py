"""Verdicts are chosen in one file: everywhere else they are only passed on or put into words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import poise

ROOT = Path(poise.__file__).parent
RULE = ROOT / "theory" / "decision.py"
OTHERS = sorted(path for path in ROOT.rglob("*.py") if path != RULE)


def is_verdict(node: ast.AST | None) -> bool:
    """Say whether this is a verdict, spelled out: a word, or a member of Outcome."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "Outcome"
    word = node.value if isinstance(node, ast.Constant) else None
    return isinstance(word, str) and (word == "inconclusive" or word.endswith("stable"))


def arms(value: ast.AST | None) -> Iterator[ast.AST]:
    """Yield what an expression may come to: both sides of "a if c else b"."""
    if isinstance(value, ast.IfExp):
        yield from (*arms(value.body), *arms(value.orelse))
    elif value is not None:
        yield value


def spelled(values: list[ast.AST]) -> set[str]:
    return {ast.unparse(value) for value in values if is_verdict(value)}


def reads_a_verdict(node: ast.AST) -> bool:
    """Say whether an expression is somebody's verdict: ``result.verdict``, or its word."""
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr == "verdict"


def translates(test: ast.AST) -> bool:
    """Say whether a condition only compares a verdict: then the choice is its translation."""
    compared = isinstance(test, ast.Compare) and [test.left, *test.comparators]
    equality = ast.Eq | ast.NotEq | ast.In | ast.NotIn | ast.Is | ast.IsNot
    return bool(
        compared
        and any(map(reads_a_verdict, compared))
        and all(isinstance(sign, equality) for sign in test.ops)
    )


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from own_nodes(child)


def alternatives(node: ast.AST) -> list[ast.AST]:
    """Return what one expression chooses from: by a condition, or by a position in a table."""
    if isinstance(node, ast.IfExp) and not translates(node.test):
        return [*arms(node)]
    if isinstance(node, ast.Subscript) and not reads_a_verdict(node.slice):
        table = node.value
        if isinstance(table, ast.Dict):
            return list(table.values)
        if isinstance(table, ast.Tuple | ast.List):
            return list(table.elts)
    return []


def chosen_by(function: ast.FunctionDef) -> Iterator[list[ast.AST]]:
    """Yield what a function may return, and what it may give to each of its names."""
    nodes = list(own_nodes(function))
    yield [arm for n in nodes if isinstance(n, ast.Return) for arm in arms(n.value)]
    given: dict[str, list[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                given.setdefault(ast.unparse(target), []).extend(arms(node.value))
    yield from given.values()


def conditions(function: ast.FunctionDef) -> list[ast.AST]:
    """Return what the function branches on."""
    return [n.test for n in own_nodes(function) if isinstance(n, ast.If)]


def choices(source: str) -> list[int]:
    """Return the lines at which code chooses between verdicts."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [n.lineno for n in nodes if len(spelled(alternatives(n))) > 1]
    for function in nodes:
        if isinstance(function, ast.FunctionDef):
            chosen = any(len(spelled(values)) > 1 for values in chosen_by(function))
            if chosen and not all(map(translates, conditions(function))):
                found.append(function.lineno)
    return found


def test_no_other_file_chooses_a_verdict() -> None:
    lines = {path.as_posix(): choices(path.read_text(encoding="utf-8")) for path in OTHERS}
    assert not {path: found for path, found in lines.items() if found}


def test_the_search_finds_the_rule_itself() -> None:
    source = RULE.read_text(encoding="utf-8")
    defined = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    rule = next(function for function in defined if function.name == "three_way")
    assert rule.lineno in choices(source)


@pytest.mark.parametrize(
    "body",
    [
        "if u >= 1:\n        return 'stable'\n    return 'unstable' if w else 'inconclusive'",
        "if a == b:\n        return Outcome.INCONCLUSIVE\n    return Outcome.STABLE",
        "return ['stable' if r.declares(p) else 'not declared stable' for p in ps]",
        "x = Outcome.NOT_CERTIFIED if hopeless else Outcome.INCONCLUSIVE\n    return x",
        "if a:\n        v = 'stable'\n    else:\n        v = 'unstable'\n    return v",
        "v: Verdict = 'inconclusive'\n    if a:\n        v = 'stable'\n    return v",
        "return {True: 'stable', False: 'inconclusive'}[a]",
        "return ('inconclusive', 'stable')[a]",
        "if r.verdict and p < 1:\n        return 'stable'\n    return 'unstable'",
        "return 'stable' if r.verdict == 'stable' and p < 1 else 'unstable'",
    ],
)
def test_the_search_finds_rules_that_were_written_again(body) -> None:
    assert choices(f"def said(a):\n    {body}\n")


@pytest.mark.parametrize(
    "line",
    [
        "side = 'unstable' if only.verdict == 'unstable' else 'stable'",
        "scope = 'stable' if stop_early == 'stable' else 'verdict'",
        "word = {Outcome.STABLE: 'stable', Outcome.UNSTABLE: 'unstable'}[result.verdict]",
    ],
)
def test_a_translation_of_a_verdict_is_no_choice(line) -> None:
    assert not choices(line)
