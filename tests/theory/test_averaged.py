"""The averaged test by enumeration: levels, p-values, limits, failures, stopped runs, the coin."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import averaged, betting, binomial, from_shares
from poise.theory.betting import Bets
from poise.theory.changes import Changes
from poise.theory.sequential import mixture_delta_hat

SUPPORT = np.array([0.0, 0.3, 1.0])


def paths(m: int, support: np.ndarray = SUPPORT) -> np.ndarray:
    """All sequences of m shares, a row each."""
    return np.array(list(itertools.product(support, repeat=m)))


def laws(mean: float) -> list[np.ndarray]:
    """Probabilities of SUPPORT with this mean: from 0/1 data to no share of 1 at all."""
    found = []
    for middle in np.linspace(0, 1, 6):
        one = mean - 0.3 * middle
        if one >= 0 and one + middle <= 1:
            found.append(np.array([1 - one - middle, middle, one]))
    return found


def chances(m: int, law: np.ndarray) -> np.ndarray:
    """The probability of each row of :func:`paths`."""
    return np.array([math.prod(each) for each in itertools.product(law, repeat=m)])


def side_by_side(S: np.ndarray, delta: float, alpha: float, mirror: bool, m: int = 0) -> Bets:
    """Run one process on each row of shares."""
    bets = Bets(m or S.shape[1], np.full(len(S), delta), alpha, mirror)
    return bets.run(lambda rows, a, b: S[rows, a:b], until=S.shape[1])


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize(("delta", "alpha"), [(0.1, 0.05), (0.3, 0.2), (0.5, 0.01), (0.3, 0.6)])
def test_a_bet_has_mean_alpha_at_the_null_and_keeps_its_level(delta, alpha, mirror):
    m = 6
    bets = side_by_side(paths(m), delta, alpha, mirror)
    for law in laws(delta):
        chance = chances(m, law)
        assert chance @ bets.u == pytest.approx(alpha, rel=1e-12)
        assert chance[bets.reached_at > 0].sum() <= alpha
    for further in (0.05, 0.15):
        worse = delta + (-further if mirror else further)
        for law in laws(max(worse, 0.0)):
            assert chances(m, law) @ bets.u <= alpha * (1 + 1e-12)


def test_on_0_and_1_the_bets_are_the_binomial_test():
    rng = np.random.default_rng(0)
    for m, delta, alpha in ((5, 0.3, 0.2), (40, 0.1, 0.05), (127, 0.05, 0.1)):
        S = (rng.random((40, m)) < rng.random((40, 1)) * 3 * delta).astype(float)
        hedge = side_by_side(S, delta, alpha, False)
        exceed = S.sum(axis=1).astype(int)
        chance = binomial.acceptance_probability(exceed, m, delta, alpha)
        np.testing.assert_allclose(hedge.u, chance, atol=1e-8)
        accepted = exceed <= binomial.critical_count(m, delta, alpha)
        assert ((hedge.reached_at > 0) == accepted).all()
        mirror = side_by_side(S, delta, alpha, True)
        unstable = exceed >= binomial.critical_count_unstable(m, delta, alpha)
        assert ((mirror.reached_at > 0) == unstable).all()


def test_fractions_far_beat_the_binomial_test():
    rng = np.random.default_rng(1)
    S = rng.binomial(20, rng.beta(0.25, 4.75, (200, 60))) / 20  # mean .05
    assert (side_by_side(S, 0.1, 0.05, False).reached_at > 0).mean() > 0.45
    assert binomial.power(60, 0.1, 0.05, 0.05) < 0.2


def test_the_fraction_is_held_for_a_64th_of_the_trials_left():
    m = 400
    S = np.random.default_rng(2).beta(0.2, 3, m)
    path = betting.hedge(S, 0.3, 0.001)
    starts, at = [], 0
    while at < m:
        starts.append(at)
        at += max(1, (m - at) // 64)
    renewed = [0, *(np.flatnonzero(np.diff(path.fractions)) + 1)]
    assert set(renewed) <= set(starts)
    assert len(renewed) > 15
    for k in [each for each in starts if each < path.trials_used][:40]:
        u = path.values[k - 1] if k else 0.001
        c = betting.fraction(u, m - k, S[:k].sum(), (S[:k] ** 2).sum(), 0.3)
        assert path.fractions[k] == pytest.approx(c, rel=1e-12)


def test_fractions_at_the_ends():
    assert betting.fraction(1e-250, 2000, 10.0, 5.0, 0.5) == 1  # levels that small have no digits
    assert betting.fraction(1.0, 10, 0.0, 0.0, 0.5) == 0
    # shares so even that one exceedance is worth less than δ: the hedge bets all it has, and the
    # mirror as if they were 0 and 1
    assert betting.fraction(0.01, 50, 6.0, 0.6, 0.3) == 1
    even = betting.fraction(0.01, 50, 6.0, 0.6, 0.3, mirror=True)
    assert even == betting.fraction(0.01, 50, 6.0, 6.0, 0.3, mirror=True) < 1


def test_stopping_and_going_on_changes_no_digit():
    rng = np.random.default_rng(3)
    S = rng.beta(0.2, 1, 900)
    rows = {"delta": [0.1, 0.2, 0.3, 0.2], "alpha": [0.05, 0.1, 1e-9, 0.05], "mirror": [0, 0, 0, 1]}
    rows["mirror"] = np.array(rows["mirror"], dtype=bool)
    whole = Bets(900, **rows).run(lambda rows, a, b: S[a:b])
    parts = Bets(900, **rows)
    while parts.trials < 900:
        stop = min(900, parts.trials + int(rng.integers(1, 40)))
        parts.run(lambda rows, a, b: S[a:b], until=stop)
    for name in ("u", "top", "reached_at", "fraction"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()


# One table of answers for every sequence of four shares, read under many laws.

M, ALPHA = 4, 0.3


@pytest.fixture(scope="module")
def answers() -> dict[str, np.ndarray]:
    found: dict[str, list[float]] = {"upper": [], "lower": [], "early": []}
    for S in paths(M):
        found["upper"].append(from_shares.averaged_delta_hat(S, ALPHA))
        found["lower"].append(from_shares.averaged_delta_lower(S, ALPHA))
        found["early"].append(from_shares.averaged_delta_hat(S[:2], ALPHA, n_trials=M))
    return {name: np.array(values) for name, values in found.items()}


def test_limits_fail_with_probability_at_most_alpha(answers):
    largest = dict.fromkeys(answers, 0.0)
    for truth in np.linspace(0.01, 0.99, 99):
        for law in laws(truth):
            chance = chances(M, law)
            for name, limit in answers.items():
                wrong = limit > truth if name == "lower" else limit < truth
                largest[name] = max(largest[name], chance[wrong].sum())
    assert max(largest.values()) <= ALPHA + 1e-12
    assert largest["upper"] > 0.8 * ALPHA  # a test at half the level would not come near
    assert largest["lower"] > 0.8 * ALPHA


@pytest.mark.parametrize("delta", [0.15, 0.4])
def test_pvalues_are_valid_at_every_level(delta):
    for zeta in (1.0, None):
        both = []
        for S in paths(M):
            judged = averaged.judge(Changes(S[:, None], M), None, delta, ALPHA, zeta or 0.37)
            assert (judged.pvalue <= ALPHA) == (judged.verdict == "stable")
            if judged.verdict != "stable":
                assert (judged.pvalue_unstable <= ALPHA) == (judged.verdict == "unstable")
            both.append((judged.pvalue, judged.pvalue_unstable))
        if zeta is None:
            continue
        for law, t in itertools.product(laws(delta), (1e-3, 0.02, 0.1, 0.2, ALPHA, 0.5, 0.8)):
            chance, p = chances(M, law), np.array(both)
            assert chance[p[:, 0] <= t].sum() <= t + 1e-12
            assert chance[p[:, 1] <= t].sum() <= t + 1e-12


def test_with_the_coin_the_level_is_alpha_and_the_pvalue_uniform_below():
    delta, coins, levels = 0.25, (np.arange(12) + 0.5) / 12, np.array([ALPHA, 0.15, 0.03])
    accepted, stable, small = [], [], []
    for S in paths(M):
        changes = Changes(S[:, None], M)
        judged = [averaged.judge(changes, None, delta, ALPHA, zeta) for zeta in coins]
        accepted.append(judged[0].acceptance_probability)
        stable.append([each.verdict == "stable" for each in judged])
        p = np.array([[each.pvalue] for each in judged])
        assert ((p[:, 0] <= ALPHA) == stable[-1]).all()
        assert stable[-1] == [zeta <= accepted[-1] for zeta in coins]
        small.append((p <= levels).mean(axis=0))
    for law in laws(delta):
        chance = chances(M, law)
        assert 0.97 * ALPHA < chance @ accepted <= ALPHA + 1e-12
        assert (chance @ np.array(small) <= levels + 1 / 12).all()


def test_limits_are_what_a_walk_of_single_bets_finds():
    rng = np.random.default_rng(5)
    for m, planned, alpha in ((30, 30, 0.05), (20, 30, 0.1), (60, 60, 0.2)):
        S = rng.binomial(10, rng.beta(0.5, 3, m)) / 10
        assert mixture_delta_hat(S, alpha) < 0.5
        down = 0.5 / 1.01 ** np.arange(1, 500)
        up = alpha / (2 * planned) * 1.01 ** np.arange(1000)
        i = gapless(down, np.tile(S, (500, 1)), planned, alpha)
        assert from_shares.averaged_delta_hat(S, alpha, n_trials=planned) == pytest.approx(
            down[i - 1]
        )
        i = gapless(up[up < 1], np.tile(S, (1000, 1)), planned, alpha, mirror=True)
        assert from_shares.averaged_delta_lower(S, alpha, n_trials=planned) == pytest.approx(
            up[i - 1]
        )


def gapless(delta, S: np.ndarray, m: int, alpha: float, mirror: bool = False) -> int:
    """Count the bets that succeed, from the first on, up to the first that does not."""
    bets = Bets(m, delta, alpha, mirror).run(lambda rows, a, b: S[rows, a:b], until=S.shape[1])
    failed = np.append(bets.reached_at == 0, True)
    return int(failed.argmax())


def table(m: int, size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(0, 1, (m, 1)) * rng.lognormal(0, 0.5, (m, size)), 2)
    values[rng.random((m, size)) < 0.03] = np.nan
    values[0, 0] = np.inf
    return values


def test_limits_of_epsilon_are_what_a_walk_of_single_bets_finds():
    for m, planned, delta, alpha, seed in ((40, 40, 0.3, 0.1, 0), (30, 40, 0.2, 0.2, 1)):
        values = table(m, 6, seed)
        steps = np.unique(np.append(values[np.isfinite(values)], 0.0))
        high, low = (np.where(np.isnan(values), each, values) for each in (np.inf, 0.0))
        deltas = np.full(steps.size, delta)
        S = (high > steps[::-1, None, None]).mean(axis=2)
        i = gapless(deltas, S, planned, alpha)
        assert 0 < i < steps.size
        found = from_shares.averaged_epsilon_hat(values, delta, alpha, n_trials=planned)
        assert found == steps[::-1][i - 1]
        i = gapless(deltas, (low > steps[:, None, None]).mean(axis=2), planned, alpha, mirror=True)
        assert 0 < i < steps.size
        found = from_shares.averaged_epsilon_lower(values, delta, alpha, n_trials=planned)
        assert found == steps[i]


def test_of_many_changes_limits_of_epsilon_are_rounded_outwards():
    values = np.random.default_rng(0).lognormal(0, 1, (70, 30))
    fine = values * (1 + np.random.default_rng(1).uniform(0, 1e-3, values.shape))
    upper = from_shares.averaged_epsilon_hat(fine, 0.3, 0.1)
    lower = from_shares.averaged_epsilon_lower(fine, 0.3, 0.1)
    assert float(f"{upper:.2e}") == upper  # three digits
    assert float(f"{lower:.2e}") == lower
    few = fine[:66]  # 1,980 changes are few
    assert from_shares.averaged_epsilon_hat(few, 0.3, 0.1) in few
    # in a stopped run the planned number counts
    assert from_shares.averaged_epsilon_hat(few, 0.3, 0.1, n_trials=67) not in few
    every = np.concatenate([values.ravel(), 10.0 ** np.arange(-300, 300, 7), [0.0, np.inf, 1.23]])
    up = averaged._three_digits(every, np.ceil, np.fmax)
    down = averaged._three_digits(every, np.floor, np.fmin)
    assert ((down <= every) & (every <= up)).all()
    assert (up[-3:] == every[-3:]).all()
    assert (up[every < np.inf] <= 1.0101 * down[every < np.inf]).all()


def test_failures_are_exceedances_for_stable_and_none_for_unstable():
    nan = np.nan
    changes = Changes(np.array([[0.1, 0.5], [0.2, nan], [nan, nan], [0.2, -1.0]]), 4)
    assert changes.shares(0.2).tolist() == [0.5, 0.5, 1, 0]
    assert changes.shares(0.2, failures_exceed=False).tolist() == [0.5, 0, 0, 0]
    assert changes.shares(0.1999).tolist() == [0.5, 1, 1, 1]
    failed = Changes(np.full((50, 4), nan), 50)
    judged = averaged.judge(failed, 1.0, 0.1, 0.05)
    assert (judged.verdict, judged.pvalue, judged.pvalue_unstable) == ("inconclusive", 1, 1)
    assert averaged.upper_delta(failed, 1.0, 0.05) == 1
    assert averaged.lower_delta(failed, 1.0, 0.05) == 0
    assert averaged.upper_epsilon(failed, 0.1, 0.05) == math.inf
    assert averaged.lower_epsilon(failed, 0.1, 0.05) == 0
    infinite = Changes(np.full((50, 4), np.inf), 50)
    assert averaged.judge(infinite, 1.0, 0.1, 0.05).verdict == "unstable"
    assert averaged.lower_epsilon(infinite, 0.1, 0.05) == math.inf


def test_trials_that_fail_as_a_whole_leave_no_hole_in_the_walk():
    """Going down from 1 by the hedge alone a failed trial stops it: .35 on average, not .18."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(12):
        S = np.where(rng.random(45) < 0.05, 1.0, rng.binomial(20, 0.05, 45) / 20)
        found.append(from_shares.averaged_delta_hat(S, 0.05))
    assert np.mean(found) < 0.25


