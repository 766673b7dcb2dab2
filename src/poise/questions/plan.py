"""``poise.plan``: rows, training size, δ, α or power, from the other four."""

from __future__ import annotations

from poise import arguments
from poise.results.plan_result import Plan
from poise.theory.plan_request import PlanRequest, points_and_spread
from poise.theory.planning import checked, solve, with_defaults
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["plan"]


def plan(
    *,
    n_labeled: int | None = None,
    n: int | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    power: float | None = None,
    n_unlabeled: int = 0,
    delta_star: float = 0.0,
    randomized: bool = False,
    algorithms: int = 1,
    remove: int = 1,
    replace: bool = False,
    losses: bool = False,
    groups: bool = False,
    test: str = "binomial",
    spread: float | None = None,
    points: int | None = None,
) -> Plan:
    """Solve for the one of five quantities that is left None, for the Binomial test exactly.

    If more than one is None, ``alpha`` is 0.05, and then ``power`` is 0.9.

    The answer is the smallest ``n_labeled``, the largest ``n``, the smallest ``delta`` or the
    smallest ``alpha`` with which P(the test declares stable) ≥ ``power`` for an algorithm
    that exceeds ε with probability δ*, or that probability itself. It does not say that
    the algorithm at hand is such an algorithm.

    The plain test's power is not monotone in the number of trials, so beyond the answer it
    may fall below ``power`` again: then ``Plan.dips_at`` says where, and ``Plan.holds_from``
    says from where on it always holds. In ``delta`` and ``alpha`` it is monotone.

    For ``test="averaged"`` the answer is a planning value and not a guarantee: the power
    depends on how much the shares of the trials vary, which ``spread`` assumes. The error
    level of the test does not depend on it. :attr:`Plan.needs` compares both tests.

    Parameters
    ----------
    n_labeled : int, at least 0, or None
        Labelled rows.
    n : int, at least 2, or None
        Training size whose stability is asked. A larger n leaves fewer trials.
    delta : float in [0, 1), or None
        Allowed probability of a change beyond ε; above ``delta_star``.
    alpha : float in (0, 1), or None
        Error level.
    power : float in (0, 1], or None
        Probability of declaring stable; 1 is possible only for ``delta_star`` = 0.
    n_unlabeled : int, at least 0
        Unlabelled rows, which serve as test points.
    delta_star : float in [0, 1)
        True probability that a change exceeds ε; 0 for an algorithm that never does.
    randomized : bool
        Plan the paper's randomised test instead of the plain one.
    algorithms : int, at least 1
        Algorithms that share the error level: each is tested at ``alpha`` / ``algorithms``.
    remove : int, at least 1
        How many of the n rows are removed.
    replace : bool
        Whether fresh rows take their place; a trial then needs ``remove`` more rows.
    losses : bool
        Whether losses are compared: test rows then need a response.
    groups : bool
        Whether ``n`` and ``n_labeled`` count groups of rows.
    test : {"binomial", "averaged"}
        The paper's test, or the averaged test, which reads a share off each trial.
    spread : float in (0, 1], optional
        Spread E S² / E S that the shares S of the averaged test are assumed to have, at
        least ``delta_star``. Smaller is better, and 1 gains nothing. By default, another
        point of a trial is assumed to move with probability one half if one does: 0.525 at
        20 points. Trees, ridge and nearest neighbours were seen between 0.13 and 0.31.
    points : int, at least 1, optional
        Test points of each trial, for the averaged test; 20 by default. They cost rows but
        no fits.

    Returns
    -------
    Plan
        The answer with trials, fits, achieved power and the ceiling of Theorem 2, which is
        None for the variants that the paper does not treat.

    Raises
    ------
    ArgumentError
        Also if no value can meet the requirement; the message says why.

    See Also
    --------
    advise, poise.theory.power, poise.theory.power_bound

    Examples
    --------
    >>> plan(n=100, delta=0.1, alpha=0.05, power=1.0).n_labeled
    2929
    >>> plan(n_labeled=1000, delta=0.1, alpha=0.05, power=1.0).n
    33
    >>> plan(n_labeled=1000, n=100, alpha=0.05, power=1.0).delta
    0.283128...
    >>> plan(n=100, delta=0.1).n_labeled, plan(n=100, delta=0.1, algorithms=5).n_labeled
    (2929, 4444)
    >>> for test in ("binomial", "averaged"):
    ...     found = plan(n=100, delta=0.1, delta_star=0.05, power=0.8, test=test, spread=0.3)
    ...     print(test, found.n_trials, found.n_labeled)
    binomial 179 18079
    averaged 99 11880
    >>> print(plan(n_labeled=1000, n=100, delta=0.1, alpha=0.05))
    With which probability is an algorithm declared stable, if its predictions change by more
    than epsilon with probability 0?
    Answer: probability 0. At n = 100, 1,000 labelled and 0 unlabelled rows hold 9 independent
    trials (18 fits); the plain Binomial test for delta = 0.1 at level 0.05 then has power 0.
    Where responses and predictions are numbers, no valid black-box test has power above
    0.142 with these rows.
    If they do so with a probability above 0, the test is less likely to declare stable;
    epsilon enters in no other way.
    Where no change exceeds epsilon, averaging gains nothing: plan for a true probability
    above 0 to see the averaged test beside the Binomial test.
    """
    given = with_defaults(
        {"n_labeled": n_labeled, "n": n, "delta": delta, "alpha": alpha, "power": power}
    )
    arguments.one_of(dict(given))  # before any value is checked
    truth = float(arguments.delta(delta_star, "delta_star"))
    count, share = points_and_spread(test, spread, points, truth)
    goal = PlanRequest(
        **checked(given),
        n_unlabeled=int(arguments.count("n_unlabeled", n_unlabeled)),
        delta_star=truth,
        randomized=bool(randomized),
        algorithms=int(arguments.count("algorithms", algorithms, 1)),
        per_trial=RowsPerTrial(
            int(arguments.count("remove", remove, 1)),
            arguments.flag("replace", replace),
            arguments.flag("losses", losses),
            arguments.flag("groups", groups),
            count,
        ),
        test=test,
        spread=share,
    )
    return Plan.of(solve(goal))
