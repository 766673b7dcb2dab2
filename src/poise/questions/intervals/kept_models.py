"""The models of jackknife+ in files beside its journal, so that a run can be continued."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poise.errors import ArgumentError

__all__ = ["KeptModels"]

# What joblib raises for files that are missing, cut short, or of another version.
_UNREADABLE = (OSError, EOFError, ValueError, KeyError, AttributeError, ImportError, IndexError)


@dataclass(frozen=True)
class KeptModels:
    """A folder with one pickle for each training row: the model without that row.

    The journal keeps residuals, which are numbers. Jackknife+ also predicts with the models, so
    these are kept in the folder ``JOURNAL.models``. Pickles run code when they are read: continue
    only runs of your own.

    Parameters
    ----------
    journal : Path
        The journal that the folder belongs to.

    Examples
    --------
    >>> import tempfile
    >>> kept = KeptModels(Path(tempfile.mkdtemp()) / "run.jsonl")
    >>> kept.save(3, {"slope": 2.0})
    >>> kept.load(3), kept.load(4)
    ({'slope': 2.0}, None)
    """

    journal: Path

    @property
    def folder(self) -> Path:
        """Where the models are."""
        return self.journal.with_name(self.journal.name + ".models")

    def save(self, row: int, model: Any) -> None:
        """Write the model without a row; a file is there only if it is complete."""
        import joblib

        self.folder.mkdir(exist_ok=True)
        unfinished = self.folder / f"{row}.unfinished"
        try:
            joblib.dump(model, unfinished)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ArgumentError(
                f"journal must be None for this algorithm: jackknife+ keeps its models, and a "
                f"{type(model).__name__} cannot be pickled ({error})"
            ) from error
        os.replace(unfinished, self._place(row))

    def load(self, row: int) -> Any:
        """Return the model without a row, or None if it must be fitted again."""
        import joblib

        try:
            return joblib.load(self._place(row))
        except (*_UNREADABLE, pickle.UnpicklingError):
            return None

    def _place(self, row: int) -> Path:
        return self.folder / f"{row}.pkl"