def test_a_one_sided_limit_is_never_the_wider_one():
    for seed in range(3):
        changes = Changes(table(25, 4, seed), 30)
        for epsilon, alpha in ((0.3, 0.1), (1.0, 0.3), (3.0, 0.1)):
            low, high = averaged.delta_interval(changes, epsilon, alpha)
            assert low <= averaged.lower_delta(changes, epsilon, alpha)
            assert high >= averaged.upper_delta(changes, epsilon, alpha)
            assert low <= averaged.lower_delta(changes, epsilon, alpha / 2)
            assert high >= averaged.upper_delta(changes, epsilon, alpha / 2)


def test_the_first_bet_to_reach_1_decides():
    S = np.concatenate([np.full(54, 0.3), np.zeros(46)])  # hardly i.i.d.: both bets reach 1
    used, verdict = from_shares.verdict(S, 0.2, 0.05)
    assert verdict == "unstable"
    assert used == 54
    judged = averaged.judge(Changes(S[:, None], 100), None, 0.2, 0.05)
    assert (judged.used, judged.verdict) == (used, verdict)
    prefix = averaged.judge(Changes(S[:used, None], 100), None, 0.2, 0.05)
    assert (prefix.used, prefix.verdict) == (used, verdict)
    assert from_shares.verdict(S[: used - 1], 0.2, 0.05, n_trials=100)[1] == "inconclusive"


