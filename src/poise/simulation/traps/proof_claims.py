"""The claims on which the proof rests, as simulations (Appendix B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise import arguments
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.simulation.traps.trap import Trap
from poise.simulation.worlds import Proportion
from poise.simulation.worlds.replication import declares_stable, replicate, run_once

__all__ = ["Agreement", "same_verdict", "simulate_coincidence"]


@dataclass(frozen=True)
class Agreement:
    """How often a procedure gave A and A′ the same verdict on the same honest data.

    Attributes
    ----------
    replications : int
        Data sets that were drawn from P.
    differing : tuple of int
        Replications in which the verdicts differed. The proof says that there are none,
        unless the procedure asked about the star.
    stable : int
        Replications in which A was declared stable.

    Examples
    --------
    >>> Agreement(replications=20, differing=(), stable=19).always
    True
    """

    replications: int
    differing: tuple[int, ...]
    stable: int

    @property
    def always(self) -> bool:
        """Whether the two verdicts were the same every time."""
        return not self.differing


def same_verdict(
    procedure: Procedure,
    trap: Trap,
    *,
    n_labeled: int,
    n_unlabeled: int = 0,
    replications: int = 100,
    models: str = "black-box",
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> Agreement:
    """Run a procedure on A and on A′, with the same honest data and the same randomness.

    The proof's claim (B.7): a test that never asks about the star cannot tell
    the two apart, so its verdicts always agree.

    Parameters
    ----------
    procedure : Procedure
        The test.
    trap : Trap
        Where A and A′ come from.
    n_labeled, n_unlabeled : int
        Rows drawn from P in each replication.
    replications : int
        How often, at least 1.
    models : {"black-box", "transparent"}
        Whether the procedure may see fitted models.
    random_state : None, int, Generator or RandomState
        Decides the data and the procedure's own randomness.
    n_jobs : int, optional
        As in joblib.

    Examples
    --------
    >>> from poise.adversary import label_trap
    >>> from poise.procedures import BinomialTest
    >>> from poise.world import zoo
    >>> test = BinomialTest(n=5, epsilon=0.5, delta=0.2)
    >>> trap = label_trap(zoo.mean_response(n=5), epsilon=0.5, delta=0.2)
    >>> found = same_verdict(test, trap, n_labeled=120, replications=20, random_state=0)
    >>> found.always, found.stable
    (True, 10)
    """
    count = int(arguments.count("replications", replications, minimum=1))
    randomness = Randomness.from_state(random_state)
    both = _BothVerdicts(procedure, trap, n_labeled, n_unlabeled, models, randomness)
    pairs = replicate(both, count, n_jobs)
    differing = tuple(i for i, (honest, trapped) in enumerate(pairs) if honest != trapped)
    return Agreement(count, differing, sum(honest for honest, _ in pairs))


@dataclass(frozen=True)
class _BothVerdicts:
    """The verdicts on A and A′ in one replication; this object is sent to workers."""

    procedure: Procedure
    trap: Trap
    n_labeled: int
    n_unlabeled: int
    models: str
    randomness: Randomness

    def __call__(self, index: int) -> tuple[bool, bool]:
        rng = self.randomness.generator("data", index)
        sample = self.trap.honest.draw(rng, self.n_labeled, self.n_unlabeled)
        own = Randomness(self.randomness.words("procedure", index))
        honest, trapped = (
            # Fit by fit: a shortcut for A alone could differ from A′ in the last digit.
            run_once(self.procedure, world.algorithm, sample, own, models=self.models, fast=False)
            for world in (self.trap.honest, self.trap.world)
        )
        return declares_stable(honest), declares_stable(trapped)


def simulate_coincidence(
    trap: Trap,
    *,
    n_labeled: int,
    n_unlabeled: int = 0,
    replications: int = 1000,
    confidence: float = 0.99,
    random_state: RandomStateLike = None,
) -> Proportion:
    """Draw data from P and P′ together and count how often they are the same.

    The proof's claims (B.5) and (B.6): at least (1−c)^(N_ℓ+N_u), or (1−c)^N_ℓ if
    only responses are replaced. With a star that P never shows, exactly that.

    Examples
    --------
    >>> from poise.adversary import label_trap
    >>> from poise.world import zoo
    >>> trap = label_trap(zoo.constant(n=5), epsilon=0.0, delta=0.1)
    >>> found = simulate_coincidence(trap, n_labeled=30, random_state=0)
    >>> found.low <= trap.coincidence_probability(30) <= found.high
    True
    """
    count = int(arguments.count("replications", replications, minimum=1))
    rng = Randomness.from_state(random_state).generator("data together")
    same = sum(_coincide(trap, rng, n_labeled, n_unlabeled) for _ in range(count))
    return Proportion(same, count, confidence)


def _coincide(trap: Trap, rng: np.random.Generator, n_labeled: int, n_unlabeled: int) -> bool:
    honest, poisoned = trap.draw_together(rng, n_labeled, n_unlabeled)
    return honest.digest() == poisoned.digest()
