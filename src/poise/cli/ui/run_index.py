"""The list of all runs under a folder; a file is read again only if it has changed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from poise.cli.ui.file_kind import FileKind, kind_of
from poise.cli.ui.result_file import ResultFile, open_result_file
from poise.cli.ui.results_folder import FileSeen, Folder
from poise.data.file_lock import is_locked
from poise.errors import PoiseError, in_one_line
from poise.results.verdict import OPEN
from poise.storage.journal.complete_lines import CompleteLines
from poise.storage.journal.journal_folder import header_of

__all__ = ["RunIndex", "RunLine"]

_SECONDS_BETWEEN_SCANS = 0.25
_LARGE_JOURNAL = 1 << 20  # bytes; while a larger one grows, its lines are only counted
_FILES_KEPT = 16
_READ_AT_ONCE = 60  # files that are read whatever time they take
_SECONDS_OF_READING = 0.3  # at a time: a thousand new files are listed at once, and read by and by
_ENDINGS = (".jsonl", ".json", ".trials", ".npz")


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """One line of the list.

    Attributes
    ----------
    file : FileSeen
        The file.
    kind : FileKind
        What it holds.
    title, data, verdict : str
        The algorithm, the rows, and the verdict; "open" while later trials decide.
    n : int or None
        Training size.
    done, planned : int
        Trials that were run, and all of them; 0 where the file does not say.
    running : bool
        Whether a process is writing it.
    seconds_left : float or None
        How long the remaining trials will take at most, at the pace since they were watched.
    reason : str
        Why the file cannot be read.
    other_lines : bool
        Whether its lines are not trials of a stability test.
    """

    file: FileSeen
    kind: FileKind
    title: str = ""
    data: str = ""
    verdict: str = ""
    n: int | None = None
    done: int = 0
    planned: int = 0
    running: bool = False
    seconds_left: float | None = None
    reason: str = ""
    other_lines: bool = False

    @property
    def unfinished(self) -> bool:
        """Whether trials are left that could be run."""
        return self.kind == FileKind.JOURNAL and self.done < self.planned

    @property
    def undecided(self) -> bool:
        """Whether trials are left, and they decide the verdict."""
        return self.unfinished and self.verdict in (OPEN, "")

    @property
    def comparable(self) -> bool:
        """Whether the file holds changes that can stand beside others."""
        return self.kind in (FileKind.JOURNAL, FileKind.TRIALS) and not self.other_lines

    @property
    def searched(self) -> str:
        """The text in which a search looks."""
        words = (self.file.name, self.kind, self.title, self.data, self.verdict, f"n={self.n}")
        return " ".join(words).lower()


class RunIndex:
    """Every journal, saved trials, result, transcript and certificate under a folder.

    Parameters
    ----------
    folder : Folder
        Where to look.

    Attributes
    ----------
    version : int
        Grows whenever a line has changed.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.version = 0
        self._lines: dict[str, RunLine] = {}
        self._skipped: dict[str, tuple[int, ...]] = {}  # files that are not poise's
        self._watched: dict[str, tuple[float, int]] = {}  # since when, and trials done then
        self._opened: OrderedDict[tuple[str, tuple[int, ...]], ResultFile] = OrderedDict()
        self._scanned = float("-inf")
        self._lock = threading.RLock()

    def lines(self) -> list[RunLine]:
        """Look at the folder, and return all lines, the newest first."""
        self.refresh()
        return sorted(self._lines.values(), key=lambda line: line.file.changed, reverse=True)

    def line(self, key: str) -> RunLine | None:
        """Return one line as it is now."""
        self.refresh()
        return self._lines.get(key)

    def refresh(self) -> int:
        """Look at the folder unless that was done a moment ago; return the version."""
        with self._lock:
            if time.monotonic() - self._scanned >= _SECONDS_BETWEEN_SCANS:
                self._update(self.folder.files())
                self._scanned = time.monotonic()
            return self.version

    def _update(self, files: Iterable[FileSeen]) -> None:
        before, now = self._lines, {}
        budget = _Budget()
        for file in files:
            line = self._line_of(file, budget)
            if line is not None:
                now[file.key] = self._timed(line)
        if now != before:
            self._lines, self.version = now, self.version + 1

    def _line_of(self, file: FileSeen, budget: _Budget) -> RunLine | None:
        if self._skipped.get(file.key) == file.stamp:
            return None
        known = self._lines.get(file.key)
        read = known is not None and known.kind != FileKind.UNREAD
        if known is not None and read and known.file.stamp == file.stamp:
            running = known.unfinished and is_locked(file.path)
            if running == known.running:
                return known
        if not budget.allows():
            later = RunLine(file=file, kind=FileKind.UNREAD)
            return known or (later if file.path.suffix in _ENDINGS else None)
        line = _read_line(file)
        if line is None:
            self._skipped[file.key] = file.stamp
        return line

    def _timed(self, line: RunLine) -> RunLine:
        """Estimate the time left from the pace at which this run was seen to grow."""
        key = line.file.key
        if not line.running:
            self._watched.pop(key, None)
            return replace(line, seconds_left=None)
        since, done = self._watched.setdefault(key, (time.time(), line.done))
        fresh = line.done - done
        if fresh <= 0:
            return line
        each = (line.file.changed - since) / fresh
        return replace(line, seconds_left=max(0.0, each * (line.planned - line.done)))

    def opened(self, line: RunLine) -> ResultFile:
        """Return the content of a file; the last few are kept."""
        asked = line.file.key, line.file.stamp
        with self._lock:
            if asked in self._opened:
                self._opened.move_to_end(asked)
                return self._opened[asked]
        opened = open_result_file(line.file.path, line.kind)
        with self._lock:
            self._opened[asked] = opened
            while len(self._opened) > _FILES_KEPT:
                self._opened.popitem(last=False)
        return opened


