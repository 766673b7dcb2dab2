"""A world: an algorithm, a distribution and a training size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.as_algorithm import as_algorithm
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import ArgumentError
from poise.procedures.binomial import MeasureChanges
from poise.protocol.procedure import run_procedure
from poise.protocol.randomness import Coupling, Randomness, RandomStateLike, as_coupling
from poise.results.certificate import NOTIONS
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.simulation.worlds.change_laws import ChangeLaw, DrawableLaw
from poise.simulation.worlds.distributions import Distribution
from poise.simulation.worlds.proportion import Proportion

__all__ = ["World", "partly_labeled"]

_ROWS_AT_ONCE = 200_000  # simulated rows held in memory at a time


@dataclass(frozen=True)
class World:
    """The triple (A, P, n): it draws data, and knows or simulates δ*_ε = P(Δ > ε).

    Parameters
    ----------
    algorithm : Algorithm, estimator or function
        A.
    distribution : Distribution
        P: anything with ``draw(rng, size)`` that returns rows (X, y).
    n : int
        Training size, at least 2.
    law : ChangeLaw, optional
        The law of Δ, where it is known in closed form.
    title : str, optional
        A short name; by default algorithm and distribution spelt out.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from poise.world import GaussianRows
    >>> world = World(Ridge(), GaussianRows(n_features=2, slope=1.0), n=20)
    >>> world.draw(np.random.default_rng(0), n_labeled=50, n_unlabeled=10).n_unlabeled
    10
    >>> print(world.estimate_delta_star(0.1, n_sim=200, random_state=0))
    0.215 [0.1452, 0.2988]
    """

    algorithm: Any
    distribution: Distribution
    n: int
    law: ChangeLaw | None = None
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "algorithm", as_algorithm(self.algorithm))
        object.__setattr__(self, "n", arguments.training_size(self.n))
        if not isinstance(self.distribution, Distribution):
            raise ArgumentError(
                "distribution must have a method draw(rng, size) that returns rows (X, y), "
                f"got {self.distribution!r}"
            )

    @property
    def name(self) -> str:
        """The world and its size in one line."""
        title = self.title or f"{self.algorithm.name} on {self.distribution}"
        return f"{title}, n = {self.n}"

    def draw(self, rng: np.random.Generator, n_labeled: int, n_unlabeled: int = 0) -> Sample:
        """Draw labelled and unlabelled rows, all independent."""
        X, y = self.distribution.draw(rng, n_labeled + n_unlabeled)
        return partly_labeled(X, y, n_labeled)

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return δ*_ε in closed form; refused where there is none.

        Parameters
        ----------
        epsilon : float
            Allowed change, >= 0.
        notion : {"shared", "independent", "coupled"}
            How the random terms of the two fits are related; "coupled" gives
            the smallest δ that any coupling reaches (Appendix E).
        """
        arguments.choice("notion", notion, NOTIONS)
        return self._law().delta_star(float(arguments.epsilon(epsilon)), notion)

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return ε*_δ, the (1 − δ)-quantile of Δ, in closed form."""
        arguments.choice("notion", notion, NOTIONS)
        return self._law().epsilon_star(float(arguments.delta(delta)), notion)

    def _law(self) -> ChangeLaw:
        if self.law is None:
            raise ArgumentError(
                f"no closed form is known for {self.name}; use estimate_delta_star, or give "
                "the world a law"
            )
        return self.law

    def simulate_changes(
        self,
        n_sim: int,
        random_state: RandomStateLike = None,
        coupling: str | Coupling = "shared",
        *,
        fit: bool = False,
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """Draw independent copies of Δ.

        If the law can be drawn from, the copies come from it, a hundred times faster than by
        fitting; ``fit=True`` fits in any case.

        Parameters
        ----------
        n_sim : int
            How many, at least 1.
        random_state : None, int, Generator or RandomState
            Decides the data and the random terms.
        coupling : {"shared", "independent"} or Coupling
            Joint law of (ξ, ξ′).
        fit : bool
            Whether to run the algorithm even if its law can be drawn from.
        n_jobs : int, optional
            As in joblib.
        """
        size = int(arguments.count("n_sim", n_sim, minimum=1))
        randomness, joint = Randomness.from_state(random_state), as_coupling(coupling)
        if isinstance(self.law, DrawableLaw) and not fit:
            return self.law.sample(randomness.generator("changes"), size, joint)
        per_block = max(1, _ROWS_AT_ONCE // (self.n + 1))
        blocks = [min(per_block, size - start) for start in range(0, size, per_block)]
        roots = (randomness.words("block", index) for index in range(len(blocks)))
        return np.concatenate(
            [
                self._fitted_changes(trials, Randomness(root), joint, n_jobs)
                for trials, root in zip(blocks, roots, strict=True)
            ]
        )

    def _fitted_changes(
        self, trials: int, randomness: Randomness, coupling: Coupling, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Measure Δ on fresh data, as a user would."""
        sample = self.draw(randomness.generator("data"), trials * self.n, trials)
        execution = Execution(n_jobs=n_jobs, progress=False)
        oracle = Oracle.about(self.algorithm, sample, execution=execution)
        every_trial = MeasureChanges(self.n, coupling=coupling, shuffle=False)
        measured = run_procedure(every_trial, oracle, randomness)
        return np.asarray(measured.changes)

    def estimate_delta_star(
        self,
        epsilon: float,
        n_sim: int = 10_000,
        random_state: RandomStateLike = None,
        coupling: str | Coupling = "shared",
        *,
        confidence: float = 0.99,
        fit: bool = False,
        n_jobs: int | None = None,
    ) -> Proportion:
        """Estimate δ*_ε by simulation, with an exact interval.

        P(low ≤ δ*_ε ≤ high) ≥ ``confidence`` (Clopper and Pearson), for one ε
        fixed beforehand. Other parameters as in :meth:`simulate_changes`.
        """
        allowed = float(arguments.epsilon(epsilon))
        changes = self.simulate_changes(n_sim, random_state, coupling, fit=fit, n_jobs=n_jobs)
        return Proportion(int(np.count_nonzero(changes > allowed)), len(changes), confidence)


def partly_labeled(X: Any, y: Any, n_labeled: int) -> Sample:
    """Return a sample in which only the first ``n_labeled`` rows keep their responses.

    Examples
    --------
    >>> partly_labeled([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], n_labeled=2).n_unlabeled
    1
    """
    features, responses = as_table(X, "X"), as_table(y, "y")
    if n_labeled == len(features):
        return Sample(X, y)
    labelled, rest = slice(0, n_labeled), slice(n_labeled, len(features))
    return Sample(features.take(labelled), responses.take(labelled), features.take(rest))
