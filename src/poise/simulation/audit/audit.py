"""Measure the level or the power of any procedure, by simulation."""

from __future__ import annotations

from dataclasses import dataclass

from poise import arguments
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.simulation.audit.audit_result import AuditResult
from poise.simulation.audit.audited_question import AuditedQuestion
from poise.simulation.traps import Trap
from poise.simulation.worlds import Proportion, World
from poise.simulation.worlds.replication import declares_stable, replicate, run_once
from poise.theory.binomial_test import power
from poise.theory.number_of_trials import n_trials
from poise.theory.power_bounds import power_bound

__all__ = ["audit"]


def audit(
    procedure: Procedure,
    world: World | Trap,
    *,
    n_labeled: int,
    n_unlabeled: int = 0,
    replications: int = 1000,
    epsilon: float | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    notion: str | None = None,
    delta_star: float | Proportion | None = None,
    claim: float | None = None,
    models: str = "black-box",
    features: str = "uncountable",
    response: str = "uncountable",
    confidence: float = 0.99,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AuditResult:
    """Run a procedure on many fresh data sets of a world, and judge the procedure.

    On a world that is not (ε, δ)-stable P(declares stable) is its error and may
    not exceed α. On a stable one it is its power, which by Theorem 2 (3 and 4 for
    transparent and constrained models, 5 for other notions of randomness) cannot
    exceed α((1−δ*)/(1−δ))^e unless the procedure is invalid somewhere else. Either
    way a valid procedure is found "invalid" with probability at most
    (1 − ``confidence``)/2.

    Parameters
    ----------
    procedure : Procedure
        Anything with ``ask(sample, randomness)`` that returns a verdict: a truth
        value, a word, or a result with an attribute ``stable``.
    world : World or Trap
        Where its data come from.
    n_labeled, n_unlabeled : int
        Rows per replication.
    replications : int
        How often to run it, at least 1.
    epsilon, delta, alpha : float, optional
        The question and the claimed level; by default the procedure's own
        attributes of those names.
    notion : {"shared", "independent", "coupled"}, optional
        The notion of stability; by default that of the procedure's ``coupling``.
    delta_star : float or Proportion, optional
        P(Δ > ε) in this world, where it has no closed form: a number, or the
        result of :meth:`World.estimate_delta_star`.
    claim : float, optional
        P(declares stable) that is claimed for the procedure on this world; the
        finding is "not as claimed" if the interval excludes it.
    models, features, response : str
        What the procedure sees of fitted models, and the spaces of X and Y, as
        in :func:`poise.theory.power_bound`; they decide which ceiling applies.
    confidence : float
        Of the exact two-sided interval, in (0, 1).
    random_state : None, int, Generator or RandomState
        Decides everything; the same value gives the same result whatever ``n_jobs``.
    n_jobs : int, optional
        Replications run in parallel, as in joblib.
    progress : bool, optional
        Progress goes to stderr: a bar in a terminal, a line a minute elsewhere. False
        shows nothing.

    Returns
    -------
    AuditResult

    See Also
    --------
    audit_with_traps, World, reproduce

    Examples
    --------
    >>> from poise.procedures import BinomialTest
    >>> from poise.world import zoo
    >>> test = BinomialTest(n=4, epsilon=0.5, delta=0.1)
    >>> result = audit(test, zoo.memorising(n=4, rarity=0.11), n_labeled=160,
    ...     replications=200, random_state=0)
    >>> result.measures, result.finding
    ('level', 'no violation found')
    """
    asked = AuditedQuestion.of(procedure, world, epsilon, delta, alpha, notion, delta_star)
    count = int(arguments.count("replications", replications, minimum=1))
    randomness = Randomness.from_state(random_state)
    verdict = _Verdict(procedure, asked.world, n_labeled, n_unlabeled, models, randomness)
    accepted = Proportion(sum(replicate(verdict, count, n_jobs, progress)), count, confidence)
    rows = (asked.world.n, n_labeled, n_unlabeled)
    limit = power_bound(
        *rows,
        delta=asked.delta,
        delta_star=asked.least,
        alpha=asked.alpha,
        features=features,
        response=response,
        models=models,
    )
    return AuditResult(
        procedure=type(procedure).__name__,
        world=world.name,
        accepted=accepted,
        measures=asked.measures,
        epsilon=asked.epsilon,
        delta=asked.delta,
        alpha=asked.alpha,
        notion=asked.notion,
        delta_star=asked.least,
        limit=float(limit),
        binomial=float(
            power(n_trials(*rows), asked.delta, asked.least, asked.alpha, randomized=True)
        ),
        claim=None if claim is None else float(arguments.probability("claim", claim)),
        n=rows[0],
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
    )


@dataclass(frozen=True)
class _Verdict:
    """The verdict in one replication; this object is sent to workers."""

    procedure: Procedure
    world: World
    n_labeled: int
    n_unlabeled: int
    models: str
    randomness: Randomness

    def __call__(self, index: int) -> bool:
        rng = self.randomness.generator("data", index)
        sample = self.world.draw(rng, self.n_labeled, self.n_unlabeled)
        own = Randomness(self.randomness.words("procedure", index))
        # For the oracle, models of a known class are transparent models.
        models = "black-box" if self.models == "black-box" else "transparent"
        result = run_once(self.procedure, self.world.algorithm, sample, own, models=models)
        return declares_stable(result)
