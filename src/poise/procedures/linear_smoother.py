"""A test with unlabelled training rows, if predictions are linear in Y."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Distance
from poise.arguments.printed_numbers import exactly
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.procedures.checked_question import refuse_other_than_differences
from poise.procedures.missing_responses import MissingResponses, PartlyLabeledTrial
from poise.protocol.messages import Answers, Batch, Failure, Query
from poise.protocol.randomness import Randomness
from poise.results import ProcedureResult
from poise.theory.finite_responses import largest_change_over_labels

__all__ = ["LinearSmootherTest"]

Floats = NDArray[np.float64]

_LINEAR_UP_TO = 1e-9  # of the largest prediction: how exactly a fit must be linear
_REASON = (
    "Valid for algorithms whose predictions are linear in the responses, as was declared and "
    "checked on one set of responses per fit, and for responses in the range given: the largest "
    "change over that range is at least the true one. A large count does not show instability."
)
_MEASURED = "the rows without a response could have moved the prediction"


@dataclass(frozen=True)
class LinearSmootherTest(MissingResponses):
    """Bound the change over all responses that are missing, for linear smoothers (Theorem G).

    Ridge, least squares, kernel ridge and averages of nearest neighbours predict
    c + Σ w_j y_j, with c and w functions of the features alone. Then ``Δ = |a + Σ g_j y_j|``, whose
    largest value over y_j in [low, high] is known
    (:func:`poise.theory.largest_change_over_labels`), and no response is needed: by default
    (N_ℓ + N_u) // (n + 1) trials, as many as the rows hold. Responses that are known are used.
    The largest change is at least Δ, so P(false "stable") ≤ α; a large count does not show
    instability, and the verdict is never "unstable".

    This is not a black-box test. It is valid only for algorithms that are linear in the
    responses over the range, which you declare by using it. The declaration is checked in every
    fit, on one random set of responses, and an algorithm that fails the check is refused; that
    is a check, not a proof. The weights are read off fits to responses that are all ``low``
    except one: 2n + 3 fits per trial.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    low, high : float
        Range of the responses, low < high: it must hold with probability one.
    missing : int from 0 to n, optional
        Training rows j of a trial that need no response; by default all n.
    coupling, randomized, max_fits
        As in :class:`~poise.procedures.missing_responses.MissingResponses`.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, extra = rng.uniform(size=(40, 1)), rng.uniform(size=(700, 1))
    >>> y = X[:, 0]
    >>> test = LinearSmootherTest(n=20, epsilon=0.35, delta=0.1, low=0.0, high=1.0)
    >>> result = poise.run(test, Ridge(), X, y, X_unlabeled=extra, random_state=0).result
    >>> result.n_trials, result.verdict.value      # 2 trials, if each needs twenty responses
    (35, 'stable')
    """

    low: float = field(kw_only=True)
    high: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ArgumentError(
                f"low and high must be finite numbers, low < high, got {self.low} and {self.high}"
            )

    def measured_by(self, distance: str | Distance) -> LinearSmootherTest:
        """Refuse a distance that is no difference of two numbers."""
        refuse_other_than_differences(distance, "predictions that are linear in the responses")
        return self

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield the fits that show the weights of every trial; return what they say."""
        trials = self.trials(sample, self._known(sample), randomness)
        self.check_cost(len(trials) * (2 * self.n + 3))
        drawn = randomness.generator("responses of the check").random((len(trials), self.n))
        tasks = [self._queries(t, check) for t, check in zip(trials, drawn, strict=True)]
        answers = yield Batch([query for queries in tasks for query in queries])
        said = np.array([_one_number(prediction) for prediction in answers.predictions])
        per_trial = said.reshape(len(trials), -1)
        changes = [
            self._change(trial, row, check)
            for trial, row, check in zip(trials, per_trial, drawn, strict=True)
        ]
        failed = sum(math.isinf(change) for change in changes)
        return self.conclude(changes, failed, randomness, reason=_REASON, measured=_MEASURED)

    def _known(self, sample: Sample) -> Floats:
        """Return the responses as shares of the range; refuse one outside it."""
        try:
            values = np.asarray(sample.y.native, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("y must hold numbers to be added up") from None
        if values.ndim != 1:
            raise DataError(f"y must have one column, got the shape {values.shape}")
        outside = np.flatnonzero((values < self.low) | (values > self.high))
        if len(outside):
            raise DataError(
                f"every response must be from low = {exactly(self.low)} to high = "
                f"{exactly(self.high)}, but row {outside[0]} has {exactly(values[outside[0]])}"
            )
        return (values - self.low) / (self.high - self.low)

    def _queries(self, trial: PartlyLabeledTrial, check: Floats) -> list[Query]:
        """Ask for fits to responses that are low, low except one, or drawn for the check."""
        tried = np.vstack([np.zeros(self.n), np.eye(self.n), check])
        shorter = np.delete(tried, self.n, axis=0)[:, :-1]
        full = [trial.full(self._responses(shares)) for shares in tried]
        return [*full, *(trial.reduced(self._responses(shares)) for shares in shorter)]

    def _responses(self, shares: Floats) -> Floats:
        return self.low + (self.high - self.low) * shares

    def _change(self, trial: PartlyLabeledTrial, said: Floats, check: Floats) -> float:
        """Return the largest change over all responses that are unknown; infinite if a fit failed.

        Rounding counts against "stable": the change is set to the largest value that
        rounding allows.
        """
        if not np.isfinite(said).all():
            return math.inf
        full, reduced = said[: self.n + 2], said[self.n + 2 :]
        rounding = _LINEAR_UP_TO * float(np.abs(said).max())
        weights = _weights(full, check, rounding)
        weights[:-1] -= _weights(reduced, check[:-1], rounding)
        offset = float(full[0] - reduced[0] + trial.known @ weights[: len(trial.known)])
        unknown = weights[len(trial.known) :]
        return largest_change_over_labels(unknown, 0.0, 1.0, offset=offset) + rounding


def _weights(said: Floats, check: Floats, rounding: float) -> Floats:
    """Return what each response adds, as its share of the range grows from 0 to 1."""
    weights: Floats = said[1:-1] - said[0]
    expected, found = float(said[0] + weights @ check), float(said[-1])
    if abs(expected - found) > rounding:
        raise AlgorithmError(
            "LinearSmootherTest is for algorithms whose predictions are linear in the responses; "
            f"these responses gave {exactly(found)}, and by linearity {exactly(expected)}. Use "
            "WorstLabellingTest, if responses are finitely many, or BinomialTest"
        )
    return weights


def _one_number(prediction: Any) -> float:
    """Return the prediction at the one point asked about; nan if there is none."""
    if isinstance(prediction, Failure):
        return math.nan
    values = np.asarray(prediction)
    if values.size != 1 or values.dtype.kind not in "fiu":
        raise AlgorithmError(
            f"predictions must be single numbers to be linear in the responses, got {prediction!r}"
        )
    return float(values.reshape(-1)[0])
