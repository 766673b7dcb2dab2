"""A test with unlabelled training rows, if Y is finite and known."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Distance, needs_response
from poise.data.sample import Sample
from poise.errors import ArgumentError, DataError
from poise.procedures.compare_predictions import largest_observed_change
from poise.procedures.missing_responses import MissingResponses, PartlyLabeledTrial
from poise.protocol.messages import Answers, Batch, Query
from poise.protocol.randomness import Randomness
from poise.results import ProcedureResult
from poise.theory.finite_responses import labelling_fits

__all__ = ["WorstLabellingTest"]

_REASON = (
    "Valid if the responses given are all that can occur: the true labelling is among those tried, "
    "so larger changes are counted at least as often as they occur. A large count "
    "does not show instability."
)
_MEASURED = "some labelling of the rows without a response moved the prediction"


@dataclass(frozen=True)
class WorstLabellingTest(MissingResponses):
    """Train on rows without a response under every labelling, and take the worst (Theorem G).

    Y must be finite and known. Each trial has n − j labelled and j other training rows and a
    test point; it counts if *some* labelling of the rows whose response is unknown moves the
    prediction by more than ε. The true labelling is among them, so
    P(trial counts) ≥ δ*_ε, and with the Binomial test on the count P(false "stable") ≤ α.
    There are m_j = min{N_ℓ // (n − j), (N_ℓ + N_u) // (n + 1)} trials
    (:func:`poise.theory.trials_missing`), more than the Binomial test has, at the cost of up to
    ``|Y|^j + |Y|^(j−1)`` fits each (:func:`poise.theory.labelling_fits`): a trial ends after the
    round in which something moved.

    A large count does not show instability, so the verdict is never "unstable". An algorithm
    must accept every labelling: one that fails on a single class counts in every trial in which
    all responses may be equal.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    responses : sequence of at least two values
        Every response that can occur.
    missing : int from 0 to n
        Training rows j of a trial that need no response (1 unless given); 0 is the Binomial
        test, None stands for n.
    coupling, randomized, max_fits
        As in :class:`~poise.procedures.missing_responses.MissingResponses`.
    distance : str
        How far apart two predictions are.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, extra = rng.normal(size=(200, 1)), rng.normal(size=(200, 1))
    >>> y = (X[:, 0] > 0).astype(float)
    >>> question = {"n": 10, "epsilon": 0.4, "delta": 0.1}
    >>> test = WorstLabellingTest(**question, responses=(0.0, 1.0), missing=2)
    >>> result = poise.run(test, KNeighborsRegressor(5), X, y, X_unlabeled=extra).result
    >>> result.n_trials, result.verdict.value      # 20 trials, if each needs ten responses
    (25, 'inconclusive')
    """

    missing: int | None = field(default=1, kw_only=True)
    responses: Any = field(kw_only=True)
    distance: str | Distance = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        values = np.asarray(self.responses)
        if values.ndim != 1 or len(values) < 2 or len(set(values.tolist())) < len(values):
            raise ArgumentError(
                "responses must list every value that a response can have, at least two and each "
                f"once, got {self.responses!r}"
            )
        object.__setattr__(self, "responses", tuple(values.tolist()))

    def measured_by(self, distance: str | Distance) -> WorstLabellingTest:
        """Return the same test with the distance of the run, unless that is left open."""
        if callable(distance) and needs_response(distance):
            raise ArgumentError(
                "distance must not need the response of the test row: rows without one serve here"
            )
        return self if distance == "auto" else replace(self, distance=distance)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield one labelling of all rows but the last at a time, for trials not yet counted."""
        trials = self.trials(sample, self._known(sample), randomness)
        self.check_cost(sum(labelling_fits(self._size, trial.unknown) for trial in trials))
        worst, stage, n_fits = [0.0] * len(trials), 0, 0
        while quiet := [k for k, t in enumerate(trials) if self._goes_on(t, worst[k], stage)]:
            asked = [self._queries(trials[k], stage) for k in quiet]
            answers = yield Batch([query for queries in asked for query in queries])
            said = iter(answers.predictions)
            for k, queries in zip(quiet, asked, strict=True):
                reduced, *full = (next(said) for _ in queries)
                changes = [largest_observed_change(one, reduced, self.distance) for one in full]
                worst[k] = max(worst[k], *changes)
            n_fits, stage = n_fits + len(answers.predictions), stage + 1
        failed = sum(math.isinf(change) for change in worst)
        return self.conclude(
            worst, failed, randomness, reason=_REASON, measured=_MEASURED, n_fits=n_fits
        )

    @property
    def _size(self) -> int:
        return len(self.responses)

    def _known(self, sample: Sample) -> NDArray[Any]:
        """Return the responses of the labelled rows; refuse one that is said not to occur."""
        values = np.asarray(sample.y.native)
        for row, value in enumerate(values.tolist()):
            if isinstance(value, list) or value not in self.responses:
                raise DataError(
                    f"row {row} has the response {value!r}, which is not among the responses "
                    f"given, {self.responses}"
                )
        return values

    def _goes_on(self, trial: PartlyLabeledTrial, worst: float, stage: int) -> bool:
        return worst <= self.epsilon and stage < self._size ** max(trial.unknown - 1, 0)

    def _queries(self, trial: PartlyLabeledTrial, stage: int) -> list[Query]:
        """Ask for one fit without the last row, and one with it for each response."""
        allowed = np.asarray(self.responses)
        if trial.unknown == 0:
            return [trial.reduced(trial.known[:-1]), trial.full(trial.known)]
        codes = np.unravel_index(stage, (self._size,) * (trial.unknown - 1))
        others = np.concatenate([trial.known, allowed[list(map(int, codes))]])
        last = [np.concatenate([others, [value]]) for value in self.responses]
        return [trial.reduced(others), *map(trial.full, last)]
