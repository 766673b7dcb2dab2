"""Runs that the page starts, stops and resumes: ordinary processes that outlive the server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

from poise.cli.ui.results_folder import Folder
from poise.errors import ArgumentError, RecordError

__all__ = ["StartedRuns"]

_NOTES = ".poise-ui"  # a hidden folder beside the results: what runs print, and who they are
_NAME = re.compile(r"[A-Za-z0-9_][\w.,=+-]{0,99}\.jsonl")
_MOST_OUTPUT = 20_000  # characters
_SECONDS_FOR_PREFLIGHT = 300


class StartedRuns:
    """Processes of `poise test` and `poise resume`, by the names of their journals.

    They are started in a session of their own, so that they go on when the page is closed, the
    server ends, or its terminal is closed. A note in the folder lets a later server stop them.

    Parameters
    ----------
    folder : Folder
        Where runs are started, and where their journals are.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._children: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def journal_name(self, name: str) -> str:
        """Check the name of a new journal."""
        given = name if name.endswith(".jsonl") else f"{name}.jsonl"
        if not _NAME.fullmatch(given):
            raise ArgumentError(
                f"the name of a run may have letters, digits and _ . , = + - only, got {name!r}"
            )
        if (self.folder.path / given).exists():
            raise ArgumentError(f"{given} is there already; give another name, or resume it")
        return given

    def start(self, journal: str, words: list[str]) -> None:
        """Start a command that writes this journal, and let it go."""
        notes = self.folder.path / _NOTES
        notes.mkdir(exist_ok=True)
        if not self.folder.holds(notes):
            raise ArgumentError(f"{_NOTES} leads out of the folder; remove it")
        with self._lock, self._output(journal).open("wb") as output:
            self._reap()
            child = subprocess.Popen(
                _command(words),
                cwd=self.folder.path,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._children.append(child)
            note = {"pid": child.pid, "began": _began(child.pid)}
            self._note(journal).write_text(json.dumps(note), encoding="utf-8")

    def resume(self, journal: str, path: Path) -> None:
        """Continue a run with the command that its journal holds; the page has shown it."""
        self.start(journal, ["resume", "--yes", "--", str(path)])

    def stop(self, journal: str) -> None:
        """End a run as Ctrl-C would; what it has measured stays in its journal."""
        pid = self.process(journal)
        if pid is None:
            raise RecordError(
                f"{journal} was not started from here, or has ended; end it where it was started"
            )
        os.kill(pid, signal.SIGTERM)

    def process(self, journal: str) -> int | None:
        """Return the process that writes a journal, if it was started here and still lives."""
        with self._lock:
            self._reap()
        try:
            note = json.loads(self._note(journal).read_bytes())
            pid, began = int(note["pid"]), note["began"]
            os.kill(pid, 0)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # The number may by now be that of another process.
        return pid if began == _began(pid) and began is not None else None

    def said(self, journal: str) -> str:
        """Return the last lines that a run printed."""
        try:
            text = self._output(journal).read_bytes()[-_MOST_OUTPUT:]
        except OSError:
            return ""
        return text.decode("utf-8", "replace").strip()

    def preflight(self, words: list[str]) -> tuple[int, str]:
        """Run a command to its end; return its status and what it printed."""
        try:
            done = subprocess.run(
                _command(words),
                cwd=self.folder.path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS_FOR_PREFLIGHT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 2, f"The preflight took longer than {_SECONDS_FOR_PREFLIGHT} s and was ended."
        return done.returncode, done.stdout.decode("utf-8", "replace").strip()

    def _reap(self) -> None:
        """Let go of children that have ended, so that none stays as a zombie."""
        self._children = [child for child in self._children if child.poll() is None]

    def _note(self, journal: str) -> Path:
        return self.folder.path / _NOTES / f"{_flat(journal)}.process"

    def _output(self, journal: str) -> Path:
        return self.folder.path / _NOTES / f"{_flat(journal)}.log"


def _flat(journal: str) -> str:
    """Return a name without folders."""
    return journal.replace("%", "%25").replace("/", "%2F")


def _command(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "poise", *words]


def _began(pid: int) -> str | None:
    """Return when a process began; two processes of one number began at different times."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        asked = ["ps", "-o", "lstart=", "-p", str(pid)]
        try:
            found = subprocess.run(asked, capture_output=True, text=True, check=False)
        except OSError:
            return None
        return found.stdout.strip() or None
