"""The rows about bags, sets of labels and intervals can fail: each is shown a planted error."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from poise import theory
from poise.simulation.paper import beyond_intervals as intervals
from poise.simulation.paper import beyond_subbagging as bags
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds.interval_coverage import IntervalMisses
from poise.theory import inflated_argmax, jackknife_coverage, subbagging

FEW = Effort(share=0.05)

right_reach, right_mask = theory.bag_reach, inflated_argmax.inflated_mask
right_largest, right_count = subbagging.largest_admissible_bag, subbagging.bag_count
right_miss, right_jackknife = jackknife_coverage.jackknife_miss, IntervalMisses.of_jackknife
right_plus, right_rank = IntervalMisses.of_plus, jackknife_coverage.residual_rank


def only_the_top(scores: Any, k: int, eps: float) -> Any:
    return right_mask(scores, k, eps / 100)


def without_the_clock(n: Any, a: Any, delta: Any, plus: bool = False) -> Any:
    """Forget the ranks that unstable rows can buy."""
    return right_miss(n, a, 0.0 * np.asarray(delta), plus)


ERRORS: dict[str, tuple[Any, str, Any, Any, str]] = {
    "the rank of the jackknife's residual off by one": (
        jackknife_coverage, "residual_rank", lambda n, a: right_rank(n, a) - 1,
        partial(intervals._exact_rank, FEW), "misses with probability a"
    ),
    "a reach without the part outside the bag": (
        theory, "bag_reach", lambda n, b, k: right_reach(n, b, k) * (1 - b / n),
        bags._linear_programmes, "no base algorithm moves k removals further"
    ),
    "bags that are one row too small": (
        theory, "largest_admissible_bag", lambda *asked: right_largest(*asked) // 2,
        bags._never_worse, "as large as Soloff"
    ),
    "a count twice as large": (
        theory, "bag_count", lambda *asked: 2 * right_count(*asked), bags._gain, "2/π"
    ),
    "an argmax that is hardly inflated": (
        theory, "inflated_mask", only_the_top, bags._shared_labels, "share k labels"
    ),
    "a bound that forgets unstable rows": (
        theory, "jackknife_miss", without_the_clock, intervals._extreme_laws, "worst case"
    ),
    "intervals that miss too often": (
        IntervalMisses, "of_jackknife", lambda self, wider=0.0: right_jackknife(self, -9.0),
        partial(intervals._stable, FEW), "jackknife misses no more often"
    ),
    "jackknife+ that misses too often": (
        IntervalMisses, "of_plus", lambda self, wider=0.0: right_plus(self, -9.0),
        partial(intervals._unstable, FEW), "at most 2a"
    ),
    "heavy tails that are missed too often": (
        IntervalMisses, "of_plus", lambda self, wider=0.0: right_plus(self, -99.0),
        partial(intervals._heavy_tails, FEW), "Cauchy"
    ),
    "a jackknife that covers without stability": (
        IntervalMisses, "of_jackknife", lambda self, wider=0.0: right_jackknife(self, 99.0),
        partial(intervals._interpolating, FEW), "misses more often than a"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_a_planted_error_is_caught(name: str, monkeypatch) -> None:
    home, attribute, wrong, row, caught_by = ERRORS[name]
    monkeypatch.setattr(home, attribute, wrong)
    found = row()
    claims = found if isinstance(found, list) else [found]
    assert any(caught_by in claim.text for claim in claims if not claim.passed)
