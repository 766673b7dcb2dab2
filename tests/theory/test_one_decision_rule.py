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


def translates(test: ast.AST) -> bool:
    """Say whether a condition looks at a verdict: then the choice is its translation."""
    looked_at = [node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)]
    return "verdict" in looked_at


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from own_nodes(child)


def choices(source: str) -> list[int]:
    """Return the lines at which code chooses between verdicts."""
    tree = ast.parse(source)
    found = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp) and not translates(node.test)
        if len(spelled([*arms(node)])) > 1
    ]
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            nodes = list(own_nodes(function))
            returned = [arm for n in nodes if isinstance(n, ast.Return) for arm in arms(n.value)]
            tests = [node.test for node in nodes if isinstance(node, ast.If)]
            if len(spelled(returned)) > 1 and not all(map(translates, tests)):
                found.append(function.lineno)
    return found


def test_no_other_file_chooses_a_verdict() -> None:
    lines = {path.as_posix(): choices(path.read_text(encoding="utf-8")) for path in OTHERS}
    assert not {path: found for path, found in lines.items() if found}


def test_the_search_finds_the_rule_itself() -> None:
    source = RULE.read_text(encoding="utf-8")
    first = source.splitlines().index(
        "def three_way(says_stable: bool, says_unstable: bool) -> FullVerdict:"
    )
    assert first + 1 in choices(source)


@pytest.mark.parametrize(
    "body",
    [
        "if u >= 1:\n        return 'stable'\n    return 'unstable' if w else 'inconclusive'",
        "if a == b:\n        return Outcome.INCONCLUSIVE\n    return Outcome.STABLE",
        "return ['stable' if r.declares(p) else 'not declared stable' for p in ps]",
        "x = Outcome.NOT_CERTIFIED if hopeless else Outcome.INCONCLUSIVE\n    return x",
    ],
)
def test_the_search_finds_rules_that_were_written_again(body) -> None:
    assert choices(f"def verdict(a):\n    {body}\n")


def test_a_translation_of_a_verdict_is_no_choice() -> None:
    assert not choices("side = 'unstable' if only.verdict == 'unstable' else 'stable'")
    assert not choices("scope = 'stable' if stop_early == 'stable' else 'verdict'")
