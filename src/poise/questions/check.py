"""Is an algorithm what a stability test takes it for? Six checks, a handful of fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np

from poise.data.rows import Rows, as_rows
from poise.data.suitable import holds_labels
from poise.engine.first_trial import BATCH, NOT_REPEATED, ORDER, STATE, Look, look, same
from poise.engine.messages import Query
from poise.engine.oracle import Oracle
from poise.errors import DataError
from poise.procedures.measure import MeasuredTrials
from poise.questions.job import Job
from poise.settings import MoreSettings, checked, documented

CHECKS = (
    "accepts n and n - 1 rows",
    "is deterministic",
    "keeps nothing between fits",
    "learns",
    "predicts row by row",
    "order of rows",
)
_HARDLY = 0.01  # predictions that vary less than this share of the sd hardly depend on the row
_FROZEN = "Neither other rows nor other responses change a prediction: is it a fitted model?"
_NEARLY_CONSTANT = "{} predicts nearly the same for every row: you may want a larger n."


@dataclass(frozen=True)
class Finding:
    """What one check found: "ok", a remark, a failure, or nothing that can be known."""

    mark: Literal["ok", "remark", "failed", "unknown"] = "ok"
    said: str = ""


_UNKNOWN = dict.fromkeys(CHECKS, Finding("unknown"))


@dataclass(frozen=True)
class Checked:
    """What the checks found; ``print`` shows it. That all are "ok" proves nothing.

    Attributes
    ----------
    algorithm : str
        Name and parameters.
    n : int
        Training size that was tried.
    findings : dict
        For each check its ``mark`` ("ok", "remark", "failed", "unknown") and what is ``said``.
    """

    algorithm: str
    n: int
    findings: dict[str, Finding]

    @property
    def ok(self) -> bool:
        """Whether no check failed; a remark is not a failure."""
        return all(found.mark != "failed" for found in self.findings.values())

    @property
    def remarks(self) -> list[str]:
        """What the checks say."""
        return [found.said for found in self.findings.values() if found.said]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self) | {"ok": self.ok}

    def __str__(self) -> str:
        lines = [f"{self.algorithm} trained on {self.n:,} rows:"]
        for name, found in self.findings.items():
            lines.append(f"{found.mark:9}{name}{found.said and ': '}{found.said}")
        return "\n".join(lines)


@documented(
    MoreSettings, leave=("name", "journal", "check", "fast", "max_trials", "removals_per_trial")
)
def check(
    algorithm: Any,
    X: Any,
    y: Any = None,
    *,
    n: float = 0.5,
    random_state: Any = 0,
    **settings: Unpack[MoreSettings],
) -> Checked:
    """Check whether an algorithm is what a stability test takes it for.

    It accepts n and n − 1 rows; the same rows and seed give the same predictions; nothing is kept
    between fits; its rows matter. What only narrows the question is a remark: predictions that
    depend on the rows beside them, and an order of the rows that matters. About eight fits of
    the first trial are made. A run looks at its own first trial anyway, except for the second and
    fourth.

    Parameters
    ----------
    {rows}
    {settings}

    Returns
    -------
    Checked

    See Also
    --------
    advise, stability_test

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import SGDRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = poise.check(SGDRegressor(), X, y, n=100)
    >>> found.ok, found.findings["order of rows"].mark
    (True, 'remark')
    """
    asked = {"n": n, "delta": 0.1, "random_state": random_state}
    asked |= checked("check", settings, MoreSettings)
    return checks_of(Job.of("checks", algorithm, X, y, asked))


def checks_of(job: Job) -> Checked:
    """Check the algorithm of a question; the first trial has as many points as the rows allow."""
    only = {"max_trials": 1, "removals_per_trial": 1, "fast": False}
    job = replace(job, settings={**job.settings, **only}, design=replace(job.design, max_trials=1))
    job = job.planned()
    if not job.design.n_trials:
        raise DataError("leaves no row to predict", argument="n", got=job.design.n)
    oracle = Oracle(job.algorithm, job.sample, job.distance, job.execution)
    [trial] = MeasuredTrials(job.split)
    seen = look(oracle, [trial], job.design.position)
    try:
        found = dict(zip(CHECKS, _findings(job, oracle, trial.full[0], seen), strict=False))
    finally:
        seen.close()
        oracle.heard.warn()
    return Checked(job.algorithm.name, job.design.n, _UNKNOWN | found)


def _findings(job: Job, oracle: Oracle, full: Query, seen: Look) -> Iterator[Finding]:
    """Make one check after the other, until nothing more can be known."""
    [first_trial] = seen.known.values() or oracle.ask(MeasuredTrials(job.after(seen).split)[:1])
    if first_trial.failure:
        message = first_trial.failure.message
        yield Finding("failed", f"Every trial may fail as this one does: {message}")
        return
    yield Finding()
    first, again = (each.values for each in oracle.ask([full, full]))
    if not same(first, again):
        yield Finding("failed", STATE.format("The same fit twice gives other predictions"))
        return
    yield Finding()
    said, learnt = " ".join(seen.finish()), _learnt(job, oracle, full, first)
    memory = Finding("unknown" if oracle.algorithm.device else "ok")
    if said:
        memory = Finding("unknown" if said.startswith(NOT_REPEATED) else "failed", said)
    yield memory
    yield Finding("unknown") if memory.mark == learnt.mark == "failed" else learnt
    together = oracle.distance.panel or len(full.points) == 1
    singly = Finding("unknown" if together and not oracle.algorithm.at_once else "ok")
    yield Finding("remark", BATCH) if seen.given_up else singly
    yield Finding("remark", ORDER) if ORDER in seen.warnings else Finding()


def _learnt(job: Job, oracle: Oracle, full: Query, first: Any) -> Finding:
    """Tell whether rows and responses matter: those of a fitted model do not."""
    spare = np.setdiff1d(np.arange(job.sample.n_labeled), np.append(full.train, full.points))
    others = np.append(spare, full.train)[: len(full.train)]
    [other] = oracle.ask([replace(full, train=others)])
    if same(first, other.values):
        y = _other_responses(job.sample.y, job.design.n_classes is not None)
        sample = replace(job.sample, y=as_rows(y, "y"))
        [other] = replace(oracle, sample=sample).ask([full])
        if same(first, other.values):
            return Finding("failed", _FROZEN)
    sd, numbers = job.design.sd, first.dtype.kind == "f" and len(first) > 1
    if sd is not None and numbers and float(np.std(first)) < _HARDLY * sd:
        return Finding("remark", _NEARLY_CONSTANT.format(job.algorithm.name))
    return Finding()


def _other_responses(y: Rows, classes: bool) -> Any:
    """Turn each class into the next one; move numbers by more than their range."""
    values = np.asarray(y.native)
    if not (classes or holds_labels(y)):
        return values + np.ptp(values, axis=0) + 1
    names, codes = np.unique(values, return_inverse=True)
    return np.roll(names, 1)[codes].reshape(values.shape)
