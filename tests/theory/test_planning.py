"""The planner against brute force and rational arithmetic, and at the ends of the scale."""

from __future__ import annotations

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import planning, power, share_ceiling
from poise.theory.ceilings import averaged_power
from poise.theory.counts import clean_trials, n_trials, trials
from poise.theory.planning import Plan, menu, next_met


def solve(**asked):
    return planning.solve(Plan(**asked))


MANY = 600  # brute force looks at every number of trials below


def questions():
    """Draw tests (δ, δ*, α) and a power that some 400 trials settle."""
    rng, found = np.random.default_rng(1414), []
    while len(found) < 40:
        delta = float(rng.choice([0.05, 0.1, 0.3, 0.5, 0.9, rng.uniform(0.05, 0.97)]))
        truth = delta * float(rng.choice([0.0, 0.2, 0.5, 0.8, rng.uniform(0, 0.9)]))
        alpha = float(rng.choice([0.05, 0.1, 0.5, 1e-6, rng.uniform(0.001, 0.95)]))
        wanted = float(rng.choice([0.5, 0.8, 0.9, 0.99, rng.uniform(0.02, 0.995)]))
        wanted = 1.0 if truth == 0 and rng.random() < 0.5 else wanted
        coin = bool(rng.random() < 0.4)
        good = power(np.arange(MANY), delta, truth, alpha, randomized=coin) >= wanted
        if good[-300:].all():
            names = ("delta", "delta_star", "alpha", "power", "randomized")
            asked = dict(zip(names, (delta, truth, alpha, wanted, coin), strict=True))
            found.append((asked, (delta, truth, alpha), good))
    return found


QUESTIONS = questions()


def test_rows_and_sizes_by_brute_force():
    rng = np.random.default_rng(0)
    for asked, test, good in QUESTIONS:
        first, wanted = int(good.argmax()), asked["power"]
        assert next_met(test, wanted, asked["randomized"], 0) == first
        n, unlabeled, fresh = (int(rng.integers(*ends)) for ends in [(2, 9), (0, 60), (0, 2)])
        more = {"n_unlabeled": unlabeled, "fresh": fresh}
        rows, size = np.arange(MANY * n), n + fresh
        meets = good[np.minimum(rows // size, (rows + unlabeled) // (size + 1))]
        found = solve(n=n, **asked, **more)
        assert found.n_labeled == int(np.argmax(meets))
        assert found.reached >= wanted
        if good[0]:
            continue  # the coin alone is enough, at any n
        labeled = found.n_labeled + int(rng.integers(0, 100))
        sizes = range(2, labeled + 2)
        meets = [size for size in sizes if good[min(trials(size, labeled, **more), MANY - 1)]]
        if meets:
            assert solve(n_labeled=labeled, **asked, **more).n == max(meets)


def test_the_smallest_delta_and_alpha_are_where_the_power_is_reached():
    rng, solved = np.random.default_rng(1), 0
    for asked, test, _ in QUESTIONS:
        m, wanted, coin = int(rng.integers(0, 22)), asked["power"], asked["randomized"]
        rows = {"n": 2, "n_labeled": 2 * m, "n_unlabeled": m}
        for unknown, place in (("delta", 0), ("alpha", 2)):

            def reached(value, place=place, test=test, m=m, coin=coin):
                return power(m, *test[:place], value, *test[place + 1 :], randomized=coin)

            question = {**asked, **rows, unknown: None}
            if reached(1 - 1e-13) < wanted:
                with pytest.raises(ArgumentError, match=f"cannot be reached by any {unknown}"):
                    solve(**question)
                continue
            found, solved = solve(**question), solved + 1
            value = getattr(found, unknown)
            assert found.reached >= wanted
            if unknown == "alpha" or value > test[1]:
                assert reached(value * (1 - 1e-9)) < wanted
    assert solved > 35


def test_large_answers_are_locally_exact():
    for *test, wanted in (
        (0.01, 0.0099, 0.05, 0.9),  # 8.4e6 trials
        (0.5, 0.499, 0.05, 0.9),  # steps closer than the rounding of their starts
        (1e-8, 9e-9, 1e-12, 0.5),  # 5e11 trials
    ):
        first = next_met(test, wanted, False, 0)
        assert power(first, *test) >= wanted > power(np.arange(first - 400, first), *test).max()
        coin = next_met(test, wanted, True, 0)
        powers = power([coin, coin - 1], *test, randomized=True)
        assert powers[0] >= wanted > powers[1]


FULL = {"n_labeled": 1000, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 0.9}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "must be left out, and here it is none"),
        ({"n_labeled": None, "delta_star": 0.2}, r"delta must be above delta_star = 0\.2"),
        ({"n_labeled": None, "delta_star": 0.05, "power": 1.0}, "power must be below 1"),
        ({"n_labeled": None, "power": 0.0}, r"power must be a number in \(0, 1\], got 0"),
        ({"n": None, "n_labeled": 30}, "n = 2 leaves 10 trials, and 29 trials are"),
        ({"n": None, "power": 0.04, "randomized": True}, r"power must be above alpha = 0\.05"),
        ({"delta": None, "n_labeled": 100}, "one trial needs 101 labelled rows"),
        ({"alpha": None, "delta": 0.95, "delta_star": 0.9}, "9 trials cannot show so much"),
        ({"n_labeled": None, "n": 10**12, "delta": 1e-9}, "power cannot .* rows are needed"),
    ],
)
def test_impossible_requests_say_why(changed, message):
    with pytest.raises(ArgumentError, match=message):
        solve(**{**FULL, **changed})


def test_the_menu_is_what_each_size_can_show():
    lines = menu(3000, 40, delta=0.08, alpha=0.04, power=0.7)
    assert [line.n for line in lines] == sorted({line.n for line in lines}, reverse=True)
    for line in lines:
        assert line.n_trials == n_trials(line.n, 3000, 40) == line.n_fits // 2
        assert (1 - line.smallest_delta) ** line.n_trials == pytest.approx(0.04)
        if line.delta_star is None:
            assert line.n_trials < clean_trials(0.08, 0.04)
        else:
            assert power(line.n_trials, 0.08, line.delta_star, 0.04) == pytest.approx(0.7)
    # The largest n at which .08 can be shown has a line, and n + 1 has too few trials.
    able = max(line.n for line in lines if line.delta_star is not None)
    assert n_trials(able + 1, 3000, 40) < clean_trials(0.08, 0.04) <= n_trials(able, 3000, 40)
    assert menu(1) == menu(0) == []


def test_estimated_power_rises_smoothly_and_stays_below_the_ceiling():
    """It once jumped to 0 where constant shares have no power."""
    for *test, v in ((0.1, 0.05, 0.05, 0.3), (0.05, 0.015, 0.01, 0.6), (0.2, 0.12, 0.1, 0)):
        least = int(clean_trials(test[0], test[2]))
        many = [*range(least, least + 120), *range(least + 120, 400, 20)]
        powers = np.array([averaged_power(m, *test, v) for m in many])
        assert (np.diff(powers) >= -1e-12).all()
        assert np.diff(powers).max() < 0.2
        assert (powers <= [share_ceiling(m, *test) for m in many]).all()
        assert averaged_power(least - 1, *test, v) == 0.0
        assert averaged_power(500, test[0], test[0], test[2], v) == test[2]