def test_a_stopped_run_keeps_its_verdict_and_its_level():
    """Stop at the first verdict; p stays valid, and p <= alpha exactly if it was stable."""
    m, delta, law = 5, 0.3, laws(0.3)[2]
    chance = dict(zip(map(tuple, paths(m)), chances(m, law), strict=True))
    seen: dict[tuple[float, ...], float] = {}
    for S, weight in chance.items():
        used, _ = from_shares.verdict(S, delta, ALPHA)
        seen[S[:used]] = seen.get(S[:used], 0.0) + weight
    small = dict.fromkeys((0.05, 0.15, ALPHA, 0.6), 0.0)
    for S, weight in seen.items():
        judged = averaged.judge(Changes(np.array(S)[:, None], m), None, delta, ALPHA)
        assert (judged.pvalue <= ALPHA) == (judged.verdict == "stable")
        for t in small:
            small[t] += weight * (judged.pvalue <= t)
    assert all(found <= t + 1e-12 for t, found in small.items())
    assert small[ALPHA] > 0.05


def test_the_coin_is_compared_once_and_only_at_the_end():
    S = np.full(20, 0.12)
    whole = Changes(S[:, None], 20)
    u = averaged.judge(whole, None, 0.2, 0.05).acceptance_probability
    assert 0 < u < 1
    assert averaged.judge(whole, None, 0.2, 0.05, zeta=0.9 * u).verdict == "stable"
    assert averaged.judge(whole, None, 0.2, 0.05, zeta=1.1 * u).verdict == "inconclusive"
    tossed = averaged.judge(whole, None, 0.2, 0.05, zeta=0.9 * u)
    assert tossed.pvalue <= 0.05
    assert averaged.judge(whole, None, 0.2, 0.05, zeta=1.1 * u).pvalue > 0.05
    cut_short = Changes(S[:15, None], 20)
    judged = averaged.judge(cut_short, None, 0.2, 0.05, zeta=1e-9)
    assert judged.verdict == "inconclusive"
    assert judged.pvalue > 0.05
    bets = averaged.both_ways(20, 0.2, 0.05).run(lambda rows, a, b: S[a:b], until=15)
    assert not averaged.decided(bets)
    assert not averaged.decided(bets, coin=True)
    mirror_only = averaged.both_ways(20, 0.1, 0.05).run(lambda rows, a, b: np.full(b - a, 0.9), 6)
    assert averaged.decided(mirror_only)
    assert not averaged.decided(mirror_only, coin=True)  # what is left of the hedge may accept
    lost = averaged.both_ways(20, 0.1, 0.05).run(lambda rows, a, b: np.ones(b - a), 6)
    assert averaged.decided(lost, coin=True) == (lost.u[0] == 0)


