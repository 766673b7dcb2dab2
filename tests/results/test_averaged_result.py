"""The verdict of the averaged test and its limits say the same, wherever a run stops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from poise.results import AveragedResult, Outcome, Trials


def _run(rng: np.random.Generator) -> Trials:
    """Return trials of random size and law, some with failures, some cut short."""
    m, R, T = int(rng.integers(1, 40)), int(rng.integers(1, 3)), int(rng.integers(2, 5))
    changes = rng.exponential(size=(m, R, T)) * rng.exponential(size=(m, 1, 1))
    changes *= rng.choice([0.2, 1.0, 5.0])
    changes[rng.uniform(size=changes.shape) < rng.choice([0.0, 0.05])] = np.nan
    changes[rng.uniform(size=changes.shape) < 0.01] = np.inf
    whole = Trials.from_changes(changes, n=5, random_state=int(rng.integers(1000)))
    return replace(whole, changes=changes[: int(rng.integers(0, m + 1))])


@pytest.mark.parametrize("randomized", [False, True])
def test_verdict_and_limits_say_the_same_wherever_a_run_stops(randomized: bool) -> None:
    rng = np.random.default_rng(5)
    verdicts = set()
    for _ in range(200):
        trials = _run(rng)
        epsilon, delta = float(rng.uniform(0, 2)), float(rng.choice([0.05, 0.2, 0.5]))
        r = trials.test(epsilon, delta, 0.1, randomized)
        assert isinstance(r, AveragedResult)
        verdicts.add(r.verdict)
        assert r.stable == (r.delta_hat <= delta) == (r.epsilon_hat <= epsilon)
        low, high = r.delta_interval
        assert 0 <= low <= high <= 1
        if not randomized:
            assert (r.verdict == Outcome.UNSTABLE) <= (r.delta_lower >= delta)
            assert (r.delta_lower >= delta) == (r.epsilon_lower > epsilon)
            assert r.stable == (bool(r.trajectory) and max(r.trajectory) >= 1 - 1e-9)
        assert not r.stable or r.printed_delta_hat >= delta
        assert r.verdict != Outcome.UNSTABLE or r.printed_delta_lower <= delta
    assert {Outcome.STABLE, Outcome.UNSTABLE, Outcome.INCONCLUSIVE} <= verdicts


def test_words_and_facts_name_test_share_and_both_numbers_of_failures() -> None:
    changes = np.full((40, 1, 4), 0.1)
    changes[:4, 0, 0], changes[5, 0, 1] = np.nan, 0.9
    result = Trials.from_changes(changes, n=5, failures=["singular"] * 4).test(0.5, 0.2)
    assert isinstance(result, AveragedResult)
    assert (result.statistic, result.n_moved) == (1.25, 0.25)
    facts = result.facts()
    assert facts["test"] == "averaged over 1 removal and 4 points a trial"
    assert facts["mean share"] == "0.00625"
    text = result.summary()
    assert "4 trials failed at least in part" in text
    assert "the share of its 4 points" in text
    assert text.startswith("STABLE")
    assert "begun with 0.05, stands at 1" in text


def test_the_coin_is_tossed_once_at_the_end() -> None:
    changes = np.full((6, 1, 2), 0.1)
    whole = Trials.from_changes(changes, n=5, random_state=0)
    low = replace(whole, design=replace(whole.design, zeta=0.01))
    assert low.test(0.5, 0.2, 0.1, randomized=True).stable
    assert not replace(low, changes=changes[:3]).test(0.5, 0.2, 0.1, randomized=True).stable


def test_facts_speak_of_shares_and_count_in_words() -> None:
    trials = Trials.from_changes([[[0.1, 0.9]]] * 9, n=5)
    result = trials.test(0.5, 0.1)
    assert result.facts()["mean share"] == "0.5"
    assert trials.facts()["a trial has"] == "1 removal, 2 points"
