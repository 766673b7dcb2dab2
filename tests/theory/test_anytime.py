"""The open-ended test of a table of changes: what a monitor says, at every look."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.theory import anytime, confidence_sequence, open_ended
from poise.theory.changes import Changes


def tables():
    rng = np.random.default_rng(3)
    for m, width in ((0, 1), (1, 1), (9, 1), (40, 1), (40, 6), (150, 2)):
        for scale in (0.2, 0.8):
            values = np.round(rng.gamma(0.5, scale, (m, width)), 2)
            values[rng.random((m, width)) < 0.03] = np.nan
            yield Changes(values, m)


def test_verdicts_p_values_and_limits_are_those_of_the_process_at_every_time():
    verdicts = set()
    for seen, delta, alpha in itertools.product(tables(), (0.0, 0.2, 0.6), (0.05, 0.4)):
        S, low = seen.shares(0.5), seen.shares(0.5, failures_exceed=False)
        process = open_ended(S, delta, alpha, low)
        judged = anytime.judge(seen, 0.5, delta, alpha)
        assert judged.verdict == process.verdict
        verdicts.add(judged.verdict)
        for p, log_e in (
            (judged.pvalue, process.log_e),
            (judged.pvalue_unstable, process.log_e_unstable),
        ):
            assert p == pytest.approx(math.exp(-log_e.max(initial=0)), rel=1e-8)
            assert (p <= alpha) == (log_e.max(initial=0) >= math.log((1 - 1e-9) / alpha))
        if len(S):
            assert judged.e_value == pytest.approx(math.exp(process.log_e[-1]))
            _, lower, upper = confidence_sequence(S, alpha, low)
            assert anytime.upper_delta(seen, 0.5, alpha) == pytest.approx(upper[-1], abs=1e-9)
            assert anytime.lower_delta(seen, 0.5, alpha) == pytest.approx(lower[-1], abs=1e-9)
    assert verdicts == {"stable", "unstable", "inconclusive"}
    nothing = Changes(np.empty((0, 1)), 0)
    assert anytime.upper_delta(nothing, 0.5, 0.05) == 1
    assert anytime.lower_delta(nothing, 0.5, 0.05) == 0


def test_limits_of_epsilon_are_where_the_verdicts_change():
    for seen, (delta, alpha) in itertools.product(tables(), ((0.2, 0.05), (0.5, 0.4))):
        known = np.where(np.isnan(seen.values), 0, seen.values)
        steps = np.unique(np.append(known, 0.0))
        asked = [anytime.judge(seen, e, delta, alpha) for e in steps]
        stable = [e for e, each in zip(steps, asked, strict=True) if each.pvalue <= alpha]
        kept = [e for e, each in zip(steps, asked, strict=True) if each.pvalue_unstable > alpha]
        assert anytime.upper_epsilon(seen, delta, alpha) == min(stable, default=math.inf)
        assert anytime.lower_epsilon(seen, delta, alpha) == min(kept, default=math.inf)
        ends, limits = anytime.profile(seen, alpha)
        for level in {*limits.tolist()} - {1.0}:
            first = min(e for e, d in zip(ends, limits, strict=True) if d <= level)
            assert first == anytime.upper_epsilon(seen, level, alpha / 8)


def test_the_fewest_clean_trials():
    for delta, alpha in itertools.product((0.01, 0.1, 0.5, 0.9), (0.01, 0.05, 0.5)):
        t = int(anytime.clean_trials(delta, alpha))
        assert open_ended(np.zeros(2 * t), delta, alpha).decided_at == t
    assert (anytime.clean_trials(0.1, 0.05), anytime.clean_trials(0.0, 0.05)) == (43, math.inf)
