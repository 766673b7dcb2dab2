"""How often jackknife intervals miss in a world, by simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arguments.decimal_noise import complement
from poise.protocol.randomness import Randomness
from poise.running.workers.inner_threads import one_inner_thread
from poise.simulation.worlds.proportion import Proportion
from poise.simulation.worlds.world import World
from poise.theory.jackknife_coverage import jackknife_plus_ends, residual_quantile

__all__ = ["IntervalMisses"]


class Jackknifed(NamedTuple):
    """One training set and one new row, seen by the full model and by those without one row."""

    error: float  # of the full model at the new row
    residuals: NDArray[np.float64]
    errors: NDArray[np.float64]  # of the models without one row, at the new row


@dataclass(frozen=True)
class IntervalMisses:
    """Intervals for one new row from n training rows, simulated many times.

    The fits are made one by one, with one random term for each training set, and without the
    engine: simulations need thousands of training sets.

    Parameters
    ----------
    world : World
        Where rows come from, and what is fitted.
    level : float
        1 - a.
    replications : int
        Training sets, each with one new row.
    seed : int
        Of the rows and the random terms.
    confidence : float
        Of the interval around the share of misses.

    Examples
    --------
    >>> from poise.simulation.worlds.zoo import constant
    >>> misses = IntervalMisses(constant(n=9), level=0.8, replications=500, seed=0)
    >>> misses.of_jackknife().excludes(0.2), misses.of_plus().excludes(0.2)
    (False, False)
    """

    world: World
    level: float
    replications: int
    seed: int
    confidence: float = 0.99

    def of_jackknife(self, widening: float = 0.0) -> Proportion:
        """Simulate the misses of the jackknife, widened on both sides."""
        share = complement(self.level)
        return self._proportion(
            abs(seen.error) > residual_quantile(seen.residuals, share) + widening
            for seen in self.training_sets
        )

    def of_plus(self, widening: float = 0.0) -> Proportion:
        """Simulate the misses of jackknife+, widened on both sides."""
        share = complement(self.level)
        # Everything is relative to the new response, so the interval has to hold 0.
        ends = (
            jackknife_plus_ends(seen.errors[None], seen.residuals, share)[0]
            for seen in self.training_sets
        )
        return self._proportion(low - widening > 0 or high + widening < 0 for low, high in ends)

    def _proportion(self, missed: Iterator[Any]) -> Proportion:
        return Proportion(sum(map(bool, missed)), self.replications, self.confidence)

    @cached_property
    def training_sets(self) -> list[Jackknifed]:
        """What the models of each training set say: fitted once for all intervals."""
        with one_inner_thread():  # matrices are small
            return list(self._fitted())

    def _fitted(self) -> Iterator[Jackknifed]:
        n, fit = self.world.n, self.world.algorithm.fit
        terms = Randomness(self.seed).block("xi", 0, self.replications)[:, 0].tolist()
        rng = np.random.default_rng(self.seed)
        others = [np.delete(np.arange(n), row) for row in range(n)]
        for xi in terms:
            X, y = self.world.distribution.draw(rng, n + 1)
            new, response = X[n:], y[n]
            models = [fit(X[rows], y[rows], xi) for rows in others]
            left_out = [model(X[row : row + 1])[0] for row, model in enumerate(models)]
            yield Jackknifed(
                float(fit(X[:n], y[:n], xi)(new)[0] - response),
                np.abs(y[:n] - left_out),
                np.array([model(new)[0] for model in models]) - response,
            )
