"""What figures and cards write beside a limit is safe: no smaller than an upper limit, and so on.

The numbers here have many digits, so that each of them would be false if it were rounded to the
other side, and some of them if they were rounded to the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.arguments.notebook_card import BarPart, Card
from poise.cli.ui.browser_figures import Figure, curve_figure, profile_figure, profiles_figure
from poise.cli.ui.plan_page import _figure
from poise.results import StabilityCurve
from poise.results.certificate import Certificate
from poise.results.coverage import CoverageGuarantee

TRIALS = poise.Trials.from_changes(np.random.default_rng(0).exponential(size=73), n=5)
QUESTION = {"epsilon": 0.5, "delta": 0.1}
CURVE = StabilityCurve(
    tuple(poise.Trials.from_changes(TRIALS.changes[n:] / n, n=n) for n in (5, 10, 20)),
    epsilon=0.0123,
    delta=0.2,
    alpha=0.05,
)
PLAN = poise.plan(n=10, n_labeled=450, delta=0.1, delta_star=0.0124)
AVERAGED = poise.plan(
    n=10, n_labeled=2000, delta=0.1, delta_star=0.0123, test="averaged", spread=0.3
)


class Written(NamedTuple):
    """A number of a picture, and the text beside it."""

    value: float
    text: str


def _beside_points(figure: Figure, *names: str) -> Iterator[Written]:
    """Yield both numbers of every point of the lines with these names."""
    for line in figure["data"]:
        if line.get("name") in names:
            for x, y, text in zip(line["x"], line["y"], line["text"], strict=True):
                both = text.split(" at ")
                yield Written(y, both[0])
                yield from (Written(x, other) for other in both[1:])


def _at_the_mark(figure: Figure) -> Iterator[Written]:
    """Yield the number in the text of the only point that is marked."""
    (mark,) = (line for line in figure["data"] if line.get("mode") == "markers")
    (text,) = re.findall(r"^(?:δ̂ =|power) (\S+) at", mark["hovertemplate"])
    yield Written(mark["y"][0], text)


def _of_bar(card: Card, side: str) -> Iterator[Written]:
    for name, part in card.parts.items():
        if name.endswith(side):
            assert isinstance(part, BarPart)
            yield Written(part.size, part.text)


def _profile() -> Figure:
    limit = TRIALS.delta_hat(QUESTION["epsilon"])
    return profile_figure(TRIALS.profile(), QUESTION, limit, "unstable", span=4.0)


CERTIFICATE = Certificate("shared", 0.1, 0.123411, 0.05, 30)
COVERAGE = CoverageGuarantee("jackknife", 50, 0.9, 0.2354167, 0.1, 0.1, 0.011, 0.05)
STABILISED = poise.stabilize(
    DecisionTreeRegressor(), n=100, epsilon=0.1, delta=0.148111, random_state=0
).guarantee
CEILING = "ceiling of all valid tests"

UPPER: dict[str, Callable[[], Iterator[Written]]] = {
    "band": lambda: _beside_points(_profile(), "limit for every ε at once"),
    "limit for one epsilon": lambda: _at_the_mark(_profile()),
    "bands side by side": lambda: _beside_points(
        profiles_figure({"a": TRIALS.profile()}, 0.5, span=4.0), "a"
    ),
    "curve": lambda: _beside_points(
        curve_figure(CURVE), "limit, all sizes at once (confidence 0.95)"
    ),
    "ceiling": lambda: _beside_points(_figure(PLAN), CEILING),
    "certificate": lambda: _of_bar(CERTIFICATE._card(), "at most"),
    "coverage": lambda: _of_bar(COVERAGE._card(), "at most"),
    "stabilised": lambda: _of_bar(STABILISED._card(), "at most"),
}
LOWER: dict[str, Callable[[], Iterator[Written]]] = {
    "power": lambda: _beside_points(_figure(PLAN), "Binomial"),
    "averaged power": lambda: _beside_points(_figure(AVERAGED), "averaged, spread 0.3"),
    "power of the plan": lambda: _at_the_mark(_figure(PLAN)),
    "certificate": lambda: _of_bar(CERTIFICATE._card(), "at least"),
    "coverage": lambda: _of_bar(COVERAGE._card(), "at least"),
    "stabilised": lambda: _of_bar(STABILISED._card(), "at least"),
}


@pytest.mark.parametrize("where", UPPER)
def test_what_is_written_is_no_smaller_than_an_upper_limit(where: str) -> None:
    several = list(UPPER[where]())
    assert all(float(written.text) >= written.value for written in several)
    assert any(float(written.text) > written.value for written in several)


@pytest.mark.parametrize("where", LOWER)
def test_what_is_written_is_no_larger_than_a_lower_limit(where: str) -> None:
    several = list(LOWER[where]())
    assert all(float(written.text) <= written.value for written in several)
    assert any(float(written.text) < written.value for written in several)
