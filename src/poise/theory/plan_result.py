"""The result of planning: what a test needs, and its power."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from html import escape
from typing import Any

from poise.arguments import counted
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """A Binomial test that was planned, not run: see :func:`poise.plan`.

    Attributes
    ----------
    solved_for : str
        Which of ``n_labeled``, ``n``, ``delta``, ``alpha``, ``power`` is the answer.
    n_labeled, n_unlabeled : int
        Rows with and without a response.
    n : int
        Training size whose stability is asked.
    delta, alpha : float
        Allowed probability of a change beyond ε; error level.
    power : float
        The power that was asked for; the power that is reached, if that was the question.
    delta_star : float
        The true probability of a change beyond ε for which the power is stated.
    randomized : bool
        Whether the test tosses the paper's coin at the critical count.
    achieved_power : float
        The probability that this test declares such an algorithm stable.
    ceiling : float or None
        What no valid black-box test can exceed with these rows (Theorem 2); None for a
        variant of which no ceiling is known.
    dips_at : int or None
        Next larger ``n_labeled`` (next smaller ``n``, if that is the answer) at which the
        plain test's power falls below the requirement again; None if it never does.
    holds_from : int or None
        The requirement holds for every ``n_labeled`` from here upwards (every ``n`` from here
        downwards); None if there is no such value, or no such question.
    algorithms : int
        Algorithms that share the level.
    remove, replace, losses, groups
        The variant that is planned, as in :func:`poise.plan`.

    Examples
    --------
    >>> import poise
    >>> plan = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    >>> plan.n_labeled, plan.n_trials, plan.n_fits, plan.dips_at, plan.holds_from
    (4646, 46, 92, 5454, 6161)
    >>> Plan.from_json(plan.to_json()) == plan
    True
    """

    solved_for: str
    n_labeled: int
    n_unlabeled: int
    n: int
    delta: float
    alpha: float
    power: float
    delta_star: float
    randomized: bool
    achieved_power: float
    ceiling: float | None
    dips_at: int | None = None
    holds_from: int | None = None
    algorithms: int = 1
    remove: int = 1
    replace: bool = False
    losses: bool = False
    groups: bool = False

    @property
    def per_trial(self) -> RowsPerTrial:
        """The rows that one trial takes."""
        return RowsPerTrial(self.remove, self.replace, self.losses, self.groups)

    @property
    def level(self) -> float:
        """The level at which each of the algorithms is tested."""
        return self.alpha / self.algorithms

    @property
    def n_trials(self) -> int:
        """Number of independent trials m = ⌊κ⌋."""
        return self.per_trial.n_trials(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def kappa(self) -> Fraction:
        """The exponent κ of the ceiling, exactly."""
        return self.per_trial.kappa(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def n_fits(self) -> int:
        """Fits that a full run costs: two per trial and algorithm."""
        return 2 * self.n_trials * self.algorithms

    @property
    def dips(self) -> bool:
        """Whether the power falls below the requirement again beyond the answer."""
        return self.dips_at is not None

    @property
    def note(self) -> str:
        """What the answer alone does not show; empty if nothing."""
        return " ".join(part for part in (_dip(self), _not_a_power(self)) if part)

    def power_at(self, delta_star: float) -> float:
        """Compute the power of the planned test for another true probability δ*.

        Examples
        --------
        >>> import poise
        >>> plan = poise.plan(n=100, n_labeled=10_000, delta=0.1)
        >>> [round(plan.power_at(truth), 3) for truth in (0.0, 0.02, 0.05)]
        [1.0, 0.951, 0.445]
        """
        from poise.theory.binomial_test import power

        return float(power(self.n_trials, self.delta, delta_star, self.level, self.randomized))

    def power_table(self) -> tuple[tuple[float, float], ...]:
        """Compute pairs (δ*, power) from δ* = 0 to δ, where the power is at most the level.

        Examples
        --------
        >>> import poise
        >>> plan = poise.plan(n=100, n_labeled=10_000, delta=0.1)
        >>> [(truth, round(power, 3)) for truth, power in plan.power_table()][::5]
        [(0.0, 1.0), (0.05, 0.445), (0.1, 0.025)]
        """
        truths = (float(f"{self.delta * tenth / 10:.12g}") for tenth in range(11))
        return tuple((truth, self.power_at(truth)) for truth in truths)

    def summary(self) -> str:
        """Say what was asked, what the answer is, and what it does not promise."""
        parts = [_question(self), _answer(self), _variant(self), _ceiling(self), self.note]
        parts.append(_proviso(self))
        return "\n".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as plain numbers, those that follow from others included."""
        derived: dict[str, Any] = {
            "n_trials": self.n_trials,
            "kappa": float(self.kappa),
            "n_fits": self.n_fits,
        }
        derived |= {"dips": self.dips, "note": self.note, "level": self.level}
        return asdict(self) | derived | {"power_table": [list(pair) for pair in self.power_table()]}

    def to_json(self) -> str:
        """Write the plan as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read what :meth:`to_json` wrote."""
        data = json.loads(text)
        # Plans that were written before variants existed do not mention them.
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for plans side by side."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.summary().splitlines())

    def __str__(self) -> str:
        return self.summary()


