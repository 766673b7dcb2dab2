"""Stability as a unit test: ``assert_stable`` for pytest and for CI gates."""

from __future__ import annotations

from typing import Any, Unpack

from poise.protocol.randomness import RandomStateLike
from poise.questions.settings import StabilityTestSettings
from poise.questions.stability_test import stability_test
from poise.results import StabilityResult
from poise.results.ledger_note import passes
from poise.results.relative_epsilon import Relative

__all__ = ["assert_stable"]


def assert_stable(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: int,
    epsilon: float | str | Relative,
    delta: float,
    alpha: float = 0.05,
    random_state: RandomStateLike = 0,
    **settings: Unpack[StabilityTestSettings],
) -> StabilityResult:
    """Pass if the algorithm is declared (ε, δ)-stable at n; else fail with the full summary.

    It runs the test of :func:`poise.stability_test`: P(passes) ≤ α for an algorithm that is
    not (ε, δ)-stable. "inconclusive" fails too, because it does not show stability;
    the message says whether the verdict was "unstable" or "inconclusive", and what
    would give a clear verdict.

    The seed is fixed, so that the same code and data always pass or always
    fail. A small α says nothing about how often a stable algorithm fails: for that,
    plan the number of rows with :func:`poise.plan`. The guarantee does not hold for
    an algorithm that was revised until it passed: each revision that is tested on
    the same rows can pass wrongly with probability α. A ``ledger`` counts them: then it passes
    only if "stable" holds together with all verdicts on these rows.

    Parameters
    ----------
    algorithm, X, y, n, epsilon, delta, alpha, random_state, **settings
        As in :func:`poise.stability_test`.

    Returns
    -------
    StabilityResult
        For further assertions.

    Examples
    --------
    >>> from poise.testing import assert_stable
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> result = assert_stable(Ridge(), X, y, n=10, epsilon=25, delta=0.2)
    >>> assert_stable(LinearRegression(), X, y, n=12, epsilon=25, delta=0.2)
    Traceback (most recent call last):
    AssertionError: UNSTABLE: LinearRegression() is declared not to be (25, 0.2)-stable ...
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not this one
    result = stability_test(
        algorithm,
        X,
        y,
        n=n,
        epsilon=epsilon,
        delta=delta,
        alpha=alpha,
        random_state=random_state,
        **settings,
    )
    if not passes(result):
        raise AssertionError(result.summary())
    return result
