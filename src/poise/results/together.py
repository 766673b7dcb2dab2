"""Several algorithms, or several training sizes, that share one error level."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise import checks
from poise.checks import counted
from poise.errors import ArgumentError, RecordError
from poise.numbers import at_most, confidence, exactly, number, percent
from poise.results.design import Design
from poise.results.file import load
from poise.results.question import Family, Question
from poise.results.result import Result
from poise.results.shown import Shown
from poise.results.table import table
from poise.results.text.details import TextTable
from poise.results.text.sentences import change, effect, warned
from poise.results.trials import Trials

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = ("algorithm", "trials", "larger changes", "p", "P(larger)", "verdict")


@dataclass(frozen=True, repr=False)
class Together(Shown, Mapping[str, Result]):
    """Measurements by name, and the joint answers to one question about all of them.

    P(any wrong "stable") <= alpha, and so for "unstable": Holm's method on p-values that are valid
    at every level, however they depend on each other.

    Attributes
    ----------
    trials : mapping of str to Trials
        The changes of each.
    question : Question
        What is asked of each, at the level of all.
    """

    trials: Mapping[str, Trials]
    question: Question

    @cached_property
    def results(self) -> dict[str, Result]:
        """The answers; none where sizes of changes are to be limited and nothing is allowed."""
        designs = [each.design for each in self.trials.values()]
        if self.question.epsilon is None and designs[0].sized:
            return {}
        share = replace(self.question, alpha=self.question.alpha / len(designs))
        alone = [each.judge(share) for each in self.trials.values()]
        p, q = [each.pvalue for each in alone], [each.pvalue_unstable for each in alone]
        families = [Family((*p[:k], *p[k + 1 :]), (*q[:k], *q[k + 1 :])) for k in range(len(alone))]
        return {
            name: each.judge(replace(self.question, family=family))
            for (name, each), family in zip(self.trials.items(), families, strict=True)
        }

    def __getitem__(self, name: object) -> Result:
        if str(name) not in self.results:
            hint = checks.did_you_mean(str(name), self.results)
            raise KeyError(f"no result is called {name!r}{hint}")
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
    def _saved(self) -> Mapping[str, Trials | Result]:
        return self.results or self.trials

    @property
    def warnings(self) -> tuple[str, ...]:
        """Something because of which the error level may not hold, of any of them."""
        return tuple(dict.fromkeys(text for each in self._saved.values() for text in each.warnings))

    def table(self) -> TextTable:
        """Return one line for each, in words."""
        return table(self.results)

    def to_latex(self) -> str:
        """Return :meth:`table` in LaTeX; it needs the package booktabs."""
        return self.table().latex()

    def to_markdown(self) -> str:
        """Return :meth:`table` in Markdown."""
        return self.table().markdown()

    def save(self, folder: str | Path, *, command: str = "") -> None:
        """Write one file for each into a folder, which :func:`poise.load` reads.

        Parameters
        ----------
        folder : str or Path
            Made where there is none; it must not hold other results.
        command : str
            What was typed, kept in the files.
        """
        place, names = Path(folder), file_names(self._saved, "json")
        place.mkdir(exist_ok=True)
        if others := {each.name for each in place.glob("*.json")} - set(names):
            raise RecordError(f"{folder} holds {min(others)}: give a folder of its own")
        for name, each in zip(names, self._saved.values(), strict=True):
            each.save(place / name, command=command)

    def __bool__(self) -> bool:
        raise TypeError("several results are neither true nor false: say stable_names")

    def __str__(self) -> str:
        return "\n".join([*warned(self.warnings), self.table().text()])

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

    constant_error: float = math.nan

    def table(self) -> TextTable:
        """Return one line for each algorithm, and one for the best constant prediction."""
        found = table(self.results)
        columns = [found.columns.index(name) for name in _SHOWN]
        rows = [[row[k] for k in columns] for row in found.rows]
        errors = [each.error for each in self.trials.values()]
        if not math.isnan(self.constant_error):
            rows.append(["constant", *[""] * (len(_SHOWN) - 1)])
            errors.append(self.constant_error)
        said = ["" if math.isnan(each) else number(each, 3) for each in errors]
        rows = [[*row, text] for row, text in zip(rows, said, strict=True)]
        shown = [*_SHOWN, "error"] if any(said) else _SHOWN
        rows = rows if any(said) else [row[:-1] for row in rows]
        return TextTable(shown, rows, f"{self._asked}\n{found.caption}")

    @property
    def _asked(self) -> str:
        designs = [each.design for each in self.trials.values()]
        design = next((each for each in designs if not each.order_free), designs[0])
        return (
            f"{counted(len(designs), 'algorithm')} on the same trials of "
            f"{counted(design.n, design.unit)}. {_question(design, self.question)}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each algorithm, with all numbers of its result and its error."""
        import pandas as pd

        rows = pd.concat([each.to_frame() for each in self.results.values()])
        errors = [each.error for each in self.trials.values()]
        return rows.assign(error=errors).set_axis(list(self.results))

    def _plot(self, **place: Any) -> Any:
        from poise.results.plots.beside import plot_compared

        return plot_compared(self, **place)


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

    @property
    def n(self) -> list[int]:
        """The sizes."""
        return [each.design.n for each in self.trials.values()]

    @property
    def level(self) -> float:
        """Level of each limit: all of them share alpha."""
        sized = next(iter(self.trials.values())).design.sized
        return self.question.alpha / ((sized + bool(self.results)) * len(self.trials))

    @property
    def epsilon_upper(self) -> dict[int, float] | None:
        """At each size, the limit for the change that a share delta exceeds."""
        limits = {
            each.design.n: each.epsilon_upper(self.question.delta, self.level)
            for each in self.trials.values()
        }
        return None if None in limits.values() else limits  # type: ignore[return-value]

    @property
    def delta_upper(self) -> dict[int, float] | None:
        """At each size, the limit for P(change > epsilon); None where no epsilon was given."""
        if not self.results:
            return None
        return {
            each.design.n: self._delta_upper(each, self.question.epsilon, self.level)
            for each in self.trials.values()
        }

    def _delta_upper(self, trials: Trials, epsilon: float | None, alpha: float) -> float:
        return trials.delta_upper(epsilon, alpha, delta=self.question.delta)

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
        import pandas as pd

        sizes = [checks.count("n", each, 2) for each in (n if isinstance(n, Iterable) else [n])]
        rate = checks.number("power", power, "a finite number >= 0", low=0, high=math.inf, open=")")
        least = min(self.n)
        if not sizes or min(sizes) < least:
            raise ArgumentError(f"must hold sizes of at least {least:,}", argument="n", got=n)
        columns: dict[str, Any] = {"n": sizes}
        known = [
            [(t, (t.design.n / size) ** rate) for t in self.trials.values() if t.design.n <= size]
            for size in sizes
        ]
        if (limits := self.epsilon_upper) is not None:
            columns["epsilon_upper"] = [
                min(limits[t.design.n] * by for t, by in before) for before in known
            ]
        if self.results:  # each size asks about another epsilon, and has its share of the level
            share, allowed = self.level / len(sizes), self.question.epsilon
            columns["delta_upper"] = [
                min(self._delta_upper(t, allowed and allowed / by, share) for t, by in before)
                for before in known
            ]
        return pd.DataFrame(columns).assign(certified=False)

    def table(self) -> TextTable:
        """Return one line for each size, in words."""
        trials, delta = self.trials.values(), self.question.delta
        columns: dict[str, list[str]] = {
            "n": [f"{size:,}" for size in self.n],
            "trials": [f"{each.n_observed:,}" for each in trials],
        }
        if (sizes := self.epsilon_upper) is not None:
            columns[f"at most {percent(delta)} exceed"] = [at_most(each) for each in sizes.values()]
        if (chances := self.delta_upper) is not None:
            columns["P(larger)"] = [f"at most {at_most(each)}" for each in chances.values()]
            columns["p"] = [at_most(each.pvalue) for each in self.results.values()]
            columns["verdict"] = [each.verdict for each in self.results.values()]
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable(list(columns), rows, self._caption)

    @property
    def _caption(self) -> str:
        design, asked = next(iter(self.trials.values())).design, self.question
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
        import pandas as pd

        columns: dict[str, Any] = {"n": self.n}
        columns["n_trials"] = [each.n_observed for each in self.trials.values()]
        for name in ("epsilon_upper", "delta_upper"):
            if (limits := getattr(self, name)) is not None:
                columns[name] = list(limits.values())
        if self.results:
            columns["pvalue"] = [each.pvalue for each in self.results.values()]
            columns["verdict"] = [each.verdict for each in self.results.values()]
        return pd.DataFrame(columns)

    def _plot(self, **place: Any) -> Any:
        from poise.results.plots.beside import plot_curve

        return plot_curve(self, **place)


