"""Several results: as one table, and sharing one error level."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise import checks
from poise.checks import counted
from poise.errors import ArgumentError, RecordError
from poise.numbers import confidence, exactly, number, percent, without_noise
from poise.results.design import Design
from poise.results.file import write
from poise.results.plots import Shown, as_frame
from poise.results.question import Family, Question
from poise.results.result import Result, as_row
from poise.results.sentences import change, effect, warned
from poise.results.tables import TextTable, cells, table, written
from poise.results.trials import Trials

if TYPE_CHECKING:
    import pandas as pd

_COMPARED = ("algorithm", "trials", "larger changes", "p", "P(larger)", "verdict")


@dataclass(frozen=True, repr=False)
class Together(Shown, Mapping[str, Result]):
    """Measurements by name, and the joint answers to one question about all of them.

    P(any wrong "stable") <= alpha, and so for "unstable": Holm's method on p-values that are valid
    at every level, however they depend on each other.
    """

    trials: Mapping[str, Trials]
    question: Question

    @cached_property
    def results(self) -> dict[str, Result]:
        """The answers; none where sizes of changes are to be limited and nothing is allowed."""
        if self.question.epsilon is None and self._design.sized:
            return {}
        share = replace(self.question, alpha=self.question.alpha / len(self.trials))
        alone = [each.judge(share) for each in self.trials.values()]
        p, q = [each.pvalue for each in alone], [each.pvalue_unstable for each in alone]
        families = [Family((*p[:k], *p[k + 1 :]), (*q[:k], *q[k + 1 :])) for k in range(len(alone))]
        return {
            name: each.judge(replace(self.question, family=family))
            for (name, each), family in zip(self.trials.items(), families, strict=True)
        }

    @property
    def _design(self) -> Design:
        """The design of the first."""
        return next(iter(self.trials.values())).design

    def __getitem__(self, name: object) -> Result:
        if str(name) not in self.results:  # a size may be a number
            raise KeyError(f"{name!r}{checks.did_you_mean(str(name), self.results)}")
        return self.results[str(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def stable_names(self) -> list[str]:
        """Those with the verdict "stable"."""
        return [name for name, each in self.results.items() if each.stable]

    @property
    def answers(self) -> Mapping[str, Trials | Result]:
        """The results, or what was measured where nothing was asked."""
        return self.results or self.trials

    @property
    def warnings(self) -> tuple[str, ...]:
        """Something because of which the error level may not hold, of any of them."""
        every = [text for each in self.answers.values() for text in each.warnings]
        return tuple(dict.fromkeys(every))

    def table(self) -> TextTable:
        """Return one line for each, in words."""
        return table(self.results)

    def to_latex(self) -> str:
        """Return :meth:`table` in LaTeX; it needs the package booktabs."""
        return self.table().latex()

    def to_markdown(self) -> str:
        """Return :meth:`table` in Markdown."""
        return self.table().markdown()

    def save(self, folder: str | Path) -> None:
        """Write one file for each into a folder, which :func:`poise.load` reads.

        Parameters
        ----------
        folder : str or Path
            Made where there is none; it must not hold other results.
        """
        error = getattr(self, "constant_error", math.nan)
        save_each(self.answers, folder, **({} if math.isnan(error) else {"constant_error": error}))

    def __bool__(self) -> bool:
        raise TypeError("several results are neither true nor false: say stable_names")

    def __str__(self) -> str:
        table = self.table()
        untold = (text for text in self.warnings if text.removesuffix(".") not in table.caption)
        return "\n".join([*warned(tuple(untold)), table.text()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.trials)}; {self.question})"

    def _repr_html_(self) -> str:
        return self.table().html()


@dataclass(frozen=True, repr=False)
class Comparison(Together):
    """Which of several algorithms are stable, with one error level for all verdicts.

    P(any algorithm that is not stable is called stable) <= alpha, and P(any that is stable is
    called unstable) <= alpha, by Holm's method, although all were run on the same rows. That one
    is called stable and another is not does not show that the first is more stable.

    Attributes
    ----------
    trials : mapping of str to Trials
        The changes of each; trial k has the same rows, points and random terms in all.
    question : Question
        What is asked of all of them.
    constant_error : float
        Mean error of the best constant prediction on the same trials; nan where it is not known.

    Examples
    --------
    >>> calm = Trials.from_changes([0.1] * 60, n=5)
    >>> wild = Trials.from_changes([0.1, 0.9] * 30, n=5)
    >>> found = Comparison({"calm": calm, "wild": wild}, Question(0.5, 0.1))
    >>> found.stable_names, found["wild"].verdict
    (['calm'], 'unstable')
    """

    drawn_by = "plot_compared"

    constant_error: float = math.nan

    def table(self) -> TextTable:
        """Return one line for each algorithm, and one for the best constant prediction."""
        rows = [cells(name, each) for name, each in self.results.items()]
        rows = [row | _error(self.trials[row["algorithm"]].error) for row in rows]
        if constant := _error(self.constant_error):
            rows.append({"algorithm": "constant", **constant})
        columns = [*_COMPARED, "error"] if any("error" in row for row in rows) else _COMPARED
        caption = f"{self._asked}\n{table(self.results).caption}"
        if any(each.raced for each in self.values()):
            caption += ' Runs ended early once "stable" was certain or out of reach.'
        return TextTable.of(rows, caption, columns)

    @property
    def _asked(self) -> str:
        designs = [each.design for each in self.trials.values()]
        design = next((each for each in designs if not each.order_free), self._design)
        same = f"on the same trials of {counted(design.n, design.unit)}"
        return f"{counted(len(designs), 'algorithm')} {same}. {_question(design, self.question)}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each algorithm, with all numbers of its result and its error."""
        rows = [as_row(each) | {"error": each.trials.error} for each in self.results.values()]
        return as_frame(rows, list(self.results))


