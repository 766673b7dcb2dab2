"""Whether scikit-learn draws nearly the same bags at n and n − 1 rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poise.algorithms.algorithm import Algorithm
from poise.questions.check.check_report import Finding, Severity
from poise.results import Design

__all__ = ["bags_that_change"]

BAGS = "the same bags at n and n - 1"


def bags_that_change(algorithm: Algorithm, design: Design) -> list[Finding]:
    """Warn of a size at which the two fits of a trial get different bags from the same seed.

    To draw a number below n, the generator takes as many bits as n − 1 has and
    rejects numbers that are too large. If n − 1 is a power of two, n − 2 has one bit
    fewer. Then about half of all draws differ between the two fits of a trial. At
    the neighbouring sizes nearly all draws are the same.
    """
    size = design.n
    if design.n_groups is not None or (size - 1).bit_length() == (size - 2).bit_length():
        return []
    names = sorted({type(part).__name__ for part in _parts(algorithm) if _draws_bags(part)})
    if not names:
        return []
    return [
        Finding(
            BAGS,
            Severity.WARN,
            f"{', '.join(names)}: n - 1 = {size - 1:,} is a power of two, where half of the draws "
            "into its bags change with the number of rows",
            f"ask at n = {size - 1:,} or {size + 1:,}: the larger changes at this n come from "
            "its random generator; or use poise.notions.CoupledBaggingRegressor or Classifier",
        )
    ]


def _parts(algorithm: Algorithm) -> Iterator[Any]:
    """Yield the estimator of an algorithm, and every estimator inside it."""
    estimator = getattr(algorithm, "estimator", None)
    if estimator is None or not hasattr(estimator, "get_params"):
        return
    yield estimator
    yield from estimator.get_params(deep=True).values()


def _draws_bags(part: object) -> bool:
    from_sklearn = type(part).__module__.startswith("sklearn.ensemble")
    return from_sklearn and getattr(part, "bootstrap", False) is True
