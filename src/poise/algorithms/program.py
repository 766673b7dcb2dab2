"""A program in any language as an algorithm: rows go in as CSV, predictions come out as a line.

poise writes requests to the standard input of the program until that ends::

    7 31415 50 2        number of the request, seed, rows to train on, rows to predict
    size,town,price     a header and 50 lines; the response is the last column
    ...
    size,town           a header and 2 lines
    ...

and reads one line from its output, with one prediction for each row, or the reason why not::

    predictions 7 102.5,98.25
    error 7 the matrix is singular
"""

from __future__ import annotations

import atexit
import copy
import csv
import datetime
import decimal
import io
import math
import numbers
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm, Predict, seed_from
from poise.algorithms.distances import LABELS_ONLY
from poise.checks import counted
from poise.data.rows import Rows, as_rows, is_sparse
from poise.data.sample import Sample
from poise.data.suitable import is_missing
from poise.errors import AlgorithmError, TrialError

# Fits run side by side already: a second layer of threads makes each of them slower.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_ANSWER = re.compile(r"(predictions|error) (\d+)(?: (.*))?$")
_LONGEST = 1 << 26  # bytes of a line
notes = ""  # the folder in which a worker notes which groups must end with it
_PATIENCE = 2.0  # seconds that a program has to end by itself


