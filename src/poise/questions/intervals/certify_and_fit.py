"""Certify on some rows and fit on others; else use jackknife+."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import DataError, PoiseWarning
from poise.protocol.randomness import Randomness
from poise.questions.intervals.usable_certificate import refuse_asymmetry
from poise.questions.stability_test import stability_test
from poise.theory.jackknife_coverage import RuleMiss, certified_miss, jackknife_delta, rule_miss

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
    result : StabilityResult
        The test on the other rows.
    rule : RuleMiss
        Upper bounds for the probability that the whole rule ("certify, else jackknife+")
        misses: one if the algorithm is stable, one if it is not.
    """

    model: JackknifeRegressor
    result: StabilityResult
    rule: RuleMiss


def certify_and_fit(
    model: JackknifeRegressor, X: Any, y: Any, *, n: int, asked: dict[str, Any], **settings: Any
) -> CertifiedFit:
    """Fit n random rows, and test stability at size n on all the others.

    If the test says "stable", the guarantee of the intervals uses this verdict (Theorem J). If
    not, the intervals are those of jackknife+ without a certificate. The guarantee of the rule as
    a whole does not depend on the outcome of the test: see :func:`poise.theory.rule_miss`.

    Parameters
    ----------
    model : JackknifeRegressor
        Unfitted, without a certificate; its ``random_state`` decides the split too.
    X, y : array, data frame, sparse matrix or list
        Labelled rows.
    n : int, at least 2
        Rows that the model is fitted to.
    asked : dict
        ``epsilon``, ``delta`` and ``alpha`` of the test.
    **settings
        Further keywords of :func:`poise.stability_test`.

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
    _before_the_test(model, Sample(features.take(train), responses.take(train)), asked)
    result = stability_test(
        model.estimator,
        features.take(rest),
        responses.take(rest),
        n=rows,
        **asked,
        random_state=model.random_state,
        n_jobs=model.n_jobs,
        **settings,
    )
    # Equal rows may be in both parts. They are different rows, so the digests are not compared.
    certificate = replace(result, tested_rows=None) if result.stable else None
    fitted = clone(model).set_params(certificate=certificate)
    if certificate is None:
        fitted.set_params(method="plus")
    fitted.fit(features.take(train), responses.take(train))
    return CertifiedFit(fitted, result, _rule(model, result))


def _before_the_test(model: JackknifeRegressor, sample: Sample, asked: dict[str, Any]) -> None:
    """Refuse an algorithm that Theorem J does not cover; warn if no certificate could help."""
    algorithm = as_algorithm(model.estimator).prepared(sample)
    refuse_asymmetry(algorithm, sample, model.random_state)
    share, plus = round(1 - float(model.level), 12), model.method == "plus"
    miss = certified_miss(sample.n_labeled, share, asked["delta"], asked["alpha"], plus)
    if miss < 2 * share:
        return
    enough = jackknife_delta(sample.n_labeled, share, min(1.0, 2 * share), plus)
    warnings.warn(
        f"with delta = {asked['delta']:g} Theorem J allows {miss:.3g} misses, and jackknife+ "
        f"without a certificate allows {min(1.0, 2 * share):.3g}: a certificate helps only with "
        f"delta below {enough:.3g} and alpha below {min(1.0, 2 * share):.3g}",
        PoiseWarning,
        stacklevel=3,
    )


def _rule(model: JackknifeRegressor, result: StabilityResult) -> RuleMiss:
    """Bound the probability that the whole rule misses, for a stable algorithm and for others."""
    share = round(1 - float(model.level), 12)
    free = min(share, 0.5)
    if model.method == "plus":  # it contains the interval that misses with P <= 2a
        return RuleMiss(2 * free, 2 * free)
    return rule_miss(result.n, share, result.delta, result.alpha, a_refused=free)
