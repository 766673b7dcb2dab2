"""Numbers in sentences: bounds are rounded to the safe side, and in one file alone."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.arguments.decimal_noise import complement, three_times, without_noise
from poise.arguments.notebook_card import Card, parts_at_limit
from poise.arguments.printed_numbers import (
    at_least,
    at_most,
    confidence,
    exactly,
    level_in_words,
    rounded_up,
)
from poise.cli.partial_verdict import _standing
from poise.results import Trials
from poise.results.coverage import CoverageGuarantee
from poise.theory.bag_choice import bags_as_they_are

ROOT = Path(poise.__file__).parent

# Where a number is rounded to the nearest by hand: how often, and why no bound is among them.
ROUNDED_BY_HAND = {
    "algorithms/couplings.py": (2, "names of couplings, by which journals know them"),
    "algorithms/torch/torch_settings.py": (1, "the name of an algorithm"),
    "arguments/decimal_noise.py": (1, "what is not noise keeps twelve digits"),
    "arguments/notebook_card.py": (2, "places in a picture"),
    "cli/intervals.py": (1, "equally many decimals; the ends were rounded outwards before"),
    "cli/status.py": (2, "seconds"),
    "cli/ui/browser_figures.py": (1, "the middle of a bar"),
    "cli/ui/repeat.py": (1, "a share that is computed back from a rounded number, in a program"),
    "cli/ui/slider_answers.py": (1, "where a slider begins"),
    "questions/conditional/conditional_question.py": (1, "an epsilon that is tested as it is"),
    "results/certificate.py": (1, "words of a file, which are compared letter by letter"),
    "results/curve_result.py": (1, "names of assumptions in JSON"),
    "results/plots/inline_svg.py": (1, "pixels"),
    "results/text/duration.py": (4, "durations, which are estimates"),
    "results/text/question_menu_table.py": (1, "an estimate, with the two digits that it is worth"),
    "simulation/paper/beyond_averaged.py": (3, "numbers that must agree"),
    "simulation/paper/beyond_intervals.py": (1, "a rank, before its floor is taken"),
    "simulation/paper/claim.py": (2, "numbers that must agree"),
    "simulation/paper/figures.py": (3, "legends of pictures"),
    "simulation/paper/section_3_binomial_test.py": (1, "numbers that must agree"),
    "simulation/paper/section_4_ceilings.py": (2, "numbers that must agree"),
    "simulation/paper/section_4_model_classes.py": (1, "the name of a model"),
    "simulation/traps/trapped_algorithm.py": (1, "the name of an algorithm"),
    "simulation/worlds/simple_algorithms.py": (4, "names of algorithms"),
    "simulation/worlds/zoo.py": (2, "names of worlds"),
    "storage/ledger/described_question.py": (1, "a share by which a question is recognised"),
    "theory/jackknife_coverage.py": (1, "a number of ranks, before its floor is taken"),
}

_FLOAT = re.compile(r"[eEfFgG%]$")
_IN_TEMPLATES = re.compile(r"\{\w*:[-+ #0-9,.<>=^]*[eEfFgG%]\}")
_PERCENT = re.compile(r"%[-+ #]?\d*\.\d+[eEfFgG]|%g")


def _spec(value: ast.FormattedValue) -> str:
    """Return the format of a number in an f-string; a digit stands for a computed part."""
    parts = getattr(value.format_spec, "values", ())
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "9" for p in parts)


def _written(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but those of docstrings."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield node
            yield from _written(node)


def _rounds_a_float(node: ast.AST) -> bool:
    if isinstance(node, ast.FormattedValue):
        return _FLOAT.search(_spec(node)) is not None
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "format" and len(node.args) == 2:
        return _FLOAT.search(ast.unparse(node.args[1]).strip("'\"")) is not None
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "round" and len(node.args) == 2:
        return True
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # for format, % and plotly
        return bool(_IN_TEMPLATES.search(node.value) or _PERCENT.search(node.value))
    return False


def test_numbers_are_rounded_in_one_file() -> None:
    """No sentence rounds a number to the nearest by hand: a bound in it could become false."""
    found: Counter[str] = Counter()
    for path in ROOT.rglob("*.py"):
        nodes = _written(ast.parse(path.read_text(encoding="utf-8")))
        found[path.relative_to(ROOT).as_posix()] += sum(map(_rounds_a_float, nodes))
    del found["arguments/printed_numbers.py"]
    assert {path: n for path, n in found.items() if n} == {
        path: n for path, (n, _) in ROUNDED_BY_HAND.items()
    }


@pytest.mark.parametrize(
    "source",
    [
        'f"at most {x:.4g}"',
        'f"{x:{width}.3f}"',
        'f"{x:.1%}"',
        'format(x, ".4g")',
        "round(x, 4)",
        '"at most {:.4g}".format(x)',
        '"at most %.4g" % x',
        '"at most %{y:.4g}<extra></extra>"',
    ],
)
def test_every_way_to_round_a_float_is_seen(source: str) -> None:
    for text in (f"said = {source}", f"said = float({source})"):
        assert any(map(_rounds_a_float, _written(ast.parse(text))))


def test_templates_of_pages_format_no_float() -> None:
    for path in (ROOT / "cli/ui/templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*round|" + _IN_TEMPLATES.pattern, text), path.name


@given(miss=st.floats(1e-9, 1.0))
def test_a_limit_and_its_counterpart_are_both_safe(miss: float) -> None:
    assert float(at_most(miss)) >= miss
    assert float(at_least(miss)) <= miss
    assert Fraction(confidence(miss)) <= 1 - Fraction(miss) + Fraction(1, 10**15)


def test_confidence_is_one_only_where_nothing_is_left() -> None:
    assert confidence(1e-40) == "0." + "9" * 28
    assert (confidence(0.0), confidence(1.0), confidence(0.5)) == ("1", "0", "0.5")


def test_a_shared_level_is_written_with_all_digits() -> None:
    assert level_in_words(0.123456 / 3, 3) == "0.04116 (= 0.123456 / 3 algorithms)"
    assert level_in_words(0.05 / 7, 7) == "0.007143 (= 0.05 / 7 algorithms)"


def test_a_number_that_is_missing_is_not_zero() -> None:
    assert (exactly(None), exactly(0.0)) == ("not known", "0")


def test_a_computed_level_is_rounded_up() -> None:
    assert level_in_words(0.005726416897022347) == "0.005727"
    assert level_in_words(0.005726416897022347 / 3, 3) == "0.001909 (= 0.005727 / 3 algorithms)"
    assert (level_in_words(0.123456), level_in_words(None)) == ("0.123456", "not known")


def test_noise_of_doubles_is_no_reason_to_round_up() -> None:
    assert at_most(0.1 + 0.2) == "0.3001"  # an observed change of this size exceeds 0.3
    assert at_most(without_noise(0.1 + 0.2)) == "0.3"


@given(value=st.floats(1e-9, 0.3))
def test_three_times_a_limit_and_what_is_left_of_one_lose_no_digit(value: float) -> None:
    """Twelve digits are not enough: a limit that is rounded to fewer may become too small."""
    assert three_times(value) == float(3 * Fraction(repr(value)))
    assert complement(value) == float(1 - Fraction(repr(value)))


def test_promises_of_intervals_are_true_as_printed() -> None:
    """At δ = 0.011, n = 50 and level 0.9 both numbers were rounded to the wrong side."""
    promise = CoverageGuarantee("jackknife", 50, 0.9, 0.2354167, 0.1, 0.1, 0.011, 0.05)
    assert "missed with probability at most 0.2355: " in promise.sentence
    assert "coverage of at least 0.7645." in promise._card().headline
    shown = promise._repr_html_()
    assert "covered, at least: 0.7645<" in shown
    assert "missed, at most: 0.2355<" in shown


def test_a_promise_that_is_a_sum_has_no_noise() -> None:
    promise = CoverageGuarantee(
        "jackknife", 50, 0.9, 0.1 + 0.1 + 0.1, 0.2, 0.2, 0.1, 0.05, gamma=0.1
    )
    assert "with probability at most 0.3, the sum of 1 - 0.9, gamma = 0.1" in promise.sentence


def test_promises_of_bags_are_true_as_printed() -> None:
    bags = bags_as_they_are(100, epsilon=0.1, delta=0.1, bag_size=16, n_bags=1000)
    assert bags.delta > 0.1481
    assert "is (0.1, 0.1482)-stable" in bags.sentence
    assert "with probability at most 0.1482 (" in bags.sentence


@given(limit=st.floats(1e-9, 1e9))
def test_a_limit_that_is_rounded_up_is_the_one_that_is_written(limit: float) -> None:
    assert rounded_up(limit) >= limit
    assert float(at_most(limit).replace(",", "")) == rounded_up(limit)


def test_where_an_averaged_run_stands_is_no_number_of_trials() -> None:
    trials = Trials.from_changes([[[0.1, 0.9]]] + [[[0.1, 0.1]]] * 9, n=5)
    said = _standing(trials, {"epsilon": 0.5, "delta": 0.1, "alpha": 0.05})
    assert said.startswith("10 of 10 trials, mean share 0.05, verdict ")
    counted = Trials.from_changes([0.9, math.inf] + [0.1] * 8, n=5, failures=["no fit"])
    said = _standing(counted, {"epsilon": 0.5, "delta": 0.1, "alpha": 0.05})
    assert said.startswith("10 of 10 trials, 1 larger changes, 1 failed, verdict ")


def test_a_bar_writes_counts_and_limits() -> None:
    counts = Card("x", parts={"kept": 12345, "lost": 0.25}).html()
    assert "kept: 12,345<" in counts
    assert "lost: 0.25<" in counts
    assert (
        "kept, at least: 0.8765<" in Card("x", parts=parts_at_limit("kept", "lost", 0.12344)).html()
    )
