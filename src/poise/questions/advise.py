"""What these rows can answer, before anything is tested."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poise import checks
from poise.data.copies import copies
from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.data.suitable import is_classification
from poise.errors import PoiseError, in_one_line
from poise.numbers import exactly, number
from poise.questions.check import checks_of
from poise.questions.job import Job, sd_of
from poise.results.planning import menu_table
from poise.theory.counts import clean_trials
from poise.theory.planning import MenuRow, menu

Spell = Callable[[str, Mapping[str, object]], str]

_LOOKED_AT = 100_000  # rows
_ALPHA = 0.05
_FEWEST = 20  # in fewer rows values differ, or rise, by chance
_OWNERS = {
    *("id", "patient", "subject", "person", "participant", "user", "customer", "client"),
    *("group", "site", "hospital", "school", "household", "session", "batch"),
}
_TIMES = {"date", "time", "datetime", "timestamp", "year", "month", "week", "day", "hour"}
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})\b")


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
    seconds : float or None
        Time of one fit of the algorithm at the largest n.
    """

    n_labeled: int
    delta: float
    alpha: float
    menu: list[MenuRow]
    largest: int
    sd: float | None
    remarks: list[str]
    seconds: float | None = None
    labels: bool = False
    unit: str = "row"
    given: str = ""  # what the calls need besides

    def lines(self, spell: Spell | None = None) -> list[str]:
        """Return the text; ``spell`` writes a call, as Python does by default."""
        table = menu_table(self.menu, delta=self.delta, alpha=self.alpha)
        said = [self._headline(), table.text() if self.menu else "", *self._scale()]
        return [*filter(None, said), *self.remarks, *self._calls(spell or self._as_python)]

    def _headline(self) -> str:
        rows = checks.counted(self.n_labeled, f"labelled {self.unit}")
        if not self.largest:
            least = int(clean_trials(self.delta, self.alpha))
            return (
                f'{rows} cannot show delta = {exactly(self.delta)}: "stable" needs {least} trials.'
            )
        return (
            f"{rows} can show delta = {exactly(self.delta)} for training sets of up to n = "
            f"{self.largest:,}. Whether the algorithm is stable when trained on all of them cannot "
            "be known from them."
        )

    def _scale(self) -> Iterator[str]:
        if self.sd is not None:
            yield (
                f"The sd of the response is {number(self.sd)}: epsilon is in these units, or a "
                "share such as '5% of sd'."
            )
        if self.seconds is not None:
            fits = next((row.n_fits for row in self.menu if row.n == self.largest), 0)
            each, all_of_them = (number(count * self.seconds, 2) for count in (1, fits))
            yield f"One fit takes {each} s, so the {fits:,} of a run about {all_of_them} s."

    def _calls(self, spell: Spell) -> Iterator[str]:
        if not self.largest:
            return
        asked: dict[str, object] = {"n": self.largest, "delta": self.delta}
        change = 0.1 if self.sd is None else float(number(0.05 * self.sd, 2).replace(",", ""))
        epsilon: dict[str, object] = {} if self.labels else {"epsilon": change}
        epsilon |= {"alpha": self.alpha} if self.alpha != _ALPHA else {}
        yield f"How large are the changes?  {spell('measure', asked)}"
        yield f"Are they small enough?      {spell('stability_test', {**asked, **epsilon})}"

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
    sample = Sample.of(X, y, X_unlabeled=X_unlabeled, groups=groups)
    labeled, unlabeled = sample.n_labeled, sample.n_unlabeled
    if sample.n_groups is not None:
        labeled, unlabeled = sample.n_groups, sample.n_groups_unlabeled
    found = menu(labeled, unlabeled, delta=delta, alpha=alpha)
    least = clean_trials(delta, alpha)
    largest = max((row.n for row in found if row.n_trials >= least), default=0)
    remarks = [*filter(None, [copies(sample)]), *_of_columns(X, sample)]
    seconds, labels = None, False
    if algorithm is None and response == "predict" and is_classification(sample.y):
        labels = True
        remarks.append("The responses are classes: labels have no epsilon, probabilities have one.")
    if algorithm is not None:
        asked = {"n": largest or max(2, labeled // 2), "delta": delta, "response": response}
        asked |= {"X_unlabeled": X_unlabeled, "groups": groups}
        try:
            job = Job.of("advise", algorithm, X, y, asked)
            tried = checks_of(job)
        except PoiseError as error:
            remarks.append(f"The algorithm cannot be tested on these rows: {in_one_line(error)}")
        else:
            seconds, labels = tried.seconds, job.distance.name == "label"
            remarks += [*tried.remarks, *_of_labels(job)]
    sd = None if is_classification(sample.y) else sd_of(sample)
    shown = (labeled, delta, alpha, found, largest, sd)
    given: dict[str, Any] = {"X_unlabeled": X_unlabeled, "groups": groups}
    given = {k: v if isinstance(v, str) else k for k, v in given.items() if v is not None}
    words = "".join(f", {k}={v if v == k else repr(v)}" for k, v in given.items())
    words += f", {response=}" if response != "predict" else ""
    unit = "row" if groups is None else "group"
    return Advice(*shown, remarks, seconds, labels, unit, words)


# remarks about columns


def _of_columns(X: Any, sample: Sample) -> Iterator[str]:
    """Remark on columns that look like names of rows, times or owners."""
    if isinstance(sample.X.labels, range) or sample.n_labeled < _FEWEST:  # columns without names
        return
    some = as_rows(sample.X.take(np.arange(min(sample.n_labeled, _LOOKED_AT))), "X")
    for name, values in some.values():
        words = set(re.split(r"[^a-z]+", str(name).lower()))
        distinct = len(set(values.tolist()))
        if words & _TIMES or values.dtype.kind == "M" or _DATE.match(str(values[0])):
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
