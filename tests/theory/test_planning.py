"""The planner against brute force and rational arithmetic, and at the ends of the scale."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import averaged_planning, planning
from poise.theory.binomial import power
from poise.theory.counts import clean_trials, n_trials, trials, trials_for_averaging
from poise.theory.planning import menu, solve
from poise.theory.sawtooth import next_missed, trials_needed

MANY = 700  # brute force looks at every number of trials below


def questions():
    """Draw tests (δ, δ*, α) and a power that some 400 trials settle."""
    rng, found = np.random.default_rng(1414), []
    while len(found) < 45:
        delta = float(rng.choice([0.05, 0.1, 0.3, 0.5, 0.9, rng.uniform(0.05, 0.97)]))
        truth = delta * float(rng.choice([0.0, 0.2, 0.5, 0.8, rng.uniform(0, 0.9)]))
        alpha = float(rng.choice([0.05, 0.1, 0.5, 1e-6, rng.uniform(0.001, 0.95)]))
        wanted = float(rng.choice([0.5, 0.8, 0.9, 0.99, rng.uniform(0.02, 0.995)]))
        wanted = 1.0 if truth == 0 and rng.random() < 0.5 else wanted
        coin = bool(rng.random() < 0.4)
        good = power(np.arange(MANY), delta, truth, alpha, randomized=coin) >= wanted
        if good[-300:].all():
            found.append(((delta, truth, alpha), wanted, coin, good))
    return found


QUESTIONS = questions()


def asked(test, wanted, coin):
    delta, truth, alpha = test
    return {"delta": delta, "delta_star": truth, "alpha": alpha, "power": wanted} | {
        "randomized": coin
    }


def test_trials_and_the_next_that_are_too_few_by_brute_force():
    dips = 0
    for test, wanted, coin, good in QUESTIONS:
        first = int(good.argmax())
        assert trials_needed(test[0], test[1], test[2], wanted, coin) == first
        if not coin:
            for m in range(first, first + 120, 29):
                later = np.flatnonzero(~good[m:])
                assert next_missed(test, wanted, m) == (m + int(later[0]) if later.size else None)
                dips += bool(later.size)
    assert dips > 10


def test_rows_and_size_by_brute_force():
    rng = np.random.default_rng(0)
    for test, wanted, coin, good in QUESTIONS:
        n, unlabeled, fresh = (int(rng.integers(*ends)) for ends in [(2, 9), (0, 60), (0, 2)])
        more = {"n_unlabeled": unlabeled, "fresh": fresh}
        rows, size = np.arange(MANY * n), n + fresh
        meets = good[np.minimum(rows // size, (rows + unlabeled) // (size + 1))]
        found = solve(n=n, **asked(test, wanted, coin), **more)
        assert found.n_labeled == int(np.argmax(meets))
        assert found.reached >= wanted
        held, later = found.n_trials, np.flatnonzero(~good[found.n_trials :])
        assert found.dips_at == (held + int(later[0]) if later.size else None)
        if good[0]:
            continue  # the coin alone is enough, at any n
        labeled = found.n_labeled + int(rng.integers(0, 300))
        sizes = range(2, labeled + 2)
        meets = [size for size in sizes if good[min(trials(size, labeled, **more), MANY - 1)]]
        if meets:
            assert solve(n_labeled=labeled, **asked(test, wanted, coin), **more).n == max(meets)


def exact_power(m, delta, truth, alpha, coin):
    """Power in rational arithmetic."""
    d, s, a = Fraction(delta), Fraction(truth), Fraction(alpha)
    mass = declared = Fraction(0)
    for k in range(m + 1):
        atom, true = (comb(m, k) * p**k * (1 - p) ** (m - k) for p in (d, s))
        if mass + atom > a:
            return declared + (true * (a - mass) / atom if coin else 0)
        mass, declared = mass + atom, declared + true
    return declared


def test_the_smallest_delta_and_alpha_in_rational_arithmetic():
    rng, solved = np.random.default_rng(1), 0
    for test, wanted, coin, _ in QUESTIONS:
        m = int(rng.integers(0, 22))
        rows = {"n": 2, "n_labeled": 2 * m, "n_unlabeled": m}
        for unknown, place in (("delta", 0), ("alpha", 2)):

            def exact(value, place=place, test=test, m=m, coin=coin):
                changed = list(test)
                changed[place] = value
                return exact_power(m, *changed, coin)

            question = {**asked(test, wanted, coin), **rows, unknown: None}
            if exact(1 - 1e-13) < wanted:
                with pytest.raises(ArgumentError, match=f"cannot be reached by any {unknown}"):
                    solve(**question)
                continue
            found, solved = solve(**question), solved + 1
            value = getattr(found, unknown)
            assert found.reached >= wanted
            if value * (1 + 1e-9) < 1:
                assert exact(value * (1 + 1e-9)) >= wanted * (1 - 1e-12)
            if unknown == "alpha" or value > test[1]:
                assert exact(value * (1 - 1e-9)) < wanted
    assert solved > 40


def test_a_plan_inverts_itself():
    """Whatever is left out of a solved plan comes back, or does better."""
    full = solve(n=20, delta=0.1, alpha=0.05, power=0.8, delta_star=0.03, n_unlabeled=30)
    names = ("n_labeled", "n", "delta", "alpha", "power")
    known = {name: getattr(full, name) for name in names}
    for unknown in names:
        found = solve(**{**known, unknown: None}, delta_star=0.03, n_unlabeled=30)
        assert found.solved_for == unknown
        answer = getattr(found, unknown)
        assert answer >= known[unknown] if unknown in ("n", "power") else answer <= known[unknown]
        again = solve(
            **{**known, unknown: answer, "n_labeled": None},
            delta_star=0.03,
            n_unlabeled=30,
        )
        assert again.n_labeled <= found.n_labeled


@pytest.mark.parametrize(
    ("delta", "delta_star", "alpha", "wanted"),
    [
        (0.1, 0.05, 0.05, 0.9),
        (0.01, 0.0099, 0.05, 0.9),  # 860,000 trials
        (0.5, 0.499, 0.05, 0.9),  # steps closer than the rounding of their starts
        (1e-6, 5e-7, 1e-6, 0.99),
        (1e-8, 9e-9, 1e-12, 0.5),  # 7e10 trials
    ],
)
def test_large_answers_are_locally_exact(delta, delta_star, alpha, wanted):
    test = delta, delta_star, alpha
    first = trials_needed(*test, wanted)
    dip = next_missed(test, wanted, first)
    before = np.arange(max(first - 400, 0), first)
    assert power(first, *test) >= wanted > power(before, *test).max()
    assert power(dip - 1, *test) >= wanted > power(dip, *test)
    assert (power(np.arange(first, min(dip, first + 400)), *test) >= wanted).all()
    coin = trials_needed(*test, wanted, randomized=True)
    powers = power([coin, coin - 1], *test, randomized=True)
    assert powers[0] >= wanted > powers[1]
    assert coin <= first


def test_pinned_plans():
    """Also m0 = 14, 29, 59, 299, and the 60 trials of README's neighbours."""
    assert solve(n=100, delta=0.05, alpha=0.05, power=0.9).n_labeled == 5959
    plan = solve(n=100, delta=0.1, alpha=0.05, power=0.9)
    assert (plan.n_labeled, plan.n_trials, plan.n_fits, plan.dips_at) == (2929, 29, 58, None)
    assert solve(n_labeled=1000, delta=0.1, alpha=0.05, power=1.0).n == 33
    # c = 1 from 46 trials on, c = 2 from 61: P(Bin(46, .01) ≤ 1) = .922, (53: .902, 54: .899)
    dipping = solve(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    assert (dipping.n_trials, dipping.n_labeled, dipping.dips_at) == (46, 4646, 54)
    spared = solve(n=100, delta=0.1, alpha=0.05, power=0.9, n_unlabeled=29)
    assert spared.n_labeled == 2900
    replaced = solve(n=100, delta=0.1, alpha=0.05, power=0.9, fresh=1)
    assert replaced.n_labeled == 29 * 102
    assert dipping.ceiling >= dipping.reached == dipping.power_at(0.01)
    assert dipping.to_dict()["n_trials"] == 46


FULL = {"n_labeled": 1000, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 0.9}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "must be left out, and here it is none"),
        ({"n": None, "delta": None}, "here it is n, delta"),
        ({"n_labeled": None, "delta": 0.0}, "delta must be above delta_star = 0: no valid test"),
        ({"n_labeled": None, "delta_star": 0.2}, r"delta must be above delta_star = 0\.2"),
        ({"n_labeled": None, "delta": 1e-14}, "delta must be at least 1e-13"),
        ({"n_labeled": None, "delta_star": 0.05, "power": 1.0}, "power must be below 1"),
        ({"n_labeled": None, "power": 0.0}, r"power must be a number in \(0, 1\], got 0"),
        ({"n": None, "n_labeled": 30}, "n = 2 leaves 10 trials, power 0, and 29 trials are"),
        (
            {"n": None, "power": 0.04, "randomized": True},
            r"power must be above alpha = 0\.05: the coin alone",
        ),
        ({"delta": None, "n_labeled": 100}, "n = 100 needs 101 labelled rows for one trial"),
        (
            {"alpha": None, "delta": 0.95, "delta_star": 0.9, "power": 0.9},
            "with 9 trials all changes are larger with probability 0.3874",
        ),
        ({"n_labeled": None, "n": 10**12, "delta": 1e-9}, "power needs .* labelled rows"),
        ({"n_labeled": None, "n": 2.5}, "n must be a whole number"),
    ],
)
def test_impossible_requests_say_why(changed, message):
    with pytest.raises(ArgumentError, match=message):
        solve(**{**FULL, **changed})