class Program(Algorithm):
    """A program in any language, as an algorithm.

    It is started once in each process that fits, and answers one request after the other; the
    page on programs describes what it reads and writes. If it dies or breaks these rules, that
    fit has failed, and the next one starts it again, as does the next run if a file that the
    command names was edited.

    Parameters
    ----------
    command : str or sequence of str
        Program and arguments; a text is split into words as a shell does, but no shell runs it.
    keep : bool
        Whether it is kept for further requests. If not, it is started for each prediction, and
        its input ends after one request.
    folder : path
        Where it runs.

    Examples
    --------
    >>> mean = '''NR==1 {id=$1; n=$3}
    ... NR>2 && NR<=n+2 {sum += $NF}
    ... END {print "predictions", id, sum / n}'''
    >>> program = Program(["awk", "-F[ ,]", mean], keep=False)
    >>> program.fit([[0.0], [1.0]], [1.0, 3.0], xi=0)([[5.0]])
    array([2.])
    """

    def __init__(
        self, command: str | Sequence[str], *, keep: bool = True, folder: str | Path = "."
    ) -> None:
        words = shlex.split(command) if isinstance(command, str) else map(os.fspath, command)
        self.words, self.keep, self.folder = tuple(words), keep, os.path.abspath(folder)
        self.name, self.edited = shlex.join(self.words), self._edited()
        self.seconds: float | None = None  # that an answer may take
        first = next(iter(self.words), "")
        if shutil.which(os.path.join(self.folder, first) if os.sep in first else first) is None:
            problem = f"cannot find the program {first!r}"
            raise AlgorithmError(problem, remedy="install it, or give its path")

    @property
    def user_code(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The files that its words name: they decide what is computed."""
        paths = (os.path.join(self.folder, word) for word in self.words)
        return tuple(Path(path) for path in paths if os.path.isfile(path))

    def _edited(self) -> list[int]:
        """Return when they were edited last: what runs may be an older version."""
        return [file.stat().st_mtime_ns for file in self.user_code]

    def with_limit(self, seconds: float) -> Program:
        """Return the program with a time limit for each answer."""
        limited = copy.copy(self)
        limited.seconds = seconds
        return limited

    def prepared(self, sample: Sample) -> Any:
        """Refuse rows that a program cannot read."""
        if sample.n_responses > 1:
            problem = f"predicts one response, and y has {sample.n_responses}"
            raise AlgorithmError(f"{self.name} {problem}")
        _names(sample.X, sample.y)
        for rows in filter(None, (sample.X, sample.y, sample.X_unlabeled)):
            for values in rows.columns():
                if values.dtype.kind not in "biufM":
                    _cells(values)
        ready: Any = super().prepared(sample)
        ready.edited = self._edited()
        return ready

    def fit(self, X: Any, y: Any, xi: int) -> Predict:  # type: ignore[override]
        """Keep the rows: the program needs them together with those to predict."""
        rows, responses = as_rows(X, "X"), as_rows(y, "y")
        names = _names(rows, responses)
        train = _csv(names, [*rows.columns(), *responses.columns()])

        def predict(points: Any) -> NDArray[Any]:
            tested = as_rows(points, "X")
            head = f"{seed_from(xi)} {len(rows)} {len(tested)}\n"
            return self._predictions(head + train + _csv(names[:-1], tested.columns()), len(tested))

        return predict

    def _predictions(self, request: str, rows: int) -> NDArray[Any]:
        """Ask the program that runs, or a new one; a failed request is never tried again."""
        key = os.getpid(), self.words, self.folder
        running = _Running.idle.pop(key, None)
        if running is not None and not running.serves(self.edited):
            running.end(_PATIENCE)
            running = None
        running = running or _Running(self.words, self.folder, self.edited)
        try:
            kind, text = running.answer(request, self.seconds, last=not self.keep)
        except BaseException:  # after an interrupt its state is unknown
            running.end()
            raise
        if not self.keep or _Running.idle.setdefault(key, running) is not running:
            running.end(_PATIENCE)
        if kind == "error":
            raise TrialError(f"{running.name} reported an error: {text}")
        return self._read(text, rows)

    def _read(self, text: str, rows: int) -> NDArray[Any]:
        """Read one prediction for each row: a number, several, or a label where y has labels."""
        fields = next(csv.reader([text], skipinitialspace=True), [])
        if len(fields) != rows:
            gave = f"gave {counted(len(fields), 'prediction')} for {counted(rows, 'row')}"
            raise TrialError(f"the program `{self.name}` {gave}: {text[:200]}")
        try:
            found = np.array([[*map(_number, field.split() or [""])] for field in fields])
        except ValueError as error:
            if self.natural_distance == LABELS_ONLY:
                return np.array([None if each == "NA" else each for each in fields], object)
            raise TrialError(f"the program `{self.name}` gave no numbers: {error}") from None
        return found[:, 0] if found.shape[1] == 1 else found

    def close(self) -> None:
        """End the program in this process; the next fit starts it again."""
        running = _Running.idle.pop((os.getpid(), self.words, self.folder), None)
        if running is not None:
            running.end(_PATIENCE)


class _Running:
    """A running program, alone in a group of processes."""

    # A fork must neither use nor end the programs of its parent.
    idle: ClassVar[dict[tuple[int, tuple[str, ...], str], _Running]] = {}

    def __init__(self, words: tuple[str, ...], folder: str, edited: list[int]) -> None:
        self.name, self.edited = f"the program `{shlex.join(words)}`", edited
        self.asked, self.late = 0, False
        self.said: deque[str] = deque(maxlen=10)
        try:
            self.process = subprocess.Popen(
                words,
                cwd=folder,
                env=ONE_THREAD | os.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,  # so that nobody has to empty a second pipe
                start_new_session=True,
            )
        except OSError as error:
            raise TrialError(f"{self.name} could not be started: {error}") from error
        self.stdin: Any = self.process.stdin
        self.stdout: Any = self.process.stdout
        self.note = Path(notes, f"group-{os.getpid()}-{self.process.pid}")
        if notes:
            self.note.touch()
        threading.Thread(target=self._see_it_end, daemon=True).start()

    def serves(self, edited: list[int]) -> bool:
        """Tell whether it still runs, in this version."""
        return self.edited == edited and self.process.poll() is None

    def _see_it_end(self) -> None:
        """End what it leaves behind: a child of its own could hold its output open for ever."""
        self.process.wait()
        self._kill_family()
        self.note.unlink(missing_ok=True)

    def answer(self, request: str, seconds: float | None, last: bool) -> tuple[str, str]:
        """Return the kind and the text of its answer; what else it prints explains an error."""
        self.asked += 1
        self.said.clear()
        text = f"{self.asked} {request}".encode()
        # A program that writes before it reads must not block both sides.
        self.writer = threading.Thread(target=self._send, args=(text, last), daemon=True)
        self.writer.start()
        timer = None if seconds is None else threading.Timer(seconds, self._expire)
        if timer is not None:
            timer.start()
        try:
            found = self._answer()
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()  # from here on it is known whether it was late
        if self.late:
            raise self._problem(f"took longer than fit_timeout={seconds:g}", "timeout")
        if found is None:
            how = self.end(_PATIENCE)
            raise self._problem(f"ended, or closed its output, before it answered ({how})")
        return found

    def _send(self, text: bytes, last: bool) -> None:
        with suppress(OSError, ValueError):  # a dead reader shows as the end of its output
            self.stdin.write(text)
            self.stdin.flush()
            if last:
                self.stdin.close()

    def _answer(self) -> tuple[str, str] | None:
        """Read up to the answer; progress may stand before it, without an end of line."""
        for line in iter(lambda: self.stdout.readline(_LONGEST), b""):
            text = line.decode(errors="backslashreplace").strip()
            found = _ANSWER.search(text)
            if found and int(found[2]) == self.asked:
                return found[1], found[3] or ""
            if found and not found.start():  # two answers to one request, say
                raise self._problem(f"answered request {found[2]} when {self.asked} was asked")
            self.said.append(text[:200])
        return None

    def _expire(self) -> None:
        self.late = True
        self._kill_family()

    def _problem(self, what: str, kind: str = "error") -> TrialError:
        said = "".join(f"\n    {line}" for line in self.said)
        said = f"; it said last:{said}" if said else ""
        return TrialError(f"{self.name} {what}{said}", kind=kind)

    def _kill_family(self) -> None:
        """Kill the whole group: if only a wrapper script were killed, the real work would go on."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def end(self, patience: float = 0.0) -> str:
        """Close its input, kill it if that does not end it, and say how it ended."""
        self.writer.join(patience)
        if not self.writer.is_alive():
            _close(self.stdin)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        if self.process.poll() is None:
            self._kill_family()
        status = self.process.wait()
        self.writer.join()
        _close(self.stdin, self.stdout)
        return f"exit status {status}" if status >= 0 else f"killed by signal {-status}"


def _close(*pipes: Any) -> None:
    for pipe in pipes:
        with suppress(OSError):  # what it did not read is lost
            pipe.close()


@atexit.register
def _end_all() -> None:
    for (process, *_), running in list(_Running.idle.items()):
        if process == os.getpid():
            running.end(_PATIENCE)


# rows as text


def _names(X: Rows, y: Rows) -> list[str]:
    """Name the columns, the response last."""
    if is_sparse(X.native):
        raise AlgorithmError("a program reads a table", remedy="give X.toarray()")
    names = [label if isinstance(label, str) else f"x{label + 1}" for label in X.labels]
    response = getattr(y.native, "name", None) or y.labels[0]
    names.append(response if isinstance(response, str) else "y")
    if names[-1] in names[:-1]:
        problem = f"a feature and the response are both named {names[-1]!r}"
        raise AlgorithmError(problem, remedy="rename one of them")
    return [_cell(name) for name in names]


def _csv(names: Sequence[str], columns: Iterable[NDArray[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*map(_cells, columns), strict=True))
    return text.getvalue()


def _cells(values: NDArray[Any]) -> list[Any]:
    """Write a column: numbers with all their digits, NA where there is none."""
    kind, cells = values.dtype.kind, values.tolist()
    if kind == "f" and np.isnan(values).any():
        return [cell if cell == cell else "NA" for cell in cells]
    if kind == "M":
        days = np.datetime_as_string(values, unit="auto").tolist()
        return ["NA" if day == "NaT" else day for day in days]
    return cells if kind in "fiu" else [_cell(cell) for cell in cells]


def _cell(value: Any) -> Any:
    if is_missing(value):
        return "NA"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, str) and "\n" not in value and "\r" not in value:
        return value
    problem = "a program reads numbers, dates, and text on one line"
    raise AlgorithmError(problem, got=value)


def _number(text: str) -> float:
    if "_" in text:  # which Python takes for a digit
        raise ValueError(f"could not convert string to float: {text!r}")
    return math.nan if text in ("", "NA") else float(text)