def _rounded(value: float, rounding: str) -> str:
    """Write four digits, rounded to the side on which the statement stays true."""
    return f"{float(Context(prec=4, rounding=rounding).create_decimal(repr(value))):.4g}"


def _up(value: float) -> str:
    return _rounded(value, ROUND_CEILING)


def _down(value: float) -> str:
    return _rounded(value, ROUND_FLOOR)


def _question(p: Plan) -> str:
    asked = {
        "n_labeled": f"With how many labelled {_units(p)} is",
        "n": "Up to which training size n is",
        "delta": "For how small a delta is",
        "alpha": "At how small an error level alpha is",
        "power": "With which probability is",
    }
    aim = "" if p.solved_for == "power" else f" with probability at least {p.power:.6g}"
    return (
        f"{asked[p.solved_for]} an algorithm declared stable{aim}, if its predictions change by "
        f"more than epsilon with probability {p.delta_star:.4g}?"
    )


def _answer(p: Plan) -> str:
    answer = {
        "n_labeled": f"{p.n_labeled:,} labelled {_units(p)}",
        "n": f"n = {p.n:,}",
        "delta": f"delta = {_up(p.delta)}",
        "alpha": f"alpha = {_up(p.alpha)}",
        "power": f"probability {_down(p.achieved_power)}",
    }
    kind = "randomised" if p.randomized else "plain"
    return (
        f"Answer: {answer[p.solved_for]}. At n = {p.n:,}, {_rows(p)} hold "
        f"{counted(p.n_trials, 'independent trial')} "
        f"({p.n_fits:,} fits); the {kind} Binomial test for delta = {_up(p.delta)} at level "
        f"{_level(p)} then has power {_down(p.achieved_power)}."
    )


def _units(p: Plan) -> str:
    return f"{p.per_trial.unit}s"


def _rows(p: Plan) -> str:
    of = " groups" if p.groups else ""
    return f"{p.n_labeled:,} labelled{of} and {p.n_unlabeled:,} unlabelled rows"


def _level(p: Plan) -> str:
    if p.algorithms == 1:
        return _up(p.alpha)
    return f"{_up(p.level)} (= {_up(p.alpha)} / {p.algorithms} algorithms)"


def _variant(p: Plan) -> str:
    """Say how a trial differs from the paper's."""
    if p.per_trial == RowsPerTrial():
        return ""
    said = []
    unit = p.per_trial.unit
    if p.replace:
        said.append(f"{counted(p.remove, f'fresh {unit}')} in the place of as many removed")
    elif p.remove > 1:
        said.append(f"{p.remove} {unit}s removed")
    if p.groups:
        said.append("n counts groups")
    if p.losses:
        said.append("losses are compared, so unlabelled rows cannot serve")
    return f"In each trial: {'; '.join(said)}."


def _ceiling(p: Plan) -> str:
    if p.ceiling is None:
        return "No ceiling on the power of other tests is known for this variant."
    if _up(p.ceiling) == "1":
        return (
            "The ceiling on the power of every valid black-box test is 1 here: it limits nothing."
        )
    return (
        "Where responses and predictions are numbers, no valid black-box test has power above "
        f"{_up(p.ceiling)} with these rows."
    )


def _dip(p: Plan) -> str:
    if p.dips_at is None:
        return ""
    if p.solved_for == "n":
        safe = "even n = 2 does not meet it"
        if p.holds_from is not None:
            safe = f"every n up to {p.holds_from:,} meets it"
        return (
            f"A smaller n is not always better: at n = {p.dips_at:,} the plain test, with more "
            f"trials, falls short of {p.power:.6g} again; {safe}."
        )
    return (
        f"More {_units(p)} are not always better: with {p.dips_at:,} labelled {_units(p)} the "
        f"plain test falls short of {p.power:.6g} again; from {p.holds_from:,} {_units(p)} on it "
        "does not."
    )


def _not_a_power(p: Plan) -> str:
    if p.delta_star <= p.delta:
        return ""
    return (
        f"An algorithm with delta* = {p.delta_star:.4g} > delta is not stable: the figure is "
        "the probability of declaring it stable in error."
    )


def _proviso(p: Plan) -> str:
    return (
        f"If they do so with a probability above {p.delta_star:.4g}, the test is less likely to "
        "declare stable; epsilon enters in no other way."
    )