class _Budget:
    """How many files may be read now; the others wait for the next look at the folder."""

    def __init__(self) -> None:
        self._read = 0
        self._until = time.perf_counter() + _SECONDS_OF_READING

    def allows(self) -> bool:
        """Tell whether one more file may be read, and count it."""
        self._read += 1
        return self._read <= _READ_AT_ONCE or time.perf_counter() < self._until


def _read_line(file: FileSeen) -> RunLine | None:
    """Read what the list shows of a file; whatever is wrong with it becomes its line."""
    try:
        kind = kind_of(file.path)
        if kind is None:
            return None
        running = kind == FileKind.JOURNAL and is_locked(file.path)
        if running and file.size > _LARGE_JOURNAL:
            return _growing(file)
        opened = open_result_file(file.path, kind)
        return _line(file, opened, running)
    except PoiseError as error:
        reason = str(error).replace(f"{file.path.parent}/", "")
        return RunLine(file=file, kind=FileKind.UNREADABLE, reason=reason)
    except Exception as error:  # a file must never end the server
        return RunLine(file=file, kind=FileKind.UNREADABLE, reason=in_one_line(error))


def _line(file: FileSeen, opened: ResultFile, running: bool) -> RunLine:
    return RunLine(
        file=file,
        kind=opened.kind,
        title=opened.title,
        data=opened.data,
        verdict=opened.verdict,
        n=opened.n,
        done=opened.done,
        planned=opened.planned,
        running=running and opened.done < opened.planned,
        other_lines=opened.lines is not None,
    )


def _growing(file: FileSeen) -> RunLine:
    """Count the trials of a large journal that is being written, without reading them."""
    design = header_of(file.path).design
    done = max(0, CompleteLines(Path(file.path)).count - 1)
    return RunLine(
        file=file,
        kind=FileKind.JOURNAL,
        title=design.title,
        verdict=OPEN,
        n=design.n,
        done=done,
        planned=design.n_trials,
        running=True,
    )
