"""E-process and confidence sequence: 40-digit references, exact identities, Ville's bound."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory.e_process import confidence_sequence, e_value, log_e_value


def by_quadrature(b, t, delta):
    """The definition, integrated at 40 digits."""
    with mpmath.workdps(40):
        d = mpmath.mpf(delta)
        likelihood = lambda q: (q / d) ** b * ((1 - q) / (1 - d)) ** (t - b)  # noqa: E731
        return mpmath.quad(likelihood, mpmath.linspace(0, d, 9)) / d


@pytest.mark.parametrize(
    ("b", "t", "delta"),
    [
        (0, 0, 0.3),
        (0, 60, 0.1),
        (3, 3, 0.5),
        (7, 20, 0.9),
        (5, 100, 0.1),
        (1, 2, 0.999),
        (60, 90, 0.2),
    ],
)
def test_definition(b, t, delta):
    assert e_value(b, t, delta) == pytest.approx(float(by_quadrature(b, t, delta)), rel=1e-12)


@pytest.mark.parametrize(
    ("b", "t", "delta"),
    [
        (3, 10**6, 1e-9),
        (900, 1000, 0.1),  # tail 1e-680: continued fraction
        (500_000, 10**6, 0.1),
        (100_000, 10**6, 0.11),
        (10**6, 10**9, 0.00101),
        (10**6, 10**9, 0.0009),
        (40, 10**9, 1e-9),
    ],
)
def test_large_arguments(b, t, delta):
    with mpmath.workdps(40):
        d = mpmath.mpf(delta)
        series = mpmath.hyp2f1(1, t + 2, b + 2, d, maxterms=10**7)
        reference = mpmath.log((1 - d) / (b + 1) * series)
    assert log_e_value(b, t, delta) == pytest.approx(float(reference), rel=1e-11)


def test_edges():
    assert e_value(0, 0, 0.4) == pytest.approx(1)
    assert e_value(4, 9, 0.0) == pytest.approx(1 / 5)  # the limit as delta falls to 0
    assert e_value(6, 6, 0.7) == pytest.approx(1 / 7)
    assert e_value(0, 10**6, 0.5) == np.inf
    assert isinstance(e_value(1, 3, 0.2), float)
    assert e_value([[1], [2]], [3, 4, 5], 0.2).shape == (2, 3)


@given(st.integers(0, 400), st.data(), st.floats(1e-6, 0.99))
@settings(max_examples=300, deadline=None)
def test_one_step_expectation(t, data, delta):
    b = data.draw(st.integers(0, t))
    now, hit, spared = e_value([b, b + 1, b], [t, t + 1, t + 1], delta)
    assert delta * hit + (1 - delta) * spared == pytest.approx(now, rel=1e-9)
    worse = (1 + delta) / 2
    assert worse * hit + (1 - worse) * spared <= now * (1 + 1e-9)


def test_confidence_sequence_inverts_the_e_process():
    """At 1500 places at once: small and large, with no exceedance and with nothing else."""
    rng = np.random.default_rng(3)
    t = np.r_[1, 1, 2, 2000, 2000, rng.integers(1, rng.choice([5, 60, 2001], 1495))]
    b = np.r_[0, 1, 1, 0, 2000, rng.binomial(t[5:], rng.choice([0.0, 0.05, 0.5, 0.97, 1.0], 1495))]
    alpha = np.r_[0.05, 0.05, 1e-9, 0.99, 0.5, 10 ** rng.uniform(-9, np.log10(0.99), 1495)]
    limit = confidence_sequence(b, t, alpha)
    alone = [confidence_sequence(b[i], t[i], alpha[i]) for i in range(9)]
    assert alone == limit[:9].tolist()
    assert ((b / t <= limit) & (limit <= 1)).all()
    assert (limit[b == t] == 1).all()
    inside = (b < t) & (limit < 1 - 1e-9)
    assert inside.sum() > 1000
    b, t, alpha, limit = b[inside], t[inside], alpha[inside], limit[inside]
    assert (e_value(b, t, limit * (1 - 1e-9)) < 1 / alpha).all()
    assert (e_value(b, t, limit * (1 + 1e-9)) > 1 / alpha).all()


def test_a_billion_clean_trials():
    # B = 0: E = ((1-d)^-(t+1) - 1)(1-d)/(d(t+1)), about (e^x - 1)/x with x = d t
    root = mpmath.findroot(lambda x: mpmath.expm1(x) / x - 20, 4.5)
    assert confidence_sequence(0, 10**9, 0.05) == pytest.approx(float(root) * 1e-9, rel=1e-7)


def test_ville_bound_at_the_boundary_of_the_null():
    alpha, delta, horizon, paths = 0.1, 0.2, 1_000, 10_000
    rng = np.random.default_rng(11)
    # E_t falls as B grows, and is at most 1 from B = delta t on: no larger count is needed
    t, b = np.arange(1, horizon + 1), np.arange(int(delta * horizon) + 1)[:, None]
    evidence = log_e_value(np.minimum(b, t), t, delta)
    assert (evidence[-1] <= 0).all()
    rejects = np.count_nonzero((evidence >= -np.log(alpha)) & (b <= t), axis=0) - 1
    crossed = 0
    for _ in range(paths // 1000):
        counts = np.cumsum(rng.random((1000, horizon)) < delta, axis=1)
        crossed += np.count_nonzero((counts <= rejects).any(axis=1))
    # 4.9 sigma above alpha: false alarm 5e-7
    assert crossed < paths * alpha + 4.9 * np.sqrt(paths * alpha * (1 - alpha))
    # and the bound is not idle: an e-process for some other delta would miss this window
    assert crossed > 0.3 * paths * alpha


def test_stable_algorithms_are_recognised():
    counts = np.cumsum(np.random.default_rng(5).random((200, 500)) < 0.02, axis=1)
    evidence = e_value(counts, np.arange(1, 501), 0.1)
    # P(no rejection in 500 trials) is far below 1e-9 for each path
    assert (evidence.max(axis=1) >= 20).all()


def test_messages():
    with pytest.raises(ArgumentError, match="exceedances must be at most trials, got 4 of 3"):
        e_value([1, 4], [3, 3], 0.1)
    with pytest.raises(ArgumentError, match=r"delta must be in \[0, 1\), got 1"):
        log_e_value(0, 3, 1.0)
    with pytest.raises(ArgumentError, match=r"alpha must be in \(0, 1\), got 0"):
        confidence_sequence(0, 3, 0.0)
