"""What some rows can answer, and what to check in them before a test."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from poise.arguments import listed
from poise.arguments.decimal_noise import without_noise
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_most, number
from poise.data.column_remarks import ColumnRemark
from poise.data.response_scale import ResponseScale
from poise.results.json_encoding import plain, to_json
from poise.results.relative_epsilon import ROWS_SET_ASIDE
from poise.results.text.duration import duration
from poise.results.text.question_menu_table import (
    menu_as_dict,
    menu_headline,
    menu_meaning,
    menu_table,
)
from poise.results.text.table import TextTable
from poise.theory.question_menu import Menu, MenuRow

__all__ = ["Advice", "TimedFit"]

_MOST_CLASSES_NAMED = 6
_REMEDIES = {
    "identifier": "an identifier tells nothing about new rows: leave the column out",
    "time": "rows in time are seldom independent, and every guarantee rests on independent rows",
    "group": "if rows with equal values belong together, name the column as groups",
    "missing": "the algorithm must cope with missing values; a fit that fails ends the run",
}


@dataclass(frozen=True)
class TimedFit:
    """How long one fit took.

    Attributes
    ----------
    algorithm : str
        What was fitted.
    n : int
        Rows (or groups) it was fitted on.
    seconds : float or None
        Time of the fit and a prediction; None if it failed.
    failure : str
        Why it failed; empty if it did not.
    """

    algorithm: str
    n: int
    seconds: float | None
    failure: str = ""

    def estimate(self, line: MenuRow) -> float | None:
        """Estimate the seconds of a line's fits, one after the other.

        The estimate assumes that the time of a fit grows in proportion to its rows, and that a
        fit on fewer rows is not faster, because small fits are mostly overhead.
        """
        if self.seconds is None:
            return None
        return line.n_fits * self.seconds * max(1.0, line.n / self.n)


@dataclass(frozen=True)
class Advice(ShownAsCard):
    """The menu of what rows can answer: see :func:`poise.advise`.

    Nothing here is a verdict, and nothing was tested.

    Attributes
    ----------
    menu : Menu
        Training sizes, and what can be certified at each.
    scales : tuple of ResponseScale
        How the responses vary, one per column of y.
    copies : int
        Number of rows that equal another row, if they are more than chance explains.
    remarks : tuple of ColumnRemark
        Columns that look like identifiers, times or groups, or have missing values.
    timed : TimedFit or None
        One fit, if an algorithm was given and can be fitted to these rows.
    objection : str
        Why the given algorithm cannot be fitted to these rows; empty if it can.
    questions : dict of str to str
        What can be asked, and the call or command that asks it.

    Examples
    --------
    >>> import numpy as np, poise
    >>> rng = np.random.default_rng(0)
    >>> advice = poise.advise(rng.normal(size=(3000, 2)), rng.normal(size=3000))
    >>> advice.menu.largest.n, len(advice.menu), round(advice.scales[0].sd)
    (102, 12, 1)
    """

    menu: Menu
    scales: tuple[ResponseScale, ...]
    copies: int
    remarks: tuple[ColumnRemark, ...]
    timed: TimedFit | None = None
    objection: str = ""
    questions: dict[str, str] = field(default_factory=dict)

    def table(self) -> TextTable:
        """Return the menu, one line per training size."""
        more = {}
        if any(len(scale.classes) > 1 for scale in self.scales) and not self._groups:
            more["class absent"] = [self._absent(line) for line in self.menu]
        if self.timed is not None and self.timed.seconds is not None:
            more["time"] = [self._time(line) for line in self.menu]
        return menu_table(self.menu, more)

    @property
    def _groups(self) -> bool:
        return self.menu.per_trial.groups

    def chance_absent(self, n: int) -> float:
        """Bound the chance that n of these rows lack a class, in any column of y."""
        return min(1.0, sum(scale.chance_absent(n) for scale in self.scales))

    def _absent(self, line: MenuRow) -> str:
        chance = self.chance_absent(line.n)
        return "< 0.1%" if 0 < chance < 1e-3 else f"{at_most(without_noise(100 * chance))}%"

    def _time(self, line: MenuRow) -> str:
        seconds = self.timed.estimate(line) if self.timed is not None else None
        return "" if seconds is None or not line.n_trials else duration(seconds)

    def headline(self) -> str:
        """Say which n is the largest that can be certified."""
        return menu_headline(self.menu)

    def paragraphs(self) -> list[str]:
        """Return what follows the table, the most important first."""
        parts = [menu_meaning(self.menu), *self._columns_explained()]
        parts += [_scale_in_words(scale, len(self.scales)) for scale in self.scales]
        parts += [self._spread_in_words(), *self._warnings(), _unknowable(self.menu)]
        return [part for part in parts if part]

    def _columns_explained(self) -> list[str]:
        columns, said = self.table().columns, []
        if "class absent" in columns:
            said.append(
                "class absent: an upper limit for the chance that n rows lack a class. A "
                "classifier that expects every class may then fail."
            )
        if self.timed is not None and self.timed.seconds is not None:
            said.append(
                f"time: {self.timed.algorithm} took {number(self.timed.seconds)} s at "
                f"n = {self.timed.n:,}; the estimate assumes that time grows in proportion to "
                "n, on one core and without shortcuts."
            )
        elif self.timed is not None:
            said.append(
                f"No time is known: {self.timed.algorithm} failed on {self.timed.n:,} "
                f"{self.menu.per_trial.unit}s ({self.timed.failure})."
            )
        return said

    def _spread_in_words(self) -> str:
        """Say what a share of the spread costs: the rows set aside for it are in no trial."""
        if len(self.scales) != 1 or self.scales[0].classes or self._groups:
            return ""
        largest = self.menu.largest_n_without(ROWS_SET_ASIDE)
        if largest is None:
            return ""
        return (
            "epsilon may also be given as a share, '5% of spread': its scale is then taken from "
            f"{ROWS_SET_ASIDE} rows that no trial uses, and n = {largest:,} is the largest."
        )

    def _warnings(self) -> list[str]:
        said = [f"{self.objection}."] if self.objection else []
        said += [
            f"Column {r.column}: {r.kind}? {r.found}; {_REMEDIES[r.kind]}." for r in self.remarks
        ]
        if self.copies:
            said.append(
                f"{self.copies:,} rows have an equal elsewhere: copies end up in different trials, "
                "which are then not independent; drop all but one of them, or keep them together "
                "as groups."
            )
        return said

    def summary(self) -> str:
        """Return headline, menu, and what to know before a test."""
        asked = [f"{question}\n    {call}" for question, call in self.questions.items()]
        after = "\n".join(self.paragraphs())
        parts = [self.headline(), self.table().text(), after]
        return "\n\n".join([*parts, "What can be asked\n" + "\n".join(asked)] if asked else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        lines = [
            asdict(line)
            | {
                "chance_class_absent": None if self._groups else self.chance_absent(line.n),
                "seconds": None if self.timed is None else self.timed.estimate(line),
            }
            for line in self.menu
        ]
        content: dict[str, Any] = plain(
            {
                "menu": menu_as_dict(self.menu) | {"rows": lines},
                "largest_n": None if self.menu.largest is None else self.menu.largest.n,
                "responses": [asdict(scale) for scale in self.scales],
                "copies": self.copies,
                "columns": [asdict(remark) for remark in self.remarks],
                "timed": None if self.timed is None else asdict(self.timed),
                "objection": self.objection,
                "questions": self.questions,
                "cannot_be_known": _unknowable(self.menu),
            }
        )
        return content

    def to_json(self, indent: int | None = 2) -> str:
        """Write the advice as JSON."""
        return to_json(self.to_dict(), indent)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per training size."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["menu"]["rows"])

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the smallest δ that can be certified against n; return the figure, or ``ax``."""
        from poise.results.plots.question_menu import plot_menu

        return plot_menu(self.menu, ax, title=title, figsize=figsize)

    def _card(self) -> Card:
        asked = TextTable(["what can be asked", "how"], [*self.questions.items()])
        tables = [self.table(), *([asked] if self.questions else [])]
        return Card(self.headline(), "advice", self.paragraphs(), tables=tables, draw=self.plot)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Advice: {self.headline()}>"


