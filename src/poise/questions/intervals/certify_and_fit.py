"""Certify on some rows and fit on others; else use jackknife+."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.arguments.decimal_noise import complement, without_noise
from poise.arguments.printed_numbers import at_least, at_most, exactly
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import ArgumentError, DataError, PoiseWarning
from poise.protocol.randomness import Randomness
from poise.questions.conditional.conditional_test import conditional_test
from poise.questions.intervals.usable_certificate import refuse_asymmetry
from poise.questions.stability_test import stability_test
from poise.results.conditional_result import ConditionalResult
from poise.theory.jackknife_coverage import (
    RuleMiss,
    certified_miss,
    certified_miss_given_data,
    jackknife_delta,
    rule_miss,
)

if TYPE_CHECKING:
    from poise.questions.intervals.jackknife_regressor import JackknifeRegressor
    from poise.results.stability_result import StabilityResult

__all__ = ["CertifiedFit", "certify_and_fit"]


@dataclass(frozen=True)
class CertifiedFit:
    """What :func:`certify_and_fit` returns.

    Attributes
    ----------
    model : JackknifeRegressor
        The fitted model, with a certificate if the test says "stable".
    result : StabilityResult or ConditionalResult
        The test on the other rows, of the algorithm or of the rows that were fitted.
    rule : RuleMiss
        Upper bounds for the probability that the whole rule ("certify, else jackknife+")
        misses: one if the algorithm is stable, one if it is not.
    """

    model: JackknifeRegressor
    result: StabilityResult | ConditionalResult
    rule: RuleMiss


def certify_and_fit(
    model: JackknifeRegressor, X: Any, y: Any, *, n: int, asked: dict[str, Any], **settings: Any
) -> CertifiedFit:
    """Fit n random rows, and test stability with all the others.

    The test is about the algorithm at size n (:func:`poise.stability_test`) or, with a tolerated
    share γ, about the n rows themselves (:func:`poise.conditional_test`), for which every other
    row is a trial. If it says "stable", the guarantee of the intervals uses this verdict
    (Theorem J). If not, the intervals are those of jackknife+ without a certificate. The
    guarantee of the rule as a whole does not depend on the outcome of the test: see
    :func:`poise.theory.rule_miss`; with γ it is the sum of both bounds.

    Parameters
    ----------
    model : JackknifeRegressor
        Unfitted, without a certificate; its ``random_state`` decides the split too.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    n : int, at least 2
        Rows that the model is fitted to.
    asked : dict
        ``epsilon``, ``delta`` and ``alpha`` of the test; ``gamma`` for a test of these rows, with
        the jackknife only.
    **settings
        Further keywords of the test.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from poise import JackknifeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = X @ [1.0, 2.0] + rng.normal(size=2000)
    >>> made = certify_and_fit(
    ...     JackknifeRegressor(Ridge(), "jackknife", 0.7, random_state=0), X, y, n=20,
    ...     asked={"epsilon": 1.0, "delta": 0.05, "alpha": 0.05},
    ... )
    >>> made.result.verdict.value, made.model.guarantee_.has_certificate
    ('stable', True)
    >>> [round(miss, 3) for miss in made.rule]
    [0.6, 0.62]
    """
    from sklearn.base import clone

    features, responses = as_table(X, "X"), as_table(y, "y")
    rows = arguments.training_size(n)
    if len(features) <= rows:
        raise DataError(
            f"n must be below the number of rows, {len(features):,}, got {rows:,}: the test of "
            "stability needs rows of its own"
        )
    order = (
        Randomness.from_state(model.random_state)
        .generator("fit or test")
        .permutation(len(features))
    )
    train, rest = np.sort(order[:rows]), np.sort(order[rows:])
    fitted_rows = features.take(train), responses.take(train)
    _before_the_test(model, Sample(*fitted_rows), asked)
    how = {"random_state": model.random_state, "n_jobs": model.n_jobs, **asked, **settings}
    result = _tested(model, fitted_rows, (features.take(rest), responses.take(rest)), how)
    certificate = result if result.stable else None
    fitted = clone(model).set_params(certificate=certificate)
    if certificate is None:
        fitted.set_params(method="plus")
    fitted.fit(*fitted_rows)
    return CertifiedFit(fitted, result, _rule(model, result))


def _tested(
    model: JackknifeRegressor,
    fitted_rows: tuple[Any, Any],
    others: tuple[Any, Any],
    how: dict[str, Any],
) -> StabilityResult | ConditionalResult:
    """Test the algorithm at this size or, with γ, these rows; all others are for the test."""
    if how.get("gamma") is not None:
        return conditional_test(
            model.estimator, *fitted_rows, *others, notion="jackknife", fast=model.fast, **how
        )
    plain = {name: value for name, value in how.items() if name != "gamma"}
    result = stability_test(model.estimator, *others, n=len(as_table(fitted_rows[1], "y")), **plain)
    # Equal rows may be in both parts. They are different rows, so the digests are not compared.
    return replace(result, tested_rows=None)


def _before_the_test(model: JackknifeRegressor, sample: Sample, asked: dict[str, Any]) -> None:
    """Refuse an algorithm that Theorem J does not cover; warn if no certificate could help."""
    algorithm = as_algorithm(model.estimator).prepared(sample)
    refuse_asymmetry(algorithm, sample, model.random_state)
    share, plus = complement(model.level), model.method == "plus"
    gamma, free = asked.get("gamma"), min(1.0, 2 * complement(model.level))
    if gamma is not None:
        if plus:
            raise ArgumentError(
                f"gamma must be None for method='plus', got {gamma}: a certificate about one "
                "training set says nothing about jackknife+; use method='jackknife'"
            )
        miss = certified_miss_given_data(share, gamma, asked["delta"], asked["alpha"])
        remedy = f"gamma + max(delta, alpha) below {at_least(without_noise(free - share))}"
    else:
        miss = certified_miss(sample.n_labeled, share, asked["delta"], asked["alpha"], plus)
        enough = jackknife_delta(sample.n_labeled, share, free, plus)
        remedy = f"delta below {at_least(without_noise(enough))} and alpha below {at_least(free)}"
    if miss >= free:
        warnings.warn(
            f"with delta = {exactly(asked['delta'])} Theorem J allows misses "
            f"with probability {at_most(without_noise(miss))}, "
            f"and jackknife+ without a certificate {at_most(free)}: "
            f"a certificate helps only with {remedy}",
            PoiseWarning,
            stacklevel=3,
        )


def _rule(model: JackknifeRegressor, result: StabilityResult | ConditionalResult) -> RuleMiss:
    """Bound the probability that the whole rule misses, for a stable algorithm and for others."""
    share = complement(model.level)
    free = min(share, 0.5)
    if model.method == "plus":  # it contains the interval that misses with P <= 2a
        return RuleMiss(2 * free, 2 * free)
    gamma = result.gamma if isinstance(result, ConditionalResult) else None
    if gamma is not None:  # certified and missed, or refused and missed
        given = float(certified_miss_given_data(share, gamma, result.delta, result.alpha))
        return RuleMiss(*[min(1.0, given + 2 * free)] * 2)
    return rule_miss(result.n, share, result.delta, result.alpha, a_refused=free)
