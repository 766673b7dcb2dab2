"""A plan, and what rows can answer, in words: before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from poise import checks
from poise.checks import counted
from poise.errors import ArgumentError
from poise.numbers import at_least, at_most, exactly, level
from poise.results.plots import Shown
from poise.results.tables import TextTable
from poise.theory import planning
from poise.theory.counts import clean_trials, trials_for_averaging
from poise.theory.planning import MenuRow

_DEFAULTS = {"alpha": 0.05, "power": 0.8}
_TRIALS_BY_DEFAULT = 10_000  # max_trials


class Plan(Shown, planning.Plan):
    """A planned test in numbers, which prints as text; :func:`poise.plan` makes it."""

    drawn_by = "plot_power"

    def __str__(self) -> str:
        lines = [_answer(self), _trials(self), _power(self), _cap(self)]
        return "\n".join(filter(None, [*lines, _averaged(self), _ceiling(self)]))


def plan(
    *,
    n: int | None = None,
    n_labeled: int | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    power: float | None = None,
    n_unlabeled: int = 0,
    delta_star: float = 0.0,
    randomized: bool = False,
    remove: int = 1,
    replace: bool = False,
    notion: Literal["new", "deployed", "add-one", "jackknife"] = "new",
    update: int | None = None,
) -> Plan:
    """Solve for whichever of rows, training size, δ, α and power is left out.

    If more than one is left out, ``alpha`` is 0.05, and then ``power`` is 0.8. The answer is the
    smallest ``n_labeled``, the largest ``n``, the smallest ``delta`` or the smallest ``alpha`` with
    which P(the Binomial test says stable) ≥ ``power`` for an algorithm whose predictions change by
    more than ε with probability ``delta_star``; or that probability itself. For the Binomial test
    it is exact. It does not say that your algorithm is of that kind.

    Parameters
    ----------
    n : int, at least 2, or None
        Training size whose stability is asked. A larger n leaves fewer trials.
    n_labeled : int, at least 0, or None
        Labelled rows; groups, if whole groups are removed (then ``n`` counts groups as well).
    delta : float in [0, 1), or None
        Allowed probability of a change beyond ε; above ``delta_star``.
    alpha : float in (0, 1), or None
        Error level; for K algorithms to be compared, a K-th of it.
    power : float in (0, 1], or None
        Probability of the verdict "stable"; 1 is possible only for ``delta_star`` 0.
    n_unlabeled : int, at least 0
        Unlabelled rows, which serve as test points. Give 0 if losses are compared: they need
        responses.
    delta_star : float in [0, 1)
        True probability that a change exceeds ε; 0 for an algorithm that never does.
    randomized : bool
        Plan the test with the paper's coin, whose power never falls as rows are added. Without it
        the power is a sawtooth, and ``max_trials`` keeps a test from more trials than planned.
    remove : int, at least 1
        Rows removed at once.
    replace : bool
        Whether new rows take their place; a trial then needs ``remove`` more rows.
    notion : {"new", "deployed", "add-one", "jackknife"}
        All but "new" plan a :func:`deployed_test`: ``n_labeled`` counts fresh rows and ``n`` is
        left out. "deployed" is also for ``without``. Where several rows leave in turn and no
        ``gamma`` is given, the averaged test reads them: its power is that of the plan for
        ``delta_star`` 0, and otherwise not known beforehand.
    update : int, at least 1, or None
        New rows that are added at once.

    Returns
    -------
    Plan
        The five numbers, ``n_trials``, ``n_fits``, ``reached`` (the power), ``ceiling`` (of
        Theorem 2, for predictions that are numbers), ``averaged`` (the estimated power of the
        averaged test), ``power_at(delta_star)`` and ``to_dict()``.

    Raises
    ------
    ArgumentError
        Also if no value can do what is asked; the message says why.

    See Also
    --------
    poise.theory.menu : what a number of rows can answer, at many training sizes.
    poise.theory.power, poise.theory.power_bound

    Examples
    --------
    >>> import poise
    >>> poise.plan(n=100, delta=0.1).n_labeled
    2929
    >>> poise.plan(n_labeled=1000, delta=0.1).n
    33
    >>> print(poise.plan(n=100, delta=0.1))
    2,929 labelled rows are needed.
    2,929 labelled rows hold 29 independent trials at n = 100: 29 x 100 = 2,900 rows to train on
    and 29 others to predict at, 58 fits.
    The Binomial test for delta = 0.1 at level 0.05 says stable with probability 1 if predictions
    never change by more than epsilon, and less often if they do so more often; epsilon enters in
    no other way.
    """
    each = _fresh_rows(notion, update)
    if each and n is not None:
        raise ArgumentError("is for new training sets", argument="n", got=n)
    asked: dict[str, Any] = {"n_labeled": n_labeled, "n": n, "delta": delta, "alpha": alpha}
    asked["power"] = power
    for name, value in _DEFAULTS.items():
        if asked[name] is None and list(asked.values()).count(None) > 1 + bool(each):
            asked[name] = value
    removed = checks.count("remove", remove, 1)
    asked |= {"n_unlabeled": n_unlabeled, "delta_star": delta_star, "randomized": randomized}
    fresh = removed if checks.flag("replace", replace) else 0
    found = planning.solve(Plan(**asked, fresh=fresh, each=each))
    if not each and removed >= found.n:
        raise ArgumentError(f"must be below n = {found.n:,}", argument="remove", got=removed)
    return found


def _fresh_rows(notion: str, update: int | None) -> int:
    """Return how many fresh rows a trial about one training set takes; 0 for new ones."""
    checks.choice("notion", notion, ("new", "deployed", "add-one", "jackknife"))
    if update is not None:
        return checks.count("update", update, 1) + 1
    return {"new": 0, "add-one": 2}.get(notion, 1)


# In words


def menu_table(
    menu: Sequence[MenuRow],
    *,
    delta: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
    unit: str = "row",
) -> TextTable:
    """Write what rows can answer, one line for each training size; the rest as given to ``menu``.

    Examples
    --------
    >>> from poise.theory.planning import menu
    >>> for line in menu_table(menu(500)[4:8]).text().splitlines()[:5]:
    ...     print(line)
    n   trials  fits  smallest delta  delta* up to
    25  19      38    0.1459          -
    16  29      58    0.09815         0.007665
    10  45      90    0.06441         0.004946
    7   62      124   0.04717         0.02485
    """
    caption = (
        f"Each trial takes n {unit}s to train on and one more to predict at. smallest delta: what "
        f"a run without a single larger change shows, at level {level(alpha)}. delta* up to: if "
        "larger changes have at most this probability, the Binomial test for delta = "
        f"{exactly(delta)} says stable with probability at least {exactly(power)}; - where it "
        "never does."
    )
    rows = []
    for row in menu:
        smallest = "-" if row.smallest_delta is None else at_most(row.smallest_delta)
        reach = "-" if row.delta_star is None else at_least(row.delta_star)
        rows.append([f"{row.n:,}", f"{row.n_trials:,}", f"{row.n_fits:,}", smallest, reach])
    return TextTable(["n", "trials", "fits", "smallest delta", "delta* up to"], rows, caption)


def _answer(plan: Plan) -> str:
    return {
        "n_labeled": f"{counted(plan.n_labeled, _row(plan))} are needed.",
        "n": f"n can be at most {plan.n or 0:,}.",
        "delta": f"The smallest delta is {_delta(plan)}.",
        "alpha": f"The smallest alpha is {_alpha(plan)}.",
        "power": f"The probability of the verdict stable is {_reached(plan)}.",
    }[plan.solved_for]


def _trials(plan: Plan) -> str:
    m, rows = plan.n_trials, counted(plan.n_labeled, _row(plan))
    if plan.each:
        each = f" of {counted(plan.each, 'row')} each" if plan.each > 1 else ""
        return f"{rows} hold {counted(m, 'independent trial')}{each}."
    rows += f" and {plan.n_unlabeled:,} unlabelled ones" if plan.n_unlabeled else ""
    if not m:
        least = f"one trial needs {plan.rows_for(1):,} labelled rows"
        return f"{rows} hold no trial at n = {plan.n:,}: {least}."
    each = f"({plan.n:,} + {plan.fresh:,} new ones)" if plan.fresh else f"{plan.n:,}"
    trained = f"{m:,} x {each} = {m * (plan.n + plan.fresh):,} rows to train on"
    return (
        f"{rows} hold {counted(m, 'independent trial')} at n = {plan.n:,}: {trained} and {m:,} "
        f"others to predict at, {plan.n_fits:,} fits."
    )


def _row(plan: Plan) -> str:
    return "fresh row" if plan.each else "labelled row"


def _power(plan: Plan) -> str:
    kind = "Binomial test with its coin" if plan.randomized else "Binomial test"
    test = f"The {kind} for delta = {_delta(plan)} at level {_alpha(plan)}"
    least = clean_trials(plan.delta, plan.alpha)
    if plan.n_trials < least and not plan.randomized:
        why = f"{counted(plan.n_trials, 'trial')}, and {least:,} are the least"
        return f"{test} cannot say stable: {'nothing shows it' if plan.delta == 0 else why}."
    truth = plan.delta_star
    often = f"change by more than epsilon with probability {exactly(truth)}"
    often = often if truth else "never change by more than epsilon"
    end = ", and less often if they do so more often; epsilon enters in no other way"
    if truth > plan.delta:
        end = "; such an algorithm is not stable"
    return f"{test} says stable with probability {_reached(plan)} if predictions {often}{end}."


def _reached(plan: Plan) -> str:
    """Write a power rounded down, and a probability of error rounded up."""
    return at_most(plan.reached) if plan.delta_star > plan.delta else at_least(plan.reached)


def _cap(plan: Plan) -> str:
    asked = f"max_trials={plan.n_trials}"
    if plan.n_trials > _TRIALS_BY_DEFAULT:
        return f"A test runs at most {_TRIALS_BY_DEFAULT:,} trials unless {asked} is given."
    if plan.solved_for not in ("n_labeled", "n") or plan.randomized or not plan.delta_star:
        return ""
    keeps = f"{asked} keeps the power from falling below {exactly(plan.power)}"
    return f"More trials are not always better without the coin; {keeps}."


def _averaged(plan: Plan) -> str:
    """Say what the averaged test adds where it is used."""
    if plan.averaged is None or not 0 < plan.delta_star < plan.delta or plan.each:
        return ""
    powers = " to ".join(dict.fromkeys(f"{power:.2g}" for power in plan.averaged))
    begins = f"from {trials_for_averaging(plan.delta, plan.alpha):,} trials on"
    reads = f"the averaged test reads {plan.points} test points of each trial ({begins})"
    together = "an estimate, which depends on how often several points of a trial change together"
    return f"With test='auto' {reads}; its power is about {powers}: {together}."


def _ceiling(plan: Plan) -> str:
    limit = at_most(plan.ceiling)
    if limit == "1" or plan.delta_star > plan.delta:
        return ""
    claim = f"no valid black-box test has power above {limit} with these rows"
    return f"Where responses and predictions are numbers, {claim}."


def _delta(plan: Plan) -> str:
    return at_most(plan.delta) if plan.solved_for == "delta" else exactly(plan.delta)


def _alpha(plan: Plan) -> str:
    return at_most(plan.alpha) if plan.solved_for == "alpha" else level(plan.alpha)
