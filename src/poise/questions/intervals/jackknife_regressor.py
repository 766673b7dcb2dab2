"""An estimator with intervals by jackknife and jackknife+."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.wrapper_input import checked_rows, with_input_tags_of
from poise.arguments.decimal_noise import complement
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import ArgumentError, DataError, PoiseWarning
from poise.protocol.randomness import RandomStateLike
from poise.questions.conditional.conditional_measurement import shared_term
from poise.questions.intervals.conditional_certificate import require_same_training_set
from poise.questions.intervals.leave_one_out_models import LeaveOneOutFits
from poise.questions.intervals.usable_certificate import UsableCertificate
from poise.results.conditional_result import ConditionalResult
from poise.results.coverage import CoverageGuarantee
from poise.results.stability_result import StabilityResult
from poise.running.execution import Execution
from poise.storage.journal import Journal
from poise.theory.jackknife_coverage import jackknife_plus_ends, residual_quantile

__all__ = ["JackknifeRegressor"]

Floats = NDArray[np.float64]

_METHODS = ("plus", "jackknife")
_NUMBERS_AT_ONCE = 1 << 22  # predictions of all n models held in memory together


class JackknifeRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Prediction intervals by jackknife and jackknife+, with a proved bound on their misses.

    The residual of each row comes from a model that has not seen it. How often the intervals
    miss depends on the stability of the algorithm:

    - with a ``certificate`` from :func:`poise.stability_test` on *other* rows, the intervals are
      widened by ε (jackknife) or 2ε (jackknife+) on both sides, and P(certified and missed) is
      at most max{α, bound of Theorem J} (:func:`poise.theory.certified_miss`);
    - with a ``certificate`` about *this* training set, from :func:`poise.conditional_test` with
      ``notion="jackknife"`` and a tolerated share γ, the jackknife is widened by ε, and
      P(certified and missed) is at most a + γ + max{δ, α}
      (:func:`poise.theory.certified_miss_given_data`);
    - without one, jackknife+ misses with probability at most 2a, a = 1 - ``level``, whatever
      the distribution (Barber, Candès, Ramdas & Tibshirani, 2021). The plain jackknife has no
      guarantee in this case, so jackknife+ is run instead, with a warning.

    ``guarantee_.sentence`` says which of the two holds. The probability is over the training rows
    and the new point together. It says nothing about one given interval or one training set.

    Parameters
    ----------
    estimator : estimator, function or poise.Algorithm
        Any regressor.
    method : {"plus", "jackknife"}
        Jackknife+ keeps n models and predicts with all of them; the jackknife keeps one.
    level : float in (0, 1)
        1 - a: the share of new responses that the intervals should contain. The guaranteed
        share is lower; see ``guarantee_.coverage``.
    certificate : StabilityResult or ConditionalResult, optional
        A verdict "stable" for this estimator at this number of training rows, with shared
        random terms and one row removed. Any other certificate is refused. It is also refused if
        the order of the rows changes the model, or if it was obtained from the training rows.
    random_state : None, int, Generator or RandomState
        Decides the random states of the fits.
    n_jobs : int, optional
        Number of fits at the same time, as in :func:`poise.stability_test`.
    fast : bool
        Compute linear and kernel models in closed form where that is exact.
    journal : path, optional
        A file to which every residual is written as soon as it is known. A run that was
        interrupted continues from there. Jackknife+ also keeps its models, as pickles in the
        folder ``JOURNAL.models``.

    Attributes
    ----------
    estimator_ : object
        The model that is fitted to all rows.
    residuals_ : ndarray of length n
        Distance between the response of row i and its prediction by the model without row i.
    guarantee_ : CoverageGuarantee
        The guarantee, in numbers and words.
    path_ : str
        "fit by fit", or what was done instead of n fits.

    See Also
    --------
    conditional_test, stability_test, CoverageGuarantee

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = JackknifeRegressor(Ridge(), level=0.9).fit(X[:400], y[:400])
    >>> predictions, intervals = model.predict_interval(X[400:])
    >>> intervals.shape, model.guarantee_.coverage, model.path_
    ((42, 2), 0.8, 'closed form of ridge')
    >>> inside = (intervals[:, 0] <= y[400:]) & (y[400:] <= intervals[:, 1])
    >>> float(inside.mean().round(2))
    0.95
    """

    def __init__(
        self,
        estimator: Any,
        method: str = "plus",
        level: float = 0.9,
        certificate: StabilityResult | ConditionalResult | None = None,
        *,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        fast: bool = True,
        journal: str | Path | Journal | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.level = level
        self.certificate = certificate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.fast = fast
        self.journal = journal

    def fit(self, X: Any, y: Any) -> Any:
        """Fit one model to all rows, and n models to all rows but one."""
        arguments.choice("method", self.method, _METHODS)
        level = float(arguments.alpha(self.level, "level"))
        sample = self._sample(X, y)
        guarantee = self._promised(sample, level)
        fits = LeaveOneOutFits(
            self.estimator,
            sample,
            Execution(n_jobs=self.n_jobs, fast=self.fast, progress=False),
            self.random_state,
            shared=guarantee.has_certificate,
            journal=self.journal,
            xi=self._certified_term,
        )
        self._fits = fits.run(keep_models=guarantee.plus)
        self.estimator_ = self._fits.model
        self.residuals_ = self._fits.residuals
        self.guarantee_ = guarantee
        self.path_ = self._fits.path
        return self

    def predict(self, X: Any) -> Floats:
        """Predict with the model of all rows."""
        rows = self._new_rows(X)
        return self._fits.full(rows)

    def predict_interval(self, X: Any) -> tuple[Floats, Floats]:
        """Return predictions, and an array of shape (rows, 2) with the ends of the intervals.

        The ends are infinite if there are too few training rows for the level.
        """
        rows = self._new_rows(X)
        predictions = self._fits.full(rows)
        share = complement(self.guarantee_.level)
        if self.guarantee_.plus:
            ends = self._plus_ends(rows, share)
        else:
            half = residual_quantile(self.residuals_, share)
            ends = np.stack([predictions - half, predictions + half], axis=1)
        return predictions, ends + self.guarantee_.widening * np.array([-1.0, 1.0])

    def plot(
        self,
        X: Any,
        y: Any = None,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the intervals of new rows and, if known, their responses: see ``plot_intervals``.

        Returns a figure, or ``ax`` if that was given.
        """
        from poise.results.plots.intervals import plot_intervals

        return plot_intervals(*self.predict_interval(X), y, ax, title=title, figsize=figsize)

    def _plus_ends(self, X: Any, share: float) -> Floats:
        """Predict with all n models, for some rows at a time."""
        table, n = as_table(X, "X"), len(self.residuals_)
        step = max(1, _NUMBERS_AT_ONCE // n)
        parts = [
            jackknife_plus_ends(
                self._fits.each(table.take(slice(start, min(start + step, len(table))))),
                self.residuals_,
                share,
            )
            for start in range(0, len(table), step)
        ]
        return np.concatenate(parts)

    def _sample(self, X: Any, y: Any) -> Sample:
        """Check rows and responses as scikit-learn does."""
        responses = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype="numeric")
        rows = checked_rows(self, self.estimator, X, reset=True)
        check_consistent_length(rows, responses)
        if len(responses) < 2:
            raise DataError(
                f"X must have at least 2 rows to leave one out, got n_samples = {len(responses)}"
            )
        sample = Sample(rows, responses)
        try:
            as_algorithm(self.estimator).prepared(sample)
        except ArgumentError:
            if isinstance(rows, np.ndarray):  # scikit-learn has its own message for objects
                check_array(rows, ensure_all_finite=False)
            raise
        return sample

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_rows(self, self.estimator, X, reset=False)

    def _promised(self, sample: Sample, level: float) -> CoverageGuarantee:
        """Find out what can be guaranteed, before the first fit."""
        if self.certificate is None:
            if self.method == "jackknife":
                warnings.warn(
                    "the jackknife promises nothing without a certificate of stability; "
                    "jackknife+ is run instead. Give certificate=poise.stability_test(...) on "
                    "other rows, or method='plus'",
                    PoiseWarning,
                    stacklevel=3,
                )
            return CoverageGuarantee.without_certificate(sample.n_labeled, level)
        algorithm = as_algorithm(self.estimator).prepared(sample)
        if isinstance(self.certificate, ConditionalResult):
            require_same_training_set(self.certificate, self.method, algorithm, sample)
            return CoverageGuarantee.given_training_set(self.certificate, level)
        usable = UsableCertificate(self.certificate, algorithm, sample)
        return CoverageGuarantee.certified(self.method, usable.result(self.random_state), level)

    @property
    def _certified_term(self) -> int | None:
        """The random term that a certificate about this training set is about."""
        if not isinstance(self.certificate, ConditionalResult):
            return None
        return shared_term(self.certificate.design.seed)

    def __sklearn_tags__(self) -> Any:
        """Accept missing values and sparse matrices where the base estimator does."""
        return with_input_tags_of(self.estimator, super().__sklearn_tags__())
