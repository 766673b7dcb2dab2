"""A test that reads the fitted models, for linear models (Definition 3)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import exactly
from poise.data.sample import Sample
from poise.data.tables import is_sparse
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.procedures.checked_question import Question, refuse_other_than_differences
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.messages import Answers, Batch, Failure, Query
from poise.protocol.randomness import Coupling, Randomness, as_coupling
from poise.results import ProcedureResult
from poise.theory.number_of_trials import n_trials

__all__ = ["TransparentLinearTest"]

Floats = NDArray[np.float64]

_CHECKED = 20  # rows at which a model must predict what its coefficients say

_FRESH = "Valid as the Binomial test is: each block of rows is judged at a fresh point of its own."
_BALL_MEASURED = "the prediction may have moved, somewhere in the ball,"
_BALL = (
    "Valid for every algorithm that returns linear models and every distribution with |X| <= "
    "radius: the largest change over the ball bounds the change at a fresh point."
)
_KNOWN = (
    "Valid for every distribution whose features follow the given law: each block of rows is "
    "judged at a fresh point drawn from it."
)


@dataclass(frozen=True)
class TransparentLinearTest(Question):
    """Test stability by reading the coefficients of linear models (Definition 3, Theorem 3).

    If a test sees μ̂, the exponent of the ceiling rises from κ to N_ℓ/n and no further: the
    test saves test points, but no training rows. Each of the blocks of n rows gives
    w = ŵ_n − ŵ_{n−1} and b, the change as a function of x, and

    - with nothing else known, ``Δ = |w·x + b|`` at a fresh row x: ⌊κ⌋ trials, as in
      the Binomial test;
    - with ``radius``, the supremum over ‖x‖ ≤ radius, ``radius·‖w‖ + |b| ≥ Δ``:
      ⌊N_ℓ/n⌋ trials and no test point at all. The count can only be larger than
      Binomial(⌊N_ℓ/n⌋, δ*), so P(false "stable") ≤ α; a large count does not show
      instability, so the verdict is never "unstable";
    - with ``feature_law``, Δ at a point drawn from the known law of X:
      ⌊N_ℓ/n⌋ trials.

    Run it with ``models="transparent"``.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    radius : float, optional
        A bound on the Euclidean norm of X that holds with probability one.
    feature_law : callable, optional
        ``feature_law(rng, size)`` draws points from the known law of X.
    coupling : str or Coupling
        How the two fits of a block share randomness.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(600, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=600)
    >>> test = TransparentLinearTest(n=20, epsilon=2.0, delta=0.1, radius=3**0.5)
    >>> result = poise.run(test, Ridge(), X, y, models="transparent", random_state=0).result
    >>> result.verdict.value, result.n_trials, result.certifies
    ('stable', 30, True)
    """

    radius: float | None = None
    feature_law: Callable[[np.random.Generator, int], Any] | None = None
    coupling: str | Coupling = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_coupling(self.coupling)
        if self.radius is not None and not 0 < self.radius < np.inf:
            raise ArgumentError(f"radius must be a finite number > 0, got {self.radius}")
        if self.radius is not None and self.feature_law is not None:
            raise ArgumentError("give radius or feature_law, not both")

    def measured_by(self, distance: object) -> TransparentLinearTest:
        """Refuse a distance that cannot be read off two linear functions."""
        refuse_other_than_differences(distance, "a test of linear models")
        return self

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield both fits of every block; return what their coefficients say."""
        self.require_rows(sample)
        self._check_radius(sample)
        split = self._split(sample, randomness)
        answers = yield Batch(_queries(split), models=True)
        checked = _features(sample, np.arange(min(_CHECKED, sample.n_labeled)))
        models = [
            _coefficients(model, prediction, checked)
            for model, prediction in zip(answers.models, answers.predictions, strict=True)
        ]
        points = self._points(sample, split, randomness)
        changes = [
            self._change(models[2 * k], models[2 * k + 1], None if points is None else points[k])
            for k in range(len(split))
        ]
        failed = [models[2 * k] is None or models[2 * k + 1] is None for k in range(len(split))]
        return self._conclude(changes, sum(failed))

    def _split(self, sample: Sample, randomness: Randomness) -> Split:
        spare = sample.n_unlabeled
        if self.radius is not None or self.feature_law is not None:
            spare = sample.n_labeled  # test points do not come from the rows: any number of them
        m = int(n_trials(self.n, sample.n_labeled, spare))
        coupling = as_coupling(self.coupling)
        return Split(TrialSizes(self.n, m, sample.n_labeled, spare), randomness, coupling)

    def _points(self, sample: Sample, split: Split, randomness: Randomness) -> Floats | None:
        """Return one fresh point per block, or None where the ball replaces them."""
        if self.radius is not None or len(split) == 0:
            return None
        if self.feature_law is not None:
            drawn = self.feature_law(randomness.generator("features"), len(split))
            return np.asarray(drawn, dtype=np.float64).reshape(len(split), -1)
        return _features(sample, np.array([split.test_row(k) for k in range(len(split))]))

    def _change(self, full: Floats | None, reduced: Floats | None, point: Floats | None) -> float:
        """Return the change at a point, or the largest over the ball; a failed fit is infinite."""
        if full is None or reduced is None:
            return float("inf")
        difference = full - reduced
        if point is None:
            assert self.radius is not None
            return float(self.radius * np.linalg.norm(difference[:-1]) + abs(difference[-1]))
        return float(abs(np.append(point, 1.0) @ difference))

    def _conclude(self, changes: list[float], n_failures: int) -> ProcedureResult:
        reason = _FRESH if self.feature_law is None else _KNOWN
        if self.radius is not None:
            reason = _BALL
        what = "the prediction moved" if self.radius is None else _BALL_MEASURED
        result = self.judge(
            changes, certifies=True, reason=reason, measured=what, n_failures=n_failures
        )
        return result if self.radius is None else result.never_unstable()

    def _check_radius(self, sample: Sample) -> None:
        if self.radius is None:
            return
        everything = np.arange(sample.n_labeled + sample.n_unlabeled)
        norms = np.linalg.norm(_features(sample, everything), axis=1)
        if norms.max() > self.radius:
            raise DataError(
                f"radius must bound every row, got {self.radius}, but row {int(norms.argmax())} "
                f"has norm {exactly(norms.max())}"
            )


