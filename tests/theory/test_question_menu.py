"""The menu of training sizes, and plans of variants: against SciPy, and against the design."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from poise import plan
from poise.errors import ArgumentError
from poise.results import Design
from poise.theory import averaged_power
from poise.theory.averaged_power_estimate import SECOND_POINT
from poise.theory.many_hedges import hedge_side_by_side
from poise.theory.planning import with_defaults
from poise.theory.question_menu import menu
from poise.theory.rows_per_trial import RowsPerTrial


@pytest.mark.parametrize(("rows", "points", "delta"), [(3000, 0, 0.1), (777, 50, 0.2)])
def test_lines_say_what_scipy_says(rows: int, points: int, delta: float) -> None:
    found = menu(rows, points, delta=delta, power=0.8)
    assert 9 <= len(found) <= 13
    for line in found:
        m = min(rows // line.n, (rows + points) // (line.n + 1))
        assert line.n_trials == m
        assert line.n_fits == 2 * m
        assert min(rows // (line.n + 1), (rows + points) // (line.n + 2)) < m
        assert (1 - line.smallest_delta) ** m == pytest.approx(0.05)
        counts = np.arange(m + 1)
        accepted = counts[stats.binom.cdf(counts, m, delta) <= 0.05]
        if len(accepted):
            power = stats.binom.cdf(accepted.max(), m, line.delta_star)
            assert power == pytest.approx(0.8)
        else:
            assert line.delta_star is None


def test_the_largest_n_for_a_delta_is_the_planners() -> None:
    for rows, delta in itertools.product((300, 3000), (0.1, 0.06)):
        largest = menu(rows, delta=delta).largest
        assert largest is not None
        assert largest.n == plan(n_labeled=rows, delta=delta, alpha=0.05, power=1.0).n


def test_a_size_that_holds_no_trial_is_listed_as_such() -> None:
    first = menu(3000, n=3000).rows[0]
    assert (first.n, first.n_trials, first.smallest_delta, first.delta_star) == (
        3000,
        0,
        None,
        None,
    )
    assert menu(1).rows == ()
    assert menu(25).largest is None


def test_the_averaged_figures_hold_for_shares_of_that_spread() -> None:
    """Shares v with probability δ*/v, else 0, have mean δ* and spread v.

    The estimate promises a power of 0.8. The seed is fixed: no false alarms; at a true
    power of 0.7 as many as this would have probability 0.001.
    """
    [line] = [line for line in menu(3000) if line.n_trials == 100]
    trials = 3000 // (line.n + line.points)
    rng = np.random.default_rng(0)
    for chance, truth in zip(SECOND_POINT, line.delta_star_averaged or (), strict=True):
        spread = (1 + (line.points - 1) * chance) / line.points
        shares = spread * (rng.random((200, trials)) < truth / spread)
        assert hedge_side_by_side(shares, 0.1, 0.05).accepted.sum() >= 160


def test_the_points_of_the_averaged_test_are_the_best_ones() -> None:
    for line in menu(3000, 500):
        if line.delta_star_averaged is None:
            assert line.points == 1
            continue
        for points in (2, 5, 10, 20):
            m = min(3000 // line.n, 3500 // (line.n + points))
            spread = (1 + (points - 1) * 0.5) / points
            better = line.delta_star_averaged[0] + 1e-3
            if m >= 59 and better < 0.1:
                assert averaged_power(m, 0.1, better, 0.05, max(spread, better)) < 0.8
    few, plenty = menu(3000), menu(3000, 100_000)
    assert all(row.delta_star_averaged is None for row in few if row.n_trials < 59)
    assert min(row.points for row in plenty if row.delta_star_averaged) >= 14


def test_errors_name_the_argument() -> None:
    with pytest.raises(ArgumentError, match="delta must be above 0"):
        menu(100, delta=0)
    with pytest.raises(ArgumentError, match=r"power must be in \(0, 1\), got 1"):
        menu(100, power=1)
    with pytest.raises(ArgumentError, match="n must be a whole number >= 2"):
        menu(100, n=1)


VARIANTS = [
    {"replace": True},
    {"remove": 3, "replace": True},
    {"remove": 3},
    {"losses": True},
    {"groups": True},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_variants_count_trials_as_a_run_does(variant: dict[str, int]) -> None:
    each = RowsPerTrial(**variant)  # type: ignore[arg-type]
    for n, rows, points in itertools.product((5, 20), (40, 700), (0, 30)):
        design = Design(
            "x",
            n=n,
            n_labeled=5 * rows if each.groups else rows,
            n_unlabeled=points,
            remove=each.remove,
            replace=each.replace,
            labeled_test=each.losses,
            n_groups=rows if each.groups else None,
        )
        assert each.n_trials(n, rows, points) == design.n_trials
        assert each.kappa(n, rows, points) == design.kappa
        count = each.n_trials(n, rows, points)
        if count:
            assert each.size_for(count, rows, points) >= n
            needed = each.rows_for(count, n, points)
            assert each.n_trials(n, needed, points) == count
            assert each.n_trials(n, needed - 1, points) < count


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_plans_of_variants_reach_their_power_and_no_less_would(variant: dict[str, int]) -> None:
    found = plan(n=30, delta=0.1, alpha=0.05, power=1.0, n_unlabeled=7, **variant)
    assert found.n_trials == 29
    assert found.ceiling is None
    again = plan(n=30, n_labeled=found.n_labeled - 1, delta=0.1, n_unlabeled=7, **variant)
    assert (again.n_trials, again.power) == (28, 0)
    assert type(found).from_json(found.to_json()) == found
    assert "known for this variant" in found.summary()


def test_several_algorithms_share_the_level() -> None:
    shared = plan(n=30, delta=0.1, algorithms=4)
    alone = plan(n=30, delta=0.1, alpha=0.0125)
    assert shared.n_labeled == alone.n_labeled
    assert shared.n_fits == 4 * alone.n_fits
    assert "at level 0.0125 (= 0.05 / 4 algorithms)" in shared.summary()
    back = plan(n=30, n_labeled=shared.n_labeled, delta=0.1, power=1.0, algorithms=4)
    assert 0.9**shared.n_trials * 4 == pytest.approx(back.alpha)


def test_defaults_fill_in_and_change_no_complete_question() -> None:
    open_question = dict.fromkeys(["n_labeled", "n", "delta", "alpha", "power"])
    assert with_defaults(open_question | {"n": 9, "delta": 0.1})["power"] == 0.9
    for name in open_question:
        complete = open_question | dict.fromkeys(set(open_question) - {name}, 0.5)
        assert with_defaults(complete) == complete


def test_the_power_table_is_scipys() -> None:
    found = plan(n=30, n_labeled=3000, delta=0.1)
    assert len(found.power_table()) == 11
    for truth, power in found.power_table():
        assert power == pytest.approx(stats.binom.cdf(4, 96, truth))
