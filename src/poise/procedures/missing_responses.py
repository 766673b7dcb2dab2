"""The split into trials whose training rows may lack their response.

Trial k trains on n − j labelled rows and j rows of the pool, and is evaluated at one more row of
the pool: the labelled rows that are left over, then the unlabelled ones. The pool is
divided trial by trial, so that its last rows are test points, and every response that is
known is used. With j = 0 this is the paper's split.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.errors import ArgumentError, BudgetError
from poise.procedures.checked_question import Question
from poise.protocol.messages import Query
from poise.protocol.randomness import Coupling, Randomness, as_coupling
from poise.results import ProcedureResult
from poise.theory.finite_responses import trials_missing

__all__ = ["MissingResponses", "PartlyLabeledTrial"]

Values = NDArray[Any]


@dataclass(frozen=True)
class PartlyLabeledTrial:
    """The rows of one trial: training rows, those without a response last, and a test point.

    Attributes
    ----------
    X, point : container
        Features of the n training rows, the one that is removed last; and of the test point.
    known : ndarray
        Responses of the first training rows; the others are unknown.
    xi, xi_reduced : int
        Random terms of the fits with and without the last row.
    """

    X: Any
    point: SyntheticRows
    known: Values
    xi: int
    xi_reduced: int

    @property
    def unknown(self) -> int:
        """Number of training rows without a response."""
        return len(SyntheticRows(self.X)) - len(self.known)

    def full(self, responses: Values) -> Query:
        """Ask for a fit to all n rows, with these responses."""
        return Query(SyntheticRows(self.X, responses), self.point, self.xi)

    def reduced(self, responses: Values) -> Query:
        """Ask for a fit without the last row, with the responses of the others."""
        shorter = SyntheticRows(self.X).take(0, len(responses)).X
        return Query(SyntheticRows(shorter, responses), self.point, self.xi_reduced)


@dataclass(frozen=True)
class MissingResponses(Question):
    """A question about trials whose training rows may lack their response.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    missing : int from 0 to n, optional
        Training rows j of a trial that need no response; all n if None.
    coupling : str or Coupling
        How the two fits of a trial share randomness.
    randomized : bool
        Toss the coin in a tie.
    max_fits : int
        Refuse, before the first fit, a run that may need more.
    """

    missing: int | None = field(default=None, kw_only=True)
    coupling: str | Coupling = field(default="shared", kw_only=True)
    randomized: bool = field(default=False, kw_only=True)
    max_fits: int = field(default=100_000, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_missing > self.n:
            raise ArgumentError(f"missing must be at most n = {self.n}, got {self.missing}")
        as_coupling(self.coupling)
        arguments.flag("randomized", self.randomized)
        arguments.count("max_fits", self.max_fits, 1)

    @property
    def n_missing(self) -> int:
        """Training rows of a trial that need no response: j."""
        return self.n if self.missing is None else int(arguments.count("missing", self.missing))

    def trials(
        self, sample: Sample, responses: Values, randomness: Randomness
    ) -> list[PartlyLabeledTrial]:
        """Divide the rows among the trials: no row serves two trials."""
        m = self._count(sample)
        labeled = randomness.order("order of labelled rows", sample.n_labeled)
        spare = randomness.order("order of unlabelled rows", sample.n_unlabeled)
        owned = m * (self.n - self.n_missing)
        pool = np.concatenate([labeled[owned:], sample.n_labeled + spare])
        dealt = pool[: m * (self.n_missing + 1)].reshape(self.n_missing + 1, m).T
        rows = np.hstack([labeled[:owned].reshape(m, self.n - self.n_missing), dealt])
        xi, xi_reduced = as_coupling(self.coupling).pairs(randomness.block("xi", 0, m))
        terms = zip(xi.tolist(), xi_reduced.tolist(), strict=True)
        return [
            PartlyLabeledTrial(
                sample.points(row[:-1]),
                SyntheticRows(sample.points(row[-1:])),
                responses[row[:-1][row[:-1] < sample.n_labeled]],
                *pair,
            )
            for row, pair in zip(rows, terms, strict=True)
        ]

    def _count(self, sample: Sample) -> int:
        m = trials_missing(self.n, sample.n_labeled, sample.n_unlabeled, self.n_missing)
        if m == 0:
            raise ArgumentError(
                f"n = {self.n} with missing = {self.n_missing} needs {self.n - self.n_missing} "
                f"labelled rows and {self.n + 1} rows in all for a trial, got {sample.n_labeled} "
                f"and {sample.n_labeled + sample.n_unlabeled}; ask about a smaller training size"
            )
        return m

    def check_cost(self, n_fits: int) -> None:
        """Refuse a run that may need too many fits."""
        if n_fits > self.max_fits:
            raise BudgetError(
                f"{type(self).__name__} with missing = {self.n_missing} may need {n_fits:,} fits, "
                f"more than max_fits = {self.max_fits:,}; nothing was computed. Raise max_fits, or "
                "let fewer responses be missing",
                partial=[],
            )

    def conclude(
        self, changes: list[float], n_failures: int, randomness: Randomness, **told: Any
    ) -> ProcedureResult:
        """Judge changes that may be larger than the true ones: never "unstable"."""
        result = self.judge(
            changes,
            certifies=True,
            n_failures=n_failures,
            coin=randomness if self.randomized else None,
            missing=self.n_missing,
            **told,
        )
        return result.never_unstable()
