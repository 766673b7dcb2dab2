"""Which certificates Theorem J accepts, and why it refuses the others.

The theorem is about one algorithm at one training size. The algorithm must be pointwise
symmetric, all fits use the same random term, one row is removed, and predictions are compared
by their difference. Any other certificate says nothing about these intervals and is refused
before the first fit.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poise.algorithms.algorithm import Algorithm
from poise.arguments import counted, without_addresses
from poise.arguments.printed_numbers import at_most
from poise.data.sample import Sample
from poise.errors import ArgumentError, PoiseWarning
from poise.protocol.randomness import RandomStateLike
from poise.questions.check.symmetry import reordering_change
from poise.results.stability_result import StabilityResult

if TYPE_CHECKING:
    from poise.results.design import Design

__all__ = ["DIFFERENCES", "UsableCertificate", "refuse_asymmetry"]

DIFFERENCES = ("absolute", "euclidean")  # for single numbers these are the same
_REMEDY = "test again with poise.stability_test, or leave the certificate out"


@dataclass(frozen=True)
class UsableCertificate:
    """A verdict "stable" for exactly the algorithm and the training size of the intervals.

    Parameters
    ----------
    given : object
        What the user gave as certificate.
    algorithm : Algorithm
        The algorithm that will be fitted.
    sample : Sample
        The rows that it will be fitted to.
    """

    given: Any
    algorithm: Algorithm
    sample: Sample

    def result(self, random_state: RandomStateLike = None) -> StabilityResult:
        """Return the result, or raise an error that says why; costs three fits of half the rows."""
        result = _stable_result(self.given)
        self._refuse_notion(result.design)
        self._refuse_algorithm(result.design)
        self._refuse_rows(result)
        refuse_asymmetry(self.algorithm, self.sample, random_state)
        for warning in result.warnings:
            warnings.warn(f"the certificate has a warning: {warning}", PoiseWarning, stacklevel=4)
        return result

    def _refuse_notion(self, design: Design) -> None:
        if design.n_groups is not None:
            raise _refusal("is about groups of rows, and Theorem J removes single rows")
        if design.replace or design.remove != 1:
            what = "replaces rows" if design.replace else f"removes {design.remove} rows"
            raise _refusal(f"{what}, and Theorem J removes one")
        if design.labeled_test:
            raise _refusal("is about losses, and Theorem J is about predictions")
        if design.coupling != "shared":
            raise _refusal(
                f"is for {design.coupling} random terms, and all fits of a jackknife share one"
            )
        if design.distance not in DIFFERENCES:
            raise _refusal(
                f"measures changes by {design.distance}, and intervals need the absolute difference"
            )

    def _refuse_algorithm(self, design: Design) -> None:
        certified, run = map(without_addresses, (design.algorithm, self.algorithm.name))
        if certified != run:
            raise _refusal(f"is about {certified}, and the estimator is {run}")
        n = self.sample.n_labeled
        if design.n != n:
            raise _refusal(
                f"is about {counted(design.n, 'training row')}, and there are {n:,}",
                f"fit on {design.n:,} rows, or test with n={n}",
            )

    def _refuse_rows(self, result: StabilityResult) -> None:
        """Refuse training rows that were used for the certificate, as far as digests tell."""
        used = result.tested_rows
        if used is None:
            return
        if used.fit_params:
            raise _refusal(
                f"is about fits with {', '.join(used.fit_params)}, and these are without"
            )
        again = used.find(self.sample.X.native, self.sample.y.native)
        if len(again) > used.most_by_chance(self.sample.n_labeled):
            raise _refusal(
                f"was obtained from {counted(len(again), 'row')} of X (row {again[0]}, counting "
                "from 0, is one), and Theorem J needs other rows",
                "fit on rows that the test has not seen",
            )


def refuse_asymmetry(algorithm: Algorithm, sample: Sample, random_state: RandomStateLike) -> None:
    """Refuse an algorithm whose model depends on the order of the rows; three fits of half."""
    from poise.algorithms.stabilized.ensemble import Stabilized

    if isinstance(getattr(algorithm, "estimator", None), Stabilized):
        raise _refusal(
            "cannot be used for an average over random bags, which depends on the order of the "
            "rows: Theorem J needs the same model whatever their order",
            "leave it out: jackknife+ without a certificate covers this algorithm",
        )
    rows = sample.X.native, sample.y.native
    change = reordering_change(algorithm, *rows, random_state=random_state)
    if change > 0:
        raise _refusal(
            f"cannot be used for {algorithm.name}: the order of the rows changes its predictions "
            f"(by up to {at_most(change)}) with one random term, and Theorem J needs the "
            "same model whatever their order",
            "leave it out: jackknife+ without a certificate covers algorithms whose law "
            "ignores the order",
        )


def _stable_result(given: Any) -> StabilityResult:
    if not isinstance(given, StabilityResult):
        raise ArgumentError(
            "certificate must be the StabilityResult of poise.stability_test, or None, got "
            f"{type(given).__name__}: only a result says which algorithm was tested"
        )
    if not given.stable:
        raise ArgumentError(
            f"certificate must have the verdict 'stable', got {given.verdict.value!r}; with "
            "certificate=None jackknife+ covers with probability 1 - 2a without stability"
        )
    return given


def _refusal(reason: str, remedy: str = _REMEDY) -> ArgumentError:
    return ArgumentError(f"the certificate {reason}; {remedy}")
