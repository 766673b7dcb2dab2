"""``poise.plan``: rows, training size, δ, α or power, from the other four."""

from __future__ import annotations

from typing import Any, Literal

from poise import checks
from poise.errors import ArgumentError
from poise.results.planning import plan_lines
from poise.results.plots import Shown
from poise.theory import counts, planning

_DEFAULTS = {"alpha": 0.05, "power": 0.8}


class Plan(Shown, planning.Plan):
    """A planned test in numbers, which prints as text; :func:`poise.plan` makes it."""

    def __str__(self) -> str:
        return "\n".join(plan_lines(self))

    def _plot(self, **place: Any) -> Any:
        from poise.results.plots.beside import plot_power

        return plot_power(self, **place)


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
        the power is a sawtooth: ``Plan.dips_at`` is the next larger number of trials with too
        little power, and ``max_trials`` avoids it.
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
    asked: dict[str, Any] = {
        "n_labeled": n_labeled,
        "n": n,
        "delta": delta,
        "alpha": alpha,
        "power": power,
    }
    if each and n is not None:
        raise ArgumentError("is for new training sets", argument="n", got=n)
    for name, value in _DEFAULTS.items():
        if asked[name] is None and list(asked.values()).count(None) > 1 + bool(each):
            asked[name] = value
    if n is None and delta is None and not each:
        raise ArgumentError(
            "and delta cannot both be left out",
            argument="n",
            remedy="poise.theory.menu(rows) lists what rows can answer",
        )
    names = ("n_labeled", "delta") if each else ("n_labeled", "n", "delta")
    open_ = [name for name in names if asked[name] is None]
    if len(open_) > 1:
        raise ArgumentError(f"{open_[0]} and {open_[1]} cannot both be left out")
    removed = checks.count("remove", remove, 1)
    found = planning.solve(
        Plan(
            **asked,
            n_unlabeled=n_unlabeled,
            delta_star=delta_star,
            randomized=randomized,
            fresh=removed if checks.flag("replace", replace) else 0,
            each=each,
        )
    )
    if not each:
        counts.taken(found.n, removed)  # at most all but one row can be removed
    return found


def _fresh_rows(notion: str, update: int | None) -> int:
    """Return how many fresh rows a trial about one training set takes; 0 for new ones."""
    checks.choice("notion", notion, ("new", "deployed", "add-one", "jackknife"))
    if update is not None:
        return checks.count("update", update, 1) + 1
    return {"new": 0, "add-one": 2}.get(notion, 1)