def test_limits_take_no_coin():
    changes = Changes(table(40, 5, 3), 40)
    assert averaged.upper_delta(changes, 1.0, 0.05, 1e-9) == averaged.upper_delta(
        changes, 1.0, 0.05
    )
    assert averaged.upper_epsilon(changes, 0.2, 0.05, 1e-9) == averaged.upper_epsilon(
        changes, 0.2, 0.05
    )


def test_no_trials_are_never_stable():
    for planned in (0, 20):
        nothing = Changes(np.empty((0, 3)), planned)
        judged = averaged.judge(nothing, 1.0, 0.1, 0.05, zeta=1e-9)
        assert (judged.verdict, judged.pvalue, judged.used) == ("inconclusive", 1, 0)
        assert (judged.acceptance_probability, judged.e_value) == (0.05, 1)
        assert averaged.delta_interval(nothing, 1.0, 0.05) == (0, 1)
        assert averaged.upper_epsilon(nothing, 0.1, 0.05) == math.inf
        assert averaged.lower_epsilon(nothing, 0.1, 0.05) == 0


def test_delta_zero():
    clean, moved = np.zeros(30), np.eye(30)[3] / 40
    assert from_shares.verdict(clean, 0.0, 0.05) == (30, "inconclusive")
    assert from_shares.verdict(moved, 0.0, 0.05) == (4, "unstable")
    judged = averaged.judge(Changes(clean[:, None], 30), None, 0.0, 0.05, zeta=0.05)
    assert (judged.verdict, judged.acceptance_probability) == ("stable", 0.05)
    assert from_shares.averaged_pvalue_unstable(moved, 0.0, 0.05) < 1e-12
    assert from_shares.averaged_pvalue(clean, 0.0, 0.05) == 1


