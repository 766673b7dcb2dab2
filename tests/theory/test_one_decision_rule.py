"""Verdicts are chosen in one file: everywhere else they are only passed on or put into words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import poise

ROOT = Path(poise.__file__).parent
RULE = ROOT / "theory" / "decision.py"
OTHERS = sorted(path for path in ROOT.rglob("*.py") if path != RULE)
ORDER = ast.Lt | ast.LtE | ast.Gt | ast.GtE
PVALUE = re.compile(r"p_?value|adjusted", re.IGNORECASE)
SHORT_PVALUE = re.compile(r"^([pq]|values?)$")
LEVEL = re.compile(r"alpha|level|limit", re.IGNORECASE)


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


def replaced_by(values: list[ast.AST]) -> bool:
    """Say whether a verdict may stay or become another one: the other is a rule of its own."""
    stays = [v for v in values if reads_a_verdict(v) or getattr(v, "id", "") == "verdict"]
    return bool(stays and spelled(values))


def names_in(node: ast.AST) -> list[str]:
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)]
    return [n.id if isinstance(n, ast.Name) else n.attr for n in found]


def mentions(node: ast.AST, words: re.Pattern[str]) -> bool:
    return any(map(words.search, names_in(node)))


def is_level(node: ast.AST) -> bool:
    """Say whether this is a level, and not a number computed from one."""
    computed = any(isinstance(n, ast.BinOp) for n in ast.walk(node))
    return not computed and mentions(node, LEVEL)


def compares_a_pvalue(node: ast.AST) -> bool:
    """Say whether a comparison asks if a p-value is small enough."""
    if not isinstance(node, ast.Compare) or not all(isinstance(s, ORDER) for s in node.ops):
        return False
    sides = [node.left, *node.comparators]
    short = any(mentions(s, SHORT_PVALUE) or "less_rounding" in names_in(s) for s in sides)
    return any(mentions(s, PVALUE) for s in sides) or (short and any(map(is_level, sides)))


def hands_on_a_verdict(node: ast.AST) -> bool:
    """Say whether a call is given a verdict that nobody asked the rule for."""
    if not isinstance(node, ast.Call):
        return False
    named = [word.value for word in node.keywords if word.arg == "verdict"]
    members = [*node.args, *(word.value for word in node.keywords)]
    return bool(spelled(named)) or any(
        is_verdict(member) and isinstance(member, ast.Attribute) for member in members
    )


def declarations(source: str) -> list[int]:
    """Return the lines at which code declares: by a p-value, by a search, or by replacing."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [n.lineno for n in nodes if compares_a_pvalue(n) or hands_on_a_verdict(n)]
    found += [n.lineno for n in nodes if isinstance(n, ast.IfExp) and replaced_by([*arms(n)])]
    for function in nodes:
        if isinstance(function, ast.FunctionDef) and any(map(replaced_by, chosen_by(function))):
            found.append(function.lineno)
    return found


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


def test_no_other_file_declares() -> None:
    lines = {path.as_posix(): declarations(path.read_text(encoding="utf-8")) for path in OTHERS}
    assert not {path: found for path, found in lines.items() if found}


def test_only_the_theory_grants_rounding() -> None:
    outside = [path for path in OTHERS if path.parent.name != "theory"]
    assert len(outside) > 300
    users = [path.as_posix() for path in outside if "less_rounding" in path.read_text("utf-8")]
    assert not users


@pytest.mark.parametrize(
    "body",
    [
        "return pvalue <= level",
        "return less_rounding(pvalue) <= level",
        "return bool(alpha >= self.pvalue)",
        "stable, unstable = _rounded([answer.pvalue, answer.pvalue_unstable]) <= alpha",
        "return holm(pvalues) <= header.alpha",
        "return np.asarray(pvalues <= online_fallback(pvalues, header.alpha)[:-1])",
        "chosen = np.flatnonzero(less_rounding(adjusted) <= float(arguments.alpha(alpha)))",
        "failed = np.flatnonzero(less_rounding(p) > float(arguments.alpha(alpha)))",
        "declared.append(bool(pvalue <= levels[-1]))",
        "left = left.after(left.level, bool(value <= left.level))",
        "if value <= levels[place]:\n        levels[place + 1] += levels[place]",
        "if each.best_pvalue > each.stake.level:\n        raise RecordError",
        "return sum(theory.pvalue_unstable(b, m, 0.17) <= 0.1 for b in found)",
        "if found['worst'] <= self.epsilon:\n        return Result(name, Outcome.STABLE, True)",
        "return replace(result, verdict='stable')",
        "v = Outcome.INCONCLUSIVE if self.verdict == Outcome.UNSTABLE else self.verdict",
        "v = 'inconclusive' if self.verdict == Outcome.NOT_CERTIFIED else verdict",
        "if r.verdict == 'unstable':\n        return 'inconclusive'\n    return r.verdict",
    ],
)
def test_the_search_finds_declarations_that_were_written_again(body) -> None:
    assert declarations(f"def said(a):\n    {body}\n")


@pytest.mark.parametrize(
    "line",
    [
        "enough = e[order] * rank * level >= less_rounding(e.size)",
        "side = 'unstable' if only.verdict == 'unstable' else 'stable'",
        "says = declares(pvalue, level)",
        "wanted = self.verdict in (Outcome.STABLE, Outcome.UNSTABLE)",
    ],
)
def test_a_comparison_of_something_else_declares_nothing(line) -> None:
    assert not declarations(line)