def test_power_may_be_that_of_an_unstable_algorithm():
    found = solve(**{**FULL, "n_labeled": 10_000, "power": None}, delta_star=0.2)
    assert found.power == found.reached == power(99, 0.1, 0.2, 0.05) < 0.05


def test_the_menu_is_what_each_size_can_show():
    lines = menu(3000, 40, delta=0.08, alpha=0.04, power=0.7, n=123)
    assert [line.n for line in lines] == sorted({line.n for line in lines}, reverse=True)
    assert 123 in [line.n for line in lines]
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
    assert menu(1) == []
    (none,) = menu(0, n=5)
    assert none == (5, 0, 0, None, None)


# The averaged test: estimates, and what they must not do.


def test_ceilings_of_shares():
    """Betting all on constant shares: α((1 − s)/(1 − δ))^m reaches 1 exactly at s_c."""
    for m, delta, alpha in [(30, 0.1, 0.05), (100, 0.3, 0.01), (7, 0.02, 0.5)]:
        share = averaged_planning.critical_share(m, delta, alpha)
        assert alpha * ((1 - share) / (1 - delta)) ** m == pytest.approx(1)
        ceiling = averaged_planning.share_ceiling(m, delta, max(share, 0.0), alpha)
        clean = averaged_planning.share_ceiling(m, delta, 0.0, alpha)
        assert ceiling == pytest.approx(min(1.0, clean))
        assert averaged_planning.share_ceiling(m, delta, 0.99, alpha) == alpha
    assert averaged_planning.critical_share(1, 0.5, 1e-300) < -1e299


