"""The averaged test by enumeration: levels, p-values, limits, failures, stopped runs, the coin."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.theory import averaged
from poise.theory.changes import Changes
from poise.theory.martingales import Processes

SUPPORT = np.array([0.0, 0.3, 1.0])


def paths(m: int) -> np.ndarray:
    """All sequences of m shares, a row each."""
    return np.array(list(itertools.product(SUPPORT, repeat=m)))


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


def side_by_side(S: np.ndarray, delta, alpha: float, mirror: bool, m: int = 0) -> Processes:
    """Run one process on each row of shares."""
    processes = Processes(m or S.shape[1], np.broadcast_to(delta, len(S)), alpha, mirror)
    return processes.run(lambda rows, a, b: S[rows, a:b], until=S.shape[1])


def test_stopping_and_going_on_changes_no_digit():
    rng = np.random.default_rng(3)
    S = rng.beta(0.2, 1, 900)
    rows = {"delta": [0.1, 0.2, 0.3, 0.2], "alpha": [0.05, 0.1, 1e-9, 0.05], "mirror": [0, 0, 0, 1]}
    rows["mirror"] = np.array(rows["mirror"], dtype=bool)
    whole = Processes(900, **rows).run(lambda rows, a, b: S[a:b])
    parts = Processes(900, **rows)
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
        found["upper"].append(averaged.averaged_delta_hat(S, ALPHA))
        found["lower"].append(averaged.averaged_delta_lower(S, ALPHA))
        found["early"].append(averaged.averaged_delta_hat(S[:2], ALPHA, n_trials=M))
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


def judge(S, m: int, delta: float, alpha: float, zeta: float = 1.0):
    return averaged.judge(Changes(np.array(S)[:, None], m), None, delta, alpha, zeta)


@pytest.mark.parametrize("delta", [0.15, 0.4])
def test_pvalues_are_valid_at_every_level_and_agree_with_verdicts(delta):
    judged = [judge(S, M, delta, ALPHA) for S in paths(M)]
    p = np.array([(each.pvalue, each.pvalue_unstable) for each in judged])
    verdicts = np.array([each.verdict for each in judged])
    assert ((p[:, 0] <= ALPHA) == (verdicts == "stable")).all()
    stable = verdicts == "stable"
    assert ((p[:, 1] <= ALPHA) == (verdicts == "unstable"))[~stable].all()
    for law, t in itertools.product(laws(delta), (1e-3, 0.02, 0.1, 0.2, ALPHA, 0.5, 0.8)):
        assert (chances(M, law) @ (p <= t) <= t + 1e-12).all()


def test_with_the_coin_the_level_is_alpha_and_the_pvalue_valid_below():
    delta, coins, levels = 0.25, (np.arange(5) + 0.5) / 5, np.array([ALPHA, 0.15, 0.03])
    accepted, small = [], []
    for S in paths(M):
        judged = [judge(S, M, delta, ALPHA, zeta) for zeta in coins]
        accepted.append(judged[0].acceptance_probability)
        p = np.array([[each.pvalue] for each in judged])
        stable = [each.verdict == "stable" for each in judged]
        assert stable == (p[:, 0] <= ALPHA).tolist() == (coins <= accepted[-1]).tolist()
        small.append((p <= levels).mean(axis=0))
    for law in laws(delta):
        chance = chances(M, law)
        assert 0.97 * ALPHA < chance @ accepted <= ALPHA + 1e-12
        assert (chance @ np.array(small) <= levels + 1 / 5).all()


def test_a_stopped_run_keeps_its_verdict_and_its_level():
    """Stop at the first verdict; p stays valid, and p <= alpha exactly if it was stable."""
    m, delta, law = 4, 0.3, laws(0.3)[2]
    seen: dict[tuple[float, ...], float] = {}
    for S, weight in zip(map(tuple, paths(m)), chances(m, law), strict=True):
        used, _ = averaged.verdict(S, delta, ALPHA)
        seen[S[:used]] = seen.get(S[:used], 0.0) + weight
    p = {S: judge(S, m, delta, ALPHA) for S in seen}
    assert all((each.pvalue <= ALPHA) == (each.verdict == "stable") for each in p.values())
    for t in (0.05, 0.15, ALPHA, 0.6):
        assert sum(w for S, w in seen.items() if p[S].pvalue <= t) <= t + 1e-12
    S = np.concatenate([np.full(54, 0.3), np.zeros(46)])  # hardly i.i.d.: both processes reach 1
    assert averaged.verdict(S, 0.2, 0.05) == (54, "unstable")
    assert averaged.verdict(S[:54], 0.2, 0.05, n_trials=100) == (54, "unstable")
    assert averaged.verdict(S[:53], 0.2, 0.05, n_trials=100) == (53, "inconclusive")


def test_the_coin_is_compared_once_and_only_at_the_end():
    S = np.full(20, 0.12)
    u = judge(S, 20, 0.2, 0.05).acceptance_probability
    lucky, unlucky = (judge(S, 20, 0.2, 0.05, zeta) for zeta in (0.9 * u, 1.1 * u))
    assert (lucky.verdict, unlucky.verdict) == ("stable", "inconclusive")
    assert lucky.pvalue <= 0.05 < unlucky.pvalue
    assert judge(S[:15], 20, 0.2, 0.05, zeta=1e-9).verdict == "inconclusive"  # cut short
    # up to trial 6 of 20: neither decided; the mirror alone, while the hedge may accept; all lost
    for share, delta, plain, coin in ((0.12, 0.2, 0, 0), (0.9, 0.1, 1, 0), (1.0, 0.1, 1, 1)):
        processes = averaged.both_ways(20, delta, 0.05)
        processes.run(lambda rows, a, b, share=share: np.full(b - a, share), 6)
        lost = processes.u[0] == 0
        assert averaged.decided(processes) == bool(plain)
        assert averaged.decided(processes, coin=True) == bool(coin and lost)


def table(m: int, size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(0, 1, (m, 1)) * rng.lognormal(0, 0.5, (m, size)), 2)
    values[rng.random((m, size)) < 0.03] = np.nan
    values[0, 0] = np.inf
    return values


def gapless(delta, S: np.ndarray, m: int, alpha: float, mirror: bool = False) -> int:
    """Count the processes that succeed, from the first on, up to the first that does not."""
    failed = side_by_side(S, delta, alpha, mirror, m).reached_at == 0
    return int(np.append(failed, True).argmax())


def test_limits_of_epsilon_are_what_a_walk_of_single_bets_finds():
    for m, planned, delta, alpha, seed in ((40, 40, 0.3, 0.1, 0), (30, 40, 0.2, 0.2, 1)):
        values = table(m, 6, seed)
        steps = np.unique(np.append(values[np.isfinite(values)], 0.0))
        high, low = (np.where(np.isnan(values), each, values) for each in (np.inf, 0.0))
        i = gapless(delta, (high > steps[::-1, None, None]).mean(axis=2), planned, alpha)
        found = averaged.averaged_epsilon_hat(values, delta, alpha, n_trials=planned)
        assert found == steps[::-1][i - 1]
        i = gapless(delta, (low > steps[:, None, None]).mean(axis=2), planned, alpha, mirror=True)
        found = averaged.lower_epsilon(Changes(values, planned), delta, alpha)
        assert found == steps[i]
    every = np.concatenate([10.0 ** np.arange(-300, 300, 7), [0.0, np.inf, 1.23, 1.2301]])
    down, up = (averaged._three_digits(every, down) for down in (True, False))
    assert ((down <= every) & (every <= up)).all()
    assert (down[-4:].tolist(), up[-4:].tolist()) == (
        [0, np.inf, 1.23, 1.23],
        [0, np.inf, 1.23, 1.24],
    )
    few = np.random.default_rng(0).lognormal(0, 1, (66, 30))
    assert averaged.averaged_epsilon_hat(few, 0.3, 0.1) in few  # 1,980 changes are few
    assert averaged.averaged_epsilon_hat(few, 0.3, 0.1, n_trials=67) not in few


def test_trials_that_fail_as_a_whole_leave_no_hole_in_the_walk():
    """Going down from 1 by the hedge alone a failed trial stops it: .35 on average, not .18."""
    rng = np.random.default_rng(7)
    S = np.where(rng.random((12, 45)) < 0.05, 1.0, rng.binomial(20, 0.05, (12, 45)) / 20)
    assert np.mean([averaged.averaged_delta_hat(each, 0.05) for each in S]) < 0.25


def test_shares_with_failures_and_delta_zero():
    nan = np.nan
    changes = Changes(np.array([[0.1, 0.5], [0.2, nan], [nan, nan]]), 3)
    assert changes.shares(0.2).tolist() == [0.5, 0.5, 1]
    assert changes.shares(0.2, failures_exceed=False).tolist() == [0.5, 0, 0]
    assert changes.shares(0.1999).tolist() == [0.5, 1, 1]
    clean, moved = np.zeros(30), np.eye(30)[3] / 40
    assert averaged.verdict(clean, 0.0, 0.05) == (30, "inconclusive")
    assert averaged.verdict(moved, 0.0, 0.05) == (4, "unstable")
    assert judge(clean, 30, 0.0, 0.05, zeta=0.05).verdict == "stable"
    assert averaged.averaged_pvalue_unstable(moved, 0.0, 0.05) < 1e-12
