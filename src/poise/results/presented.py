"""How a result or a measurement is shown: as text, in a notebook, as JSON, as a table.

A class says three things, ``describe``, ``facts`` and ``to_dict``; the rest follows and is
written here once.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from poise.results.change_arrays import nan_to_none
from poise.results.json_encoding import to_json
from poise.results.saved_file import naming_saved, read_saved, write_saved
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from poise.results.text.summary import Summary

__all__ = ["Presented", "PresentedTrials", "PresentedVerdict"]


class Presented:
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


class PresentedVerdict(Presented):
    """A verdict on one question; abstract."""

    verdict: Outcome

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == Outcome.STABLE

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for results side by side."""
        from poise.results.text.facts import as_frame

        return as_frame(self.to_dict())

    def to_html(self) -> str:
        """Return a small HTML table with the verdict and its numbers."""
        from poise.results.text.facts import as_html

        summary = self.describe()
        return as_html(self.facts(), summary.headline, summary.warnings)

    def _repr_html_(self) -> str:
        return self.to_html()


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

    def _repr_html_(self) -> str:
        from poise.results.text.facts import as_html

        return as_html(self.facts(), warnings=self.warnings)

    def to_json(self, indent: int | None = None) -> str:
        """Write the measurement as JSON; ``from_json`` reads it back exactly."""
        return super().to_json(indent)