def test_the_spread_is_that_of_dependent_indicators():
    """E S² / E S for two removals and three points, by adding up all pairs of indicators."""
    q_removal, q_point, q_both = 0.7, 0.4, 0.3
    chance = {(True, True): 1.0, (False, True): q_removal, (True, False): q_point}
    cells = [(i, t) for i in range(2) for t in range(3)]
    pairs = [(a[0] == b[0], a[1] == b[1]) for a in cells for b in cells]
    expected = sum(chance.get(pair, q_both) for pair in pairs) / 36
    assert averaged_planning.spread(2, 3, q_removal, q_point, q_both) == pytest.approx(expected)


def test_estimated_power_rises_smoothly_and_stays_below_the_ceiling():
    """It once jumped to 0 where constant shares have no power, and at whole numbers of trials."""
    for delta, part, alpha, v in [
        (0.1, 0.5, 0.05, 0.3),
        (0.05, 0.3, 0.01, 0.6),
        (0.2, 0.6, 0.1, 0.2),
    ]:
        truth, least = delta * part, int(clean_trials(delta, alpha))
        many = [*range(least, least + 120), *range(least + 120, 400, 20)]
        powers = [averaged_planning.averaged_power(m, delta, truth, alpha, v) for m in many]
        assert (np.diff(powers) >= -1e-12).all()
        assert np.diff(powers).max() < 0.2
        ceilings = [averaged_planning.share_ceiling(m, delta, truth, alpha) for m in many]
        assert (np.array(powers) <= np.array(ceilings)).all()
        assert averaged_planning.averaged_power(least - 1, delta, truth, alpha, v) == 0.0
        enough = averaged_planning.averaged_trials(delta, truth, alpha, 0.8, v)
        assert averaged_planning.averaged_power(enough, delta, truth, alpha, v) >= 0.8
        assert enough >= trials_for_averaging(delta, alpha)
        assert averaged_planning.averaged_power(500, delta, delta, alpha, v) == alpha
        assert averaged_planning.trials_with_spread(delta, delta, alpha, v, 100) == inf


def test_a_plan_estimates_the_averaged_test_only_where_it_is_used():
    """A second test point needs spare rows, and the averaged test 1.4·m0 trials."""
    known = {"delta": 0.1, "alpha": 0.05, "n": 10, "delta_star": 0.05}
    few, many = ({"n_labeled": n, "n_unlabeled": 1000} for n in (400, 1000))
    assert solve(**known, **few).averaged is None
    low, high = solve(**known, **many).averaged
    assert solve(**known, **many).points == 10
    assert solve(**known, **many).power < low < high < 1
    assert solve(**known, n_labeled=1100).averaged is None  # no rows are spare
    assert solve(**known, n_labeled=600, n_unlabeled=9000).points == planning.MOST_POINTS


def test_no_floating_point_error_reaches_users_who_raise_them():
    with np.errstate(all="raise"):
        solve(n=10, delta=1e-12, alpha=1e-12, power=0.99)
        solve(n=10, n_labeled=10**9, delta=0.5, alpha=1e-12, delta_star=1e-9)
        menu(10**9, delta=1e-9)
        averaged_planning.averaged_power(10**6, 0.5, 1e-300, 1e-12, 1e-9)