def _queries(split: Split) -> list[Query]:
    """Ask for both models of each block, and for a few predictions to check them against."""
    checked = np.arange(min(_CHECKED, split.n_labeled))
    queries = []
    for comparison in split:
        for query in (comparison.full, comparison.reduced):
            queries.append(Query(query.train, checked, query.xi))
    return queries


def _features(sample: Sample, rows: NDArray[np.int64]) -> Floats:
    points = sample.points(rows)
    dense = points.toarray() if is_sparse(points) else points
    try:
        return np.asarray(dense, dtype=np.float64).reshape(len(rows), -1)
    except (TypeError, ValueError):
        raise DataError("X must be an array of numbers to be multiplied by coefficients") from None


def _coefficients(model: object, prediction: object, points: Floats) -> Floats | None:
    """Return (w, b) of a fitted linear model, or None if the fit failed."""
    if isinstance(prediction, Failure):
        return None
    name = type(model).__name__
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise AlgorithmError(f"a linear model must have coef_ and intercept_, got {name}")
    weights, intercept = np.ravel(model.coef_), np.ravel(model.intercept_)
    if len(weights) != points.shape[1] or len(intercept) != 1:
        raise AlgorithmError(
            f"a linear model must have one weight per feature ({points.shape[1]}) and one "
            f"intercept, got {len(weights)} and {len(intercept)} from {name}"
        )
    whole = np.append(weights, intercept).astype(np.float64)
    said = np.asarray(prediction)
    if said.dtype.kind not in "fiu" or not np.allclose(
        np.ravel(said), points @ whole[:-1] + whole[-1], rtol=1e-6, atol=1e-8
    ):
        raise AlgorithmError(
            f"{name} does not predict what its coefficients say; this test is for models "
            "whose prediction is coef_ · x + intercept_"
        )
    return whole