def _scale_in_words(scale: ResponseScale, of: int) -> str:
    name = "y" if of == 1 else f"y, column {scale.column}"
    if scale.classes:
        total = sum(scale.classes.values())
        shares = [
            f"{label} {number(100 * count / total)}%" for label, count in scale.classes.items()
        ]
        return (
            f"{name}: {len(shares)} {'class' if len(shares) == 1 else 'classes'}, rarest first: "
            f"{listed(shares, _MOST_CLASSES_NAMED)}. For labels take epsilon = 0; for "
            "probabilities, a probability."
        )
    if scale.sd is None or scale.quartiles is None:
        return ""
    low, middle, high = (number(q) for q in scale.quartiles)
    return (
        f"{name}: standard deviation {number(scale.sd)}, quartiles {low}, {middle} and {high}. "
        "epsilon is a change in these units that you would care about: 5% of the standard "
        f"deviation is {number(0.05 * scale.sd)}."
    )


def _unknowable(menu: Menu) -> str:
    unit = menu.per_trial.unit
    return (
        f"What cannot be known: whether an algorithm is stable at n = {menu.n_labeled:,}, all "
        f"{unit}s there are. What holds at a smaller n need not hold at a larger one, and no test "
        "that treats the algorithm as a black box can tell (Theorem 2)."
    )