@dataclass(frozen=True, repr=False)
class Curve(Together):
    """Stability at several training sizes: limits that hold at all of them at once.

    With probability at least 1 - alpha every limit of the curve holds. Where a change was asked
    about, sizes are called stable by Holm's method: P(any of them is not) <= alpha. Nothing is
    said of other sizes.

    Attributes
    ----------
    trials : mapping of str to Trials
        The changes at each size.
    question : Question
        What is asked at each size; without ``epsilon`` only limits are computed.

    Examples
    --------
    >>> sizes = {str(n): Trials.from_changes([1.0 / n] * 60, n=n) for n in (5, 10)}
    >>> Curve(sizes, Question(None, 0.1)).epsilon_upper
    {5: 0.2, 10: 0.1}
    """

    drawn_by = "plot_curve"

    @property
    def n(self) -> list[int]:
        """The sizes."""
        return [each.design.n for each in self.trials.values()]

    @property
    def level(self) -> float:
        """Level of each limit: all of them share alpha."""
        limits = (self._design.sized + bool(self.results)) * len(self.trials)
        return self.question.alpha / limits

    @property
    def epsilon_upper(self) -> dict[int, float] | None:
        """At each size, the limit for the change that a share delta exceeds."""
        asked = (self.question.delta, self.level)
        limits = {each.design.n: each.epsilon_upper(*asked) for each in self.trials.values()}
        return None if None in limits.values() else limits  # type: ignore[return-value]

    @property
    def delta_upper(self) -> dict[int, float] | None:
        """At each size, the limit for P(change > epsilon); None where no epsilon was given."""
        if not self.results:
            return None
        level, epsilon, delta = self.level, self.question.epsilon, self.question.delta
        each = self.trials.values()
        return {t.design.n: t.delta_upper(epsilon, level, delta=delta) for t in each}

    def extrapolate(self, n: int | Iterable[int], power: float = 0.0) -> pd.DataFrame:
        """Carry the limits on to larger sizes, if changes shrink at least like n^-power.

        That is an assumption, which no data at smaller sizes can support: nothing is certified.

        Parameters
        ----------
        n : int or list of int
            Sizes, none below the smallest that was measured.
        power : float, default 0
            At least 0; 0 assumes that changes do not grow with n.

        Returns
        -------
        DataFrame
            A row for each size with its limits, and ``certified``, which is False.
        """
        least = min(self.n)
        several = n if isinstance(n, Iterable) else [n]
        sizes = [checks.count("n", each, least) for each in several]
        if not sizes:
            raise ArgumentError("must hold a size", argument="n", got=n)
        rate = checks.number("power", power, "a finite number >= 0")
        if rate and not self._design.sized:
            problem = f"must be 0: a change of the {self._design.distance} has no size"
            raise ArgumentError(problem, argument="power", got=power)
        limits, rows = self.epsilon_upper, []
        allowed, delta = self.question.epsilon, self.question.delta
        for size in sizes:
            smaller = [t for t in self.trials.values() if t.design.n <= size]
            carried = [(t, (t.design.n / size) ** rate) for t in smaller]
            row: dict[str, float] = {"n": size}
            if limits:
                row["epsilon_upper"] = min(limits[t.design.n] * by for t, by in carried)
            if self.results:  # each size asks about another epsilon, and has its share of the level
                share = self.level / len(sizes)
                asked = [(t, allowed and allowed / by) for t, by in carried]
                row["delta_upper"] = min(t.delta_upper(to, share, delta=delta) for t, to in asked)
            rows.append(row | {"certified": False})
        return as_frame(rows)

    def table(self) -> TextTable:
        """Return one line for each size, in words."""
        numbers = self._numbers
        heads = {"n_trials": "trials", "delta_upper": "P(larger) at most", "pvalue": "p"}
        heads["epsilon_upper"] = f"at most {percent(self.question.delta)} exceed"
        columns = [[written(name, each) for each in numbers[name]] for name in numbers]
        names = [heads.get(name, name) for name in numbers]
        return TextTable(names, list(zip(*columns, strict=True)), self._caption)

    @property
    def _numbers(self) -> dict[str, list[Any]]:
        """The columns of its tables."""
        limits = {"epsilon_upper": self.epsilon_upper, "delta_upper": self.delta_upper}
        trials = [each.n_observed for each in self.trials.values()]
        columns: dict[str, list[Any]] = {"n": self.n, "n_trials": trials}
        columns |= {name: list(each.values()) for name, each in limits.items() if each}
        for name in ("pvalue", "verdict") if self.results else ():
            columns[name] = [getattr(each, name) for each in self.results.values()]
        return columns

    @property
    def _caption(self) -> str:
        design, asked = self._design, self.question
        sure = f"All limits hold at once with {confidence(asked.alpha)} confidence"
        if not self.results:
            return f"{design.title}: {change(design)}. {sure}; nothing is said of other sizes."
        return (
            f"{design.title}. {_question(design, asked)}\n{sure}; any size is wrongly called "
            f"stable with probability at most {exactly(asked.alpha)} (p is adjusted by Holm's "
            "method). Nothing is said of other sizes."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each size, with its limits and, if one was asked for, its verdict."""
        return as_frame(self._numbers)


def _error(value: float) -> dict[str, str]:
    """Write a mean prediction error, if it is known."""
    return {} if math.isnan(value) else {"error": number(value, 3)}


def _question(design: Design, question: Question) -> str:
    """Ask what is asked of each."""
    asked = "changes on average at most a share of"
    if design.compares != "decisions":
        asked = f"{effect(design, exactly(question.epsilon))} with probability at most"
    return f"Asked of each: whether {change(design)} {asked} {exactly(question.delta)}."


def file_names(names: Collection[str], ending: str) -> list[str]:
    """Return a name of a file for each, in order."""
    width = len(str(len(names)))
    short = [re.sub(r"[^a-z0-9.=]+", "-", name.lower())[:40].strip("-.") for name in names]
    return [f"{k:0{width}d}-{name}.{ending}" for k, name in enumerate(short, 1)]


def save_each(answers: Mapping[str, Trials | Result], folder: str | Path, **more: float) -> None:
    """Write one file for each answer into a folder of their own, with more fields."""
    place, names = Path(folder), file_names(answers, "json")
    place.mkdir(exist_ok=True)
    if others := {each.name for each in place.glob("*.json")} - set(names):
        raise RecordError(f"{folder} holds {min(others)}: give a folder of its own")
    for name, each in zip(names, answers.values(), strict=True):
        write(place / name, each, **more)


def load_together(
    folder: Path, load: Callable[[Path], Any]
) -> Comparison | Curve | dict[str, Trials | Result]:
    """Read what a comparison or a curve has saved, or its journals; or answers side by side."""
    files = sorted(folder.glob("*.json")) or sorted(folder.glob("*.journal"))
    if not files:
        raise RecordError(f"{folder} holds no answers")
    found = {each.stem: load(each) for each in files}
    trials = [each.trials if isinstance(each, Result) else each for each in found.values()]
    sizes = {str(each.design.n): each for each in trials}
    curve = len(sizes) == len(trials) > 1
    shared = {_shared(each, curve) for each in found.values()}
    if None in shared or len(shared) > 1:  # each is for itself
        return found
    question, count = shared.pop()  # type: ignore[misc]
    if count not in (0, len(found)):
        raise RecordError(f"{folder} holds {len(found)} of {count} files")
    if curve:
        return Curve(sizes, question)
    named = {each.design.name or each.design.algorithm: each for each in trials}
    constant_error = getattr(trials[0].origin, "constant_error", None)
    return Comparison(named, question, math.nan if constant_error is None else constant_error)


def _shared(answer: Trials | Result, curve: bool) -> tuple[Question, int] | None:
    """Return the question that answers share, and how many they are; 0 if that is not known."""
    if isinstance(answer, Result):
        family = answer.question.family
        return None if family is None else (replace(answer.question, family=None), family.size)
    rivals, asked = getattr(answer.origin, "rivals", 0), answer.asked
    if asked and rivals:
        return replace(asked, alpha=without_noise(rivals * asked.alpha)), rivals
    return (Question(None, answer.delta), rivals) if curve else None
