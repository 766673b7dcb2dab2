"""The journal of a run: it writes each trial, and continues an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from poise.arguments import counted
from poise.errors import ArgumentError, RecordError, warn_of_validity
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.results.design import Design
from poise.storage.journal.append_only_file import GrowingFile
from poise.storage.journal.complete_lines import CompleteLines
from poise.storage.journal.header import (
    Header,
    OtherLines,
    begun_randomness,
    current_versions,
)
from poise.storage.journal.trial_lines import (
    Answer,
    as_answers,
    as_lines,
    warnings_in,
    with_warnings,
)

__all__ = ["Journal"]


class Journal:
    """A file that keeps the trials of a run, also those of an earlier, interrupted run.

    Use: enter it, take the :meth:`randomness`, :meth:`describe` the run; the
    oracle then calls :meth:`begin` and :meth:`append`.

    Parameters
    ----------
    path : str or Path
        The file; created if it is not there.
    command : dict, optional
        How the command line was called, so that it can be called again.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> design = Design("mean", n=5, n_labeled=60, seed=3)
    >>> with Journal(path) as journal:
    ...     journal.describe(design, data="00ff")
    ...     known = list(journal.begin("fit by fit", decision_points=(0.0,)))
    ...     journal.append(np.array([0.5, 0.25]))
    >>> with Journal(path) as journal:
    ...     journal.randomness(None).root
    3
    """

    def __init__(self, path: str | Path, command: dict[str, Any] | None = None) -> None:
        self.path = self.place = Path(path)  # the path to continue from
        self.command = command or {}
        self.siblings: dict[str, Any] = {}
        self.trials = 0
        self._planned: Header
        self._noted: Sequence[str] = ()
        self._known: set[str] = set()  # the warnings that the file holds

    @classmethod
    def of(cls, journal: str | Path | Journal) -> Journal:
        """Accept a path where a journal is wanted."""
        if isinstance(journal, Journal):
            return journal
        if not isinstance(journal, (str, Path)):
            raise ArgumentError(f"journal must be the path of a file, got {journal!r}")
        return cls(journal)

    def __enter__(self) -> Journal:
        self._file = GrowingFile(self.path)
        try:
            first = next(iter(self._file.before), None)
            self._header = None if first is None else Header.from_line(first, str(self.path))
        except BaseException:
            self._file.close()
            raise
        return self

    def randomness(self, random_state: RandomStateLike) -> Randomness:
        """Return the randomness of this run; by default that of the earlier run.

        The kind of order of the rows is always that of the earlier run.
        """
        return begun_randomness(random_state, None if self._header is None else self._header.design)

    def describe(
        self,
        design: Design,
        data: str,
        question: dict[str, Any] | None = None,
        code: str = "",
        distance_code: str = "",
        warnings: Sequence[str] = (),
    ) -> None:
        """Set what will be measured, by which code, for which question, with which doubts.

        What is added to ``warnings`` later is written beside the next trial.
        """
        self._noted = warnings
        self._planned = Header(
            design,
            data,
            question=question or {},
            command=self.command,
            versions=current_versions(),
            code=code,
            distance_code=distance_code,
            siblings=self.siblings,
            warnings=tuple(warnings),
            lines=_other_lines(design),
        )

    def begin(self, path: str, decision_points: tuple[float, ...]) -> Iterator[Answer]:
        """Return the answers that the journal has, or write the header of a new journal.

        A journal that holds another run is refused.

        Parameters
        ----------
        path : str
            How changes are computed: fit by fit, or the name of a shortcut.
        decision_points : tuple of float
            Changes at which a decision turns.
        """
        now = replace(
            self._planned,
            design=replace(self._planned.design, path=path),
            decision_points=decision_points,
        )
        if self._header is None:
            self._file.append(now.to_line())
            self._file.sync()
            self._known = set(now.warnings)
            return iter(())
        self._header.check_same(now, str(self.path))
        self._warn(self._header, now)
        return self._trials_known(now.design.n_trials)

    def _warn(self, before: Header, now: Header) -> None:
        """Warn of what was noticed when the journal was continued, earlier or now."""
        noted = warnings_in(islice(self._file.before, 1, None))
        self._known = {*before.warnings, *noted}
        for text in dict.fromkeys((*noted, *before.doubts(now, str(self.path)))):
            warn_of_validity(text)

    def _trials_known(self, planned: int) -> Iterator[Answer]:
        self.trials = self._file.before.count - 1
        if self.trials > planned:
            raise RecordError(
                f"{self.path} holds {counted(self.trials, 'trial')}, and only {planned} exist"
            )
        return as_answers(islice(self._file.before, 1, None))

    def append(self, answer: Answer) -> None:
        """Write the next trial, or the next block of trials."""
        lines = as_lines(self.trials, answer)
        new = [text for text in self._noted if lines and text not in self._known]
        self._file.append(with_warnings(lines, new))
        self._known.update(new)
        self.trials += len(answer) if isinstance(answer, np.ndarray) else 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and self.trials and self._file.is_kept:
            # An interrupt may come between writing a line and counting it.
            with suppress(OSError, RecordError):
                self.trials = CompleteLines(self._file.place).count - 1
            error.add_note(self.how_to_resume())
        self._file.close()

    def how_to_resume(self) -> str:
        """Say which trials are kept, and how to continue."""
        again = f"poise resume {self.place}" if self.command else "the same call"
        known = f"{counted(self.trials, 'trial')} {'is' if self.trials == 1 else 'are'}"
        return f"{known} in {self.path}; {again} goes on from there"


def _other_lines(design: Design) -> dict[str, Any]:
    """Describe the lines of a journal that holds no trials of a stability test."""
    if not isinstance(design, OtherLines):
        return {}
    return {"planned": design.n_trials, "unit": design.unit}
