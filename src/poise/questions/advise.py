"""What the rows at hand can answer, and what to look at before asking."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import checks
from poise.data.copies import copies
from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.data.suitable import is_classification
from poise.errors import PoiseError
from poise.numbers import at_most, exactly, number
from poise.results.design import Design
from poise.results.planning import menu_table
from poise.theory.counts import clean_trials
from poise.theory.planning import MenuRow, menu

if TYPE_CHECKING:
    from poise.questions.job import Job

Spell = Callable[[str, Mapping[str, object]], str]

_ASKING = ("How large are the changes?", "Are they small enough?    ")
_LOOKED_AT = 100_000  # rows
_ALPHA = 0.05
_FEWEST = 20  # in fewer rows values differ, or rise, by chance
_OWNERS = {
    *("id", "patient", "subject", "person", "participant", "user", "customer", "client"),
    *("group", "site", "hospital", "school", "household", "session", "batch"),
}
_TIMES = {"date", "time", "datetime", "timestamp", "year", "month", "week", "day", "hour"}


@dataclass(frozen=True)
class Advice:
    """What rows can answer, what to look at first, and calls to copy; ``print`` shows it all.

    Attributes
    ----------
    n_labeled : int
        Labelled rows, or groups.
    delta, alpha : float
        The question that the menu is about.
    menu : list of MenuRow
        Training sizes, and what the Binomial test can say at each.
    largest : int
        The largest n at which "stable" can be the verdict; 0 if there is none.
    sd : float or None
        Standard deviation of the responses, which helps to choose epsilon.
    remarks : list of str
        What may be a mistake, in rows or algorithm.
    calls : dict
        Functions to call next, with what to ask; none where they would fail.
    """

    n_labeled: int
    delta: float
    alpha: float
    menu: list[MenuRow]
    largest: int
    sd: float | None
    remarks: list[str]
    calls: dict[str, dict[str, object]]
    unit: str = "row"
    given: str = ""  # what the calls need besides

    def lines(self, spell: Spell | None = None) -> list[str]:
        """Return the text; ``spell`` writes a call, as Python does by default."""
        table = menu_table(self.menu, delta=self.delta, alpha=self.alpha, unit=self.unit)
        said = [self._headline(), *([table.text()] if self.menu else [])]
        if self.sd is not None:
            said.append(
                f"The sd of the response is {number(self.sd)}: epsilon is in these units, or a "
                "share such as '5% of sd'."
            )
        calls = [(spell or self._as_python)(*call) for call in self.calls.items()]
        called = [f"{what}  {call}" for what, call in zip(_ASKING, calls, strict=False)]
        return [*said, *self.remarks, *called]

    def _headline(self) -> str:
        rows = checks.counted(self.n_labeled, f"labelled {self.unit}")
        if self.largest:
            return (
                f"{rows} can show delta = {exactly(self.delta)} for training sets of up to n = "
                f"{self.largest:,}. Whether the algorithm is stable when trained on all of them "
                "cannot be known from them."
            )
        least = int(clean_trials(self.delta, self.alpha))
        shown = [row.smallest_delta for row in self.menu if row.smallest_delta is not None]
        reach = f" They can show delta = {at_most(min(shown))} or more." if shown else ""
        shows = f"{rows} cannot show delta = {exactly(self.delta)}"
        return f'{shows}: "stable" needs {least:,} trials.{reach}'

    def _as_python(self, function: str, asked: Mapping[str, object]) -> str:
        words = "".join(f", {name}={value!r}" for name, value in asked.items())
        return f"poise.{function}(algorithm, X, y{words}{self.given})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "menu": [row._asdict() for row in self.menu]}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def advise(
    X: Any,
    y: Any = None,
    *,
    algorithm: Any = None,
    delta: float = 0.1,
    alpha: float = _ALPHA,
    X_unlabeled: Any = None,
    groups: Any = None,
    response: str = "predict",
) -> Advice:
    """List what these rows can answer, and what to look at before asking.

    Nothing is tested. An algorithm is looked at by :func:`check`, in about eight fits.

    Parameters
    ----------
    X : array, sparse matrix, data frame or list
        Labelled rows.
    y : array or str
        Responses, or the name of their column in X.
    algorithm : estimator, function or Algorithm, optional
        Checked on as many rows as the largest training size.
    delta : float, default 0.1
        Allowed probability of a larger change.
    alpha : float, default 0.05
        Error level.
    X_unlabeled : optional
        Rows without a response: more test points.
    groups : array or str, optional
        Group of each labelled row, or the name of a column.
    response : {"predict", "predict_proba", "decision_function"}
        Method of the estimator that is to be compared.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> advice = poise.advise(X, y, delta=0.2)
    >>> advice.largest, round(advice.sd, 1)
    (30, 77.1)
    """
    from poise.questions.check import checks_of
    from poise.questions.job import Job

    sample = Sample.of(X, y, X_unlabeled=X_unlabeled, groups=groups)
    counts = ("n_labeled", "n_unlabeled", "n_groups", "n_groups_unlabeled")
    rows: dict[str, Any] = {name: getattr(sample, name) for name in counts}
    design = Design(algorithm="any", n=2, **rows)
    found = menu(*design.units, delta=delta, alpha=alpha)
    least = clean_trials(delta, alpha)
    largest = max((row.n for row in found if row.n_trials >= least), default=0)
    remarks = [*filter(None, [copies(sample)]), *_of_columns(X, sample)]
    labels = response == "predict" and is_classification(sample.y)
    usable = largest > 0
    if labels and algorithm is None:
        remarks.append("The responses are classes: labels have no epsilon, probabilities have one.")
    if algorithm is not None:
        asked = {"n": largest or max(2, design.units[0] // 2), "delta": delta, "response": response}
        asked |= {"X_unlabeled": X_unlabeled, "groups": groups}
        try:
            job = Job.of("advise", algorithm, X, y, asked)
            remarks += [*checks_of(job).remarks, *_of_labels(job)]
        except PoiseError as error:
            usable = False
            remarks.append(f"The algorithm cannot be tested on these rows: {error}")
        else:
            labels = job.distance.name == "label"
    sd = None if is_classification(sample.y) else sample.sd()
    call: dict[str, object] = {"n": largest, "delta": delta}
    change = 0.1 if sd is None else float(number(0.05 * sd, 2).replace(",", ""))
    test = call | ({} if labels else {"epsilon": change})
    test |= {"alpha": alpha} if alpha != _ALPHA else {}
    calls = {"measure": call, "stability_test": test} if usable else {}
    given: dict[str, Any] = {"X_unlabeled": X_unlabeled, "groups": groups}
    given = {k: v if isinstance(v, str) else k for k, v in given.items() if v is not None}
    words = "".join(f", {k}={v if v == k else repr(v)}" for k, v in given.items())
    words += f", {response=}" if response != "predict" else ""
    about = (found, largest, sd, remarks, calls, design.unit, words)
    return Advice(design.units[0], delta, alpha, *about)


# remarks about columns


def _of_columns(X: Any, sample: Sample) -> Iterator[str]:
    """Remark on columns that look like names of rows, times or owners."""
    if isinstance(sample.X.labels, range) or sample.n_labeled < _FEWEST:  # columns without names
        return
    some = as_rows(sample.X.take(np.arange(min(sample.n_labeled, _LOOKED_AT))), "X")
    for name, values in zip(some.labels, some.columns(), strict=True):
        words = set(re.split(r"[^a-z]+", str(name).lower()))
        distinct = len(set(values.tolist()))
        if words & _TIMES or values.dtype.kind == "M":
            yield (
                f"Column {name!r} looks like a time: rows of a time series are not independent, "
                "which every guarantee here assumes."
            )
        elif distinct == len(values) and (words & _OWNERS or values.dtype.kind in "iuOUT"):
            yield f"Column {name!r} is different in every row, as an identifier is: leave it out?"
        elif words & _OWNERS:
            yield (
                f"Column {name!r} repeats {distinct:,} values: if rows of one value belong "
                f"together, groups={name!r} keeps them together."
            )


def _of_labels(job: Job) -> Iterator[str]:
    """Remark on a classifier whose labels are compared although it has probabilities."""
    estimator = getattr(job.algorithm, "estimator", None)
    if job.distance.name == "label" and hasattr(estimator, "predict_proba"):
        yield (
            "Labels are compared, which change only where a probability crosses one half; "
            "response='predict_proba' compares the probabilities."
        )
