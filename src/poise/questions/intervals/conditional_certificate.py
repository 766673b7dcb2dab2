"""Which certificates about one training set the jackknife accepts."""

from __future__ import annotations

import warnings

from poise.algorithms.algorithm import Algorithm
from poise.arguments import without_addresses
from poise.data.sample import Sample
from poise.data.used_rows import digest_of_rows
from poise.errors import ArgumentError, PoiseWarning
from poise.questions.intervals.usable_certificate import DIFFERENCES
from poise.results.conditional_result import ConditionalResult

__all__ = ["require_same_training_set"]


def require_same_training_set(
    result: ConditionalResult, method: str, algorithm: Algorithm, sample: Sample
) -> None:
    """Refuse a certificate that is not about the intervals to be computed.

    The bound a + γ + max{δ, α} is for the jackknife, and for exactly these training rows.

    Parameters
    ----------
    result : ConditionalResult
        The certificate.
    method : str
        The interval that is asked for.
    algorithm : Algorithm
        The algorithm that will be fitted.
    sample : Sample
        The training rows.
    """
    design = result.design
    certified, run = map(without_addresses, (design.algorithm, algorithm.name))
    same_rows = design.training_digest == digest_of_rows(sample.X, sample.y)
    refusals = {
        f"must have the verdict 'stable', got {result.verdict.value!r}": not result.stable,
        "is for method='jackknife': it says nothing about jackknife+": method != "jackknife",
        f"must be of notion='jackknife', got {design.notion!r}": design.notion != "jackknife",
        "needs a tolerated share: test with gamma=...": result.gamma is None,
        f"measures changes by {design.distance}, and intervals need the absolute difference": (
            design.distance not in DIFFERENCES
        ),
        f"is about {certified}, and the estimator is {run}": certified != run,
        "is about other training rows than X and y": not same_rows,
    }
    for reason, refused in refusals.items():
        if refused:
            raise ArgumentError(
                f"the certificate {reason}; test again with poise.conditional_test(..., "
                "notion='jackknife', gamma=...) on these rows, or leave the certificate out"
            )
    for warning in result.warnings:
        warnings.warn(f"the certificate has a warning: {warning}", PoiseWarning, stacklevel=5)