def test_the_profile_holds_everywhere_at_a_share_of_the_level():
    changes = Changes(table(80, 5, 4), 80)
    levels = (0.1, 0.2, 0.4)
    steps, upper = averaged.profile(changes, 0.09, levels)
    each = [averaged.upper_epsilon(changes, delta, 0.03) for delta in levels]
    assert steps.tolist() == sorted({0.0, *(e for e in each if e < math.inf)})
    assert (np.diff(upper) < 0).all()
    for epsilon in (0.0, 1.0, 2.0, 5.0, 1e9):
        holds = [d for d, e in zip(levels, each, strict=True) if e <= epsilon]
        assert upper[np.searchsorted(steps, epsilon, side="right") - 1] == min(holds, default=1)


def test_all_in_reaches_the_ceiling():
    m, delta, alpha = 3, 0.2, 0.1
    values = np.array([betting.all_in(S, delta, alpha) for S in paths(m)])
    for mean in (0.05, 0.2):
        for law in laws(mean):
            ceiling = alpha * ((1 - mean) / (1 - delta)) ** m
            assert chances(m, law) @ values == pytest.approx(ceiling, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: from_shares.verdict([0.1, 1.2], 0.1, 0.05),
            r"S must be a number in \[0, 1\], got 1.2",
        ),
        (lambda: betting.hedge([[0.1]], 0.1, 0.05), "S must be a list of shares"),
        (lambda: betting.hedge([0.1], 0.1, 0.05, n_trials=0), "n_trials must be at least .* got 0"),
        (lambda: from_shares.averaged_delta_hat([0.1], 1.0), "alpha must be"),
        (
            lambda: from_shares.averaged_epsilon_hat([[0.1], []], 0.1, 0.05),
            "changes must hold at least one",
        ),
        (
            lambda: from_shares.averaged_epsilon_hat([[-0.1]], 0.1, 0.05),
            "changes must hold at least one",
        ),
        (lambda: from_shares.averaged_epsilon_hat(3.0, 0.1, 0.05), "changes must hold an entry"),
        (lambda: from_shares.averaged_pvalue([0.1], 0.1, 0.05, zeta=2), "zeta must be"),
        (lambda: betting.fraction(-0.1, 3, 0, 0, 0.1), "u must be a finite number >= 0"),
    ],
)
def test_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
