"""Prediction intervals by jackknife and jackknife+, and what certified stability adds to them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from poise import checks
from poise.algorithms.algorithm import Algorithm, as_algorithm, fit_params_of
from poise.algorithms.provenance import code_digest
from poise.data.copies import rows_in_both
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.errors import ArgumentError, PoiseWarning
from poise.numbers import at_most, complement, number
from poise.questions.job import Job
from poise.questions.refits import Part, Refitting, fit_each, floats
from poise.results.result import Result
from poise.theory.jackknife import certified_miss, jackknife_plus_ends, residual_quantile

Floats = NDArray[np.float64]
Method = Literal["plus", "jackknife"]
_NOT_CHECKED = (
    "Whether the certificate is from other rows, as it must be, cannot be seen: it was read from a "
    "file, or its fits were made elsewhere."
)
_AT_ONCE = 1 << 22  # predictions of all models that are held at the same time


@dataclass(frozen=True)
class Guarantee:
    """How often a new response may lie outside its interval; ``print`` says it.

    Attributes
    ----------
    method : {"plus", "jackknife"}
        What is computed.
    miss : float
        Bound on P(outside), with a certificate on P("stable" and outside).
    widening : float
        What certified stability adds to both ends.
    stability : Result or None
        The certificate that is used.
    remark : str
        Why a certificate is not used, or what of it could not be checked.
    """

    method: Method
    miss: float
    widening: float = 0.0
    stability: Result | None = None
    remark: str = ""

    @property
    def coverage(self) -> float:
        """One minus the bound."""
        return 1 - self.miss

    def __str__(self) -> str:
        name, bound = {"plus": "jackknife+"}.get(self.method, "jackknife"), at_most(self.miss)
        missed = f"a new response lies outside its {name} interval"
        said = f"{missed} with probability at most {bound}, for every algorithm that ignores the "
        said += "order of its rows, and every distribution."
        if self.stability is not None:
            said = f'that the test says "stable" and {missed}, widened by {number(self.widening)} '
            said += f"on both sides, has probability at most {bound} (Theorem J)."
        return f"{said[0].upper()}{said[1:]} {self.remark}".strip()


class JackknifeRegressor(RegressorMixin, Refitting):  # type: ignore[misc]
    """Regressor with prediction intervals from its leave-one-out residuals.

    Jackknife+ intervals miss a new response with probability at most 2(1 - confidence_level),
    whatever the algorithm. With a certificate of (ε, δ)-stability from other rows, both methods
    are widened, and

        P("stable" is declared, and the response is missed) ≤ max{α, a + √(2δ)}    (jackknife)

    with a = 1 - confidence_level; Theorem J has the exact bound, ``guarantee_`` its value. It
    is not a statement about an interval at one given point.

    Parameters
    ----------
    estimator : estimator
        The regressor; it is fitted n + 1 times.
    method : {"plus", "jackknife"}
        Jackknife+ needs no certificate. The jackknife without one promises nothing, so jackknife+
        takes its place, with a warning.
    confidence_level : float, default 0.9
        In (0, 1).
    stability : Result, optional
        What ``stability_test`` found about this estimator at n = number of training rows, on other
        rows, with verdict "stable".
    random_state : int, optional
        Seed of all fits.
    n_jobs : int, optional
        Fits at the same time.

    Attributes
    ----------
    guarantee_ : Guarantee
        What is promised.
    residuals_ : ndarray of shape (n,)
        Absolute residual of each row under the fit without it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = JackknifeRegressor(Ridge(), confidence_level=0.9).fit(X[:200], y[:200])
    >>> predictions, intervals = model.predict_interval(X[200:])
    >>> inside = (intervals[:, 0] <= y[200:]) & (y[200:] <= intervals[:, 1])
    >>> round(model.guarantee_.coverage, 3), bool(inside.mean() > 0.85)
    (0.8, True)
    """

    def __init__(
        self,
        estimator: Any,
        method: Method = "plus",
        confidence_level: float = 0.9,
        stability: Result | None = None,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator, self.method, self.confidence_level = estimator, method, confidence_level
        self.stability, self.random_state, self.n_jobs = stability, random_state, n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator to all rows, and once without each of them."""
        method = checks.choice("method", self.method, ("plus", "jackknife"))
        rows, y = self._rows(X, y)
        sample = Sample.of(rows, y)
        algorithm = as_algorithm(self.estimator).prepared(sample)
        if self.stability is not None:
            _require_usable(self.stability, algorithm, sample)
        elif method == "jackknife":
            told = "the jackknife promises nothing without a certificate: jackknife+ is used"
            warnings.warn(told, PoiseWarning, stacklevel=2)
        self.guarantee_ = self._guarantee(method, sample.n_labeled)
        randomness = Randomness.from_state(self.random_state)
        terms = randomness.block("leave one out", 0, sample.n_labeled + 1)[:, 0]
        if self.guarantee_.stability is not None:
            terms[:] = terms[-1]  # Theorem J is about one random term for all fits
        *left_out, self._full = fit_each(algorithm, sample, _parts(terms.tolist()), self.n_jobs)
        left = [floats(f, sample.points(np.array([i]))) for i, f in enumerate(left_out)]
        self.residuals_ = np.abs(np.asarray(y, dtype=np.float64) - np.concatenate(left))
        self._left_out = left_out if self.guarantee_.method == "plus" else []
        return self

    def predict(self, X: Any) -> Floats:
        """Predict by the fit to all rows."""
        check_is_fitted(self)
        return floats(self._full, self._rows(X))

    def predict_interval(self, X: Any) -> tuple[Floats, Floats]:
        """Predict, and return the ends of the interval around each prediction.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            New rows.

        Returns
        -------
        predictions : ndarray of shape (rows,)
        intervals : ndarray of shape (rows, 2)
            Infinite where there are too few training rows for the confidence level.
        """
        check_is_fitted(self)
        rows, a = self._rows(X), complement(self.confidence_level)
        middle = floats(self._full, rows)
        if self.guarantee_.method == "plus":
            ends = self._plus_ends(rows, len(middle), a)
        else:
            half = residual_quantile(self.residuals_, a)
            ends = np.stack([middle - half, middle + half], axis=1)
        return middle, ends + self.guarantee_.widening * np.array([-1.0, 1.0])

    def _plus_ends(self, rows: Any, count: int, a: float) -> Floats:
        places, parts = getattr(rows, "iloc", rows), []
        for some in gen_batches(count, max(1, _AT_ONCE // len(self.residuals_))):
            each = [floats(predict, places[some]) for predict in self._left_out]
            parts.append(jackknife_plus_ends(np.stack(each, axis=1), self.residuals_, a))
        return np.concatenate(parts)

    def _guarantee(self, method: Method, n: int) -> Guarantee:
        a = complement(checks.alpha(self.confidence_level, "confidence_level"))
        free, result = min(1.0, 2 * a), self.stability
        if result is None:
            return Guarantee("plus", free)
        plus = method == "plus"
        miss = float(certified_miss(n, a, result.delta, result.alpha, plus))
        if plus and miss >= free:  # wider intervals would gain nothing
            remark = f"The certificate is not used: it would allow {at_most(miss)}."
            return Guarantee("plus", free, remark=remark)
        remark = _NOT_CHECKED if _tested(result) is None else ""
        return Guarantee(method, miss, (1 + plus) * float(result.epsilon or 0), result, remark)


def _parts(terms: list[int]) -> list[Part]:
    """Leave out each row in turn, and none in the end."""
    rows = np.arange(len(terms) - 1)
    left_out = [(np.delete(rows, i), terms[i], f"the fit without row {i}") for i in rows]
    return [*left_out, (rows, terms[-1], "the fit to all rows")]


def _require_usable(result: Result, algorithm: Algorithm, sample: Sample) -> None:
    """Refuse every certificate that Theorem J does not cover, with the reason."""
    if not isinstance(result, Result):
        raise ArgumentError("must be a Result or None", argument="stability", got=result)
    design, origin, tested = result.design, result.trials.origin, _tested(result)
    code = dict(origin.code).get("algorithm", "") if origin else ""
    needed = {"notion": "new", "unit": "row", "remove": 1, "replace": False, "coupling": "shared"}
    needed |= {"compares": "predictions", "algorithm": algorithm.name, "n": sample.n_labeled}
    there = {name: getattr(design, name) for name in needed}
    refusals = {f"{k} is {there[k]}, not {v}": there[k] != v for k, v in needed.items()} | {
        f'the verdict is "{result.verdict}"': not result.stable,
        "it was asked after the fits": origin is not None and result.asked == "after",
        f"the distance is {design.distance}": design.distance not in ("absolute", "euclidean"),
        "it is about other code of this name": code != code_digest(*algorithm.user_code),
        "the order of rows may matter": not design.order_free,
    }
    if tested is not None:
        shared = rows_in_both([tested.sample.X, tested.sample.y], [sample.X, sample.y])
        refusals |= {
            "it is about other parameters": tested.algorithm.identity != algorithm.identity,
            "it is about fits with further arguments": fit_params_of(tested.sample) != [],
            "it was obtained from rows of X": len(shared) > 0,
        }
    for reason, refused in refusals.items():
        if refused:
            problem = f"is no certificate for these intervals: {reason}"
            raise ArgumentError(problem, argument="stability")
    for text in result.warnings:
        warnings.warn(f"the certificate has a warning: {text}", PoiseWarning, stacklevel=4)


def _tested(result: Result) -> Job | None:
    """Return the run that measured the changes; a file does not hold its rows."""
    origin = result.trials.origin
    return origin if isinstance(origin, Job) else None