def _question(design: Design, question: Question) -> str:
    """Ask what is asked of each."""
    if design.compares == "decisions":
        asked = f"{change(design)} changes on average at most a share of"
    else:
        asked = (
            f"{change(design)} {effect(design, exactly(question.epsilon))} with probability at most"
        )
    return f"Asked of each: whether {asked} {exactly(question.delta)}."


def file_names(names: Collection[str], ending: str) -> list[str]:
    """Return a name of a file for each, in order."""
    width = len(str(len(names)))
    short = [re.sub(r"[^a-z0-9.=]+", "-", name.lower())[:40].strip("-.") for name in names]
    return [f"{k:0{width}d}-{name}.{ending}" for k, name in enumerate(short, 1)]


def load_together(folder: Path) -> Comparison | Curve:
    """Read what a comparison or a curve has saved, and judge it again."""
    found = [load(each) for each in sorted(folder.glob("*.json"))]
    trials = [each.trials if isinstance(each, Result) else each for each in found]
    families = [each.question.family for each in found if isinstance(each, Result)]
    questions = {replace(each.question, family=None) for each in found if isinstance(each, Result)}
    if not found or len(questions) > 1 or len(families) not in (0, len(found)) or None in families:
        raise RecordError(f"{folder} holds neither a comparison nor a curve")
    if missing := {each.size for each in families if each} - {len(found)}:
        raise RecordError(f"{folder} holds {len(found)} of {max(missing)} files")
    sizes = {str(each.design.n): each for each in trials}
    if not questions:
        return Curve(sizes, Question(None, trials[0].delta))
    if len(sizes) == len(trials) > 1:
        return Curve(sizes, questions.pop())
    named = {each.design.name or each.design.algorithm: each for each in trials}
    return Comparison(named, questions.pop())
