"""How a result or a measurement is shown: as text, in a notebook, as JSON, as a table.

A class says three things, ``describe``, ``facts`` and ``to_dict``; the rest follows and is
written here once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.results.change_arrays import nan_to_none
from poise.results.json_encoding import to_json
from poise.results.saved_file import naming_saved, read_saved, write_saved
from poise.results.text.summary import in_words
from poise.results.text.table import TextTable
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from poise.results.text.summary import Summary

__all__ = [
    "DrawnVerdict",
    "Presented",
    "PresentedTable",
    "PresentedTrials",
    "PresentedVerdict",
    "as_frame",
]


def as_frame(content: Mapping[str, Any]) -> Any:
    """Return a pandas DataFrame of one row; a nested value is named after both levels.

    Examples
    --------
    >>> as_frame({"verdict": "stable", "design": {"n": 5}}).columns.tolist()
    ['verdict', 'design.n']
    """
    import pandas as pd

    return pd.json_normalize(dict(content))


class Presented(ShownAsCard):
    """Something with words and numbers; abstract.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 30, n=5)
    >>> isinstance(trials, Presented), trials.summary() == str(trials)
    (True, True)
    """

    warnings: tuple[str, ...]

    @abstractmethod
    def describe(self) -> Summary:
        """Return headline and paragraphs."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return the numbers, worded, under the names that readers see."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value."""

    def summary(self) -> str:
        """Say everything in plain sentences, with what was not shown."""
        return str(self.describe())

    def __str__(self) -> str:
        return self.summary()

    def to_json(self, indent: int | None = 2) -> str:
        """Write everything as JSON; ``from_json`` reads it back exactly."""
        return to_json(self.to_dict(), indent)

    def _card(self) -> Card:
        summary = self.describe()
        return Card(
            summary.headline,
            self._badge(),
            summary.paragraphs,
            summary.warnings,
            self.facts(),
            draw=self._picture(),
        )

    def _badge(self) -> str:
        """Return the verdict; "measured" where nothing is judged."""
        return "measured"

    def _picture(self) -> Callable[[], Any] | None:
        """Return what draws the picture of the card; None where there is none."""
        return None


class PresentedVerdict(Presented):
    """A verdict on one question; abstract."""

    if TYPE_CHECKING:  # a field in some classes, computed in others

        @property
        def verdict(self) -> Outcome:
            """The verdict."""

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == Outcome.STABLE

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for results side by side."""
        return as_frame(self.to_dict())

    def to_html(self) -> str:
        """Return the card that a notebook shows: verdict, sentence, picture and numbers."""
        return self._card().html()

    def _badge(self) -> str:
        return self.verdict.value


class DrawnVerdict(PresentedVerdict):
    """A verdict that can be drawn; abstract."""

    @abstractmethod
    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw what decided; return the figure, or ``ax``."""

    def _picture(self) -> Callable[[], Any]:
        return self.plot


class PresentedTable(ShownAsCard):
    """Several answers at once: a headline, a table and what they mean; abstract."""

    _word: ClassVar[str]  # what the card calls them

    @property
    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """What may make the error level wrong."""

    @abstractmethod
    def headline(self) -> str:
        """Say in one sentence what was asked and what came out."""

    @abstractmethod
    def table(self) -> TextTable:
        """Return one line per answer."""

    @abstractmethod
    def meaning(self) -> str:
        """Say what is guaranteed, and what is not."""

    def summary(self) -> str:
        """Return headline, table and what they mean."""
        return f"{self.headline()}\n\n{self.table().text()}\n\n{self.meaning()}"

    def __str__(self) -> str:
        return self.summary()

    def _card(self) -> Card:
        said = [line for line in self.meaning().splitlines() if line not in in_words(self.warnings)]
        table = replace(self.table(), caption="")
        head = (self.headline(), self._word, said, self.warnings)
        return Card(*head, tables=[table], draw=self.plot)

    @abstractmethod
    def plot(self) -> Any:
        """Return a figure of all answers."""


class PresentedTrials(Presented):
    """A measurement, not yet judged: an array of changes and a header; abstract."""

    file_format: ClassVar[str]
    changes: NDArray[np.float64]

    @abstractmethod
    def _header(self) -> dict[str, Any]:
        """Return everything but the changes as plain values."""

    @classmethod
    @abstractmethod
    def _from_header(cls, changes: ArrayLike, header: dict[str, Any]) -> Self:
        """Read what was written, and refuse what contradicts itself."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"changes": nan_to_none(self.changes)} | self._header()

    def save(self, path: str | Path) -> None:
        """Write the measurement to one file (NumPy's npz format, readable anywhere)."""
        write_saved(path, self.file_format, self.changes, self._header())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote."""
        saved = read_saved(path, cls.file_format)
        with naming_saved(path):
            return cls._from_header(*saved)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.changes.tobytes())

    @property
    def n_observed(self) -> int:
        """Number of trials that were run."""
        return len(self.changes)

    def to_json(self, indent: int | None = None) -> str:
        """Write the measurement as JSON; ``from_json`` reads it back exactly."""
        return super().to_json(indent)
