"""Follow one row of a CSV file through ``poise test``: print every file of poise that handles it.

A file handles the row if one of its functions gets it as an argument or returns it, alone or
inside a table or an object of poise, in one of its forms: the text of the row, its values, its
number, the change of its trial, the p-values, the verdict, the exit status.

What becomes of the row is known from the Python function, which answers the same question. Other
values of the row give another change of one trial: that is its trial.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import FrameType, FunctionType, MemberDescriptorType
from typing import Any

# What others wrote is imported before calls are noted: each would be a call into this script.
import numpy as np
import pandas as pd
import scipy.stats  # noqa: F401
from click.testing import CliRunner
from sklearn.svm import SVR

import poise
from poise.cli import main
from poise.cli.exit_status import ExitStatus

SOURCE = Path(poise.__file__).parent
N, EPSILON, DELTA, SEED = 20, 0.001, 0.3, 0
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>")
ROW = 283  # in a trial that is run; no size, count or level of this run is the same number


def answered(rows: np.ndarray) -> poise.StabilityResult:
    """Return the result that the command will print."""
    question = {"n": N, "epsilon": EPSILON, "delta": DELTA, "random_state": SEED}
    return poise.stability_test(SVR(), rows[:, :1], rows[:, 1], **question)


def change_of_its_trial(rows: np.ndarray, result: poise.StabilityResult) -> float:
    """Return the change of the trial that has the row."""
    others = rows.copy()
    others[ROW] += 1
    assert result.trials is not None
    changes = result.trials.changes
    (trial,) = np.flatnonzero(changes != answered(others).trials.changes)
    return float(changes[trial])


class Forms:
    """The forms of the row, and whether an object holds one of them."""

    def __init__(self, rows: np.ndarray) -> None:
        result = answered(rows)
        self.words = [str(value) for value in rows[ROW]]
        self.headline, self.verdict = result.describe().headline, result.verdict.value
        change = change_of_its_trial(rows, result)
        self.numbers = [*rows[ROW], change, result.pvalue, result.pvalue_unstable]

    def among(self, values: list[Any]) -> bool:
        """Whether a function that gets or returns these values handles the row."""
        seen: dict[int, Any] = {}
        return any(
            (isinstance(value, str) and value == self.verdict) or self.within(value, seen)
            for value in values
        )

    def within(self, value: Any, seen: dict[int, Any]) -> bool:
        """Whether it is a form of the row, or holds one."""
        if id(value) in seen:
            return False
        seen[id(value)] = value
        if isinstance(value, Enum):
            return isinstance(value, poise.Outcome | ExitStatus)
        if isinstance(value, str):
            return self.headline in value or any(word in value for word in self.words)
        if isinstance(value, bytes | bytearray | memoryview):
            return any(word.encode() in bytes(value) for word in self.words)
        if isinstance(value, np.ndarray | np.generic | float | int):
            return self.in_array(np.asarray(value), seen)
        return any(self.within(part, seen) for part in parts(value))

    def in_array(self, values: np.ndarray, seen: dict[int, Any]) -> bool:
        if values.dtype.kind == "O":
            return any(self.within(value, seen) for value in values.ravel().tolist())
        if values.dtype.kind == "f":
            return bool(np.isin(values, self.numbers).any())
        return values.dtype.kind in "iu" and bool((values == ROW).any())


def parts(value: Any) -> Iterator[Any]:
    """Yield what a container, a table or an object of poise holds."""
    if isinstance(value, dict):
        yield from list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)
    elif isinstance(value, pd.DataFrame | pd.Series):
        yield value.to_numpy()
    elif not isinstance(value, type | FunctionType) and _ours(type(value)):
        yield from list(getattr(value, "__dict__", {}).values())
        for kind in type(value).__mro__:
            for slot in list(vars(kind).values()):
                if isinstance(slot, MemberDescriptorType):
                    yield slot.__get__(value, kind)


def arguments(frame: FrameType) -> list[Any]:
    """Return what a function got; a generator that goes on has other variables by then."""
    code = frame.f_code
    several = bool(code.co_flags & inspect.CO_VARARGS) + bool(
        code.co_flags & inspect.CO_VARKEYWORDS
    )
    count = code.co_argcount + code.co_kwonlyargcount + several
    names = [name for name in code.co_varnames[:count] if name in frame.f_locals]
    return [frame.f_locals[name] for name in names]


def _ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("poise", "narwhals")  # a frame within a frame


class Trace:
    """Notes the files of poise whose functions handle the row."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, returned: Any) -> None:
        code = frame.f_code
        # Neither the body of a class, nor a comprehension: since Python 3.12 it is no call.
        a_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in COMPREHENSIONS
        ours = code.co_filename.startswith(f"{SOURCE}{os.sep}")
        if event not in ("call", "return") or not a_function or not ours:
            return
        values = [returned] if event == "return" else arguments(frame)
        sys.setprofile(None)
        if self.forms.among(values):
            self.files.add(Path(code.co_filename).relative_to(SOURCE).as_posix())
        sys.setprofile(self)


def traced() -> set[str]:
    """Run the command on rows in the current folder; return the files that handle the row."""
    rows = np.random.default_rng(0).normal(size=(300, 2))
    lines = "".join(f"{x},{y}\n" for x, y in rows)
    Path("rows.csv").write_text("x,y\n" + lines, encoding="utf-8")
    trace = Trace(Forms(rows))
    words = f"test rows.csv --target y --algorithm sklearn.svm:SVR --n {N} --epsilon {EPSILON}"
    sys.setprofile(trace)
    done = CliRunner().invoke(main, [*words.split(), f"--delta={DELTA}", f"--seed={SEED}"])
    sys.setprofile(None)
    assert trace.forms.headline in done.output, done.output
    return trace.files


if __name__ == "__main__":
    print("\n".join(sorted(traced())))
