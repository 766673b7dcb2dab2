"""Check a result file without trusting whoever made it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from poise import checks
from poise.algorithms.distances import DISTANCES
from poise.checks import counted
from poise.engine.execution import Execution
from poise.engine.messages import Answers, Floats
from poise.engine.oracle import Oracle
from poise.errors import ArgumentError, PoiseError, RecordError, in_one_line
from poise.questions.changed import two_models
from poise.questions.deployed import GivenJob, with_fresh_rows
from poise.questions.job import TRIAL, Job
from poise.results import file
from poise.results.design import Design
from poise.results.result import Result
from poise.results.trials import Trials
from poise.settings import Everything, checked
from poise.shortcuts.blocks import AGREEMENT

_DIGITS = 1e-6  # relative: other libraries may compute the same number so differently
_OF_ROWS = (  # of a design: what the algorithm and the rows say
    *("algorithm", "n", "n_labeled", "n_unlabeled", "n_groups", "n_groups_unlabeled", "n_classes"),
    *("few_values", "compares", "distance", "coupling", "set_aside"),
)


@dataclass
class Verification:
    """What was found out about a file; ``print`` shows it all.

    Attributes
    ----------
    verdict : str
        The file's verdict, which follows from its changes.
    checked : list of str
        What is true.
    wrong : list of str
        What is not, and no version of a library explains.
    unrepeated : list of str
        What differs here, perhaps because versions do, which are named.
    open : list of str
        What was not checked.
    n_repeated : int
        Trials that were repeated.
    """

    verdict: str = ""
    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unrepeated: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    n_repeated: int = 0

    @property
    def outcome(self) -> str:
        """The answer: "verified", "not what it claims" or "could not be repeated"."""
        if self.wrong:
            return "not what it claims"
        return "could not be repeated" if self.unrepeated else "verified"

    @property
    def verified(self) -> bool:
        """Whether nothing was found that differs."""
        return self.outcome == "verified"

    def __str__(self) -> str:
        verdict = f" (verdict: {self.verdict})" if self.verdict else ""
        lists = {"is true": self.checked, "is wrong": self.wrong, "differs": self.unrepeated}
        lists["not checked"] = self.open
        lines = [f"{said}: {text}." for said, texts in lists.items() for text in texts]
        return "\n".join([f"{self.outcome.upper()}{verdict}", *lines])

    def __bool__(self) -> bool:
        raise TypeError("a verification has no truth value: say verification.verified")


def verify(
    path: str | Path,
    algorithm: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    trials: int = 20,
    **settings: Any,
) -> Verification:
    """Judge a saved result again, and repeat some of its trials.

    The digest of the file tells whether it is as poise wrote it, and its verdict is derived again
    from its changes. With the algorithm and the rows, trials that nobody could foresee are fitted
    again: a file in which a share f of the changes was invented passes with probability at most
    (1 - f)^trials. Only a signature tells who wrote a file.

    Parameters
    ----------
    path : str or Path
        What ``result.save(path)`` wrote.
    algorithm, X, y : optional
        As they were given to :func:`poise.stability_test`; of :func:`poise.changed` the two models
        and the fresh rows.
    trials : int, default 20
        Number of trials to repeat, drawn at random.
    **settings
        Rows that were given besides (``X_unlabeled``, ``X_fresh``, ``groups``, …), a
        ``distance`` or ``coupling`` of your own, and ``n_jobs``.

    Returns
    -------
    Verification

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> poise.stability_test(Lasso(), X, y, n=10, epsilon=25, delta=0.2).save("lasso.json")
    >>> poise.verify("lasso.json", Lasso(), X, y).outcome
    'verified'
    """
    if (algorithm is None) != (X is None):
        raise ArgumentError("needs X and y as well, or neither", argument="algorithm")
    wanted = checks.count("trials", trials, 1)
    found = Verification()
    try:
        document = file.read(path)
        judged = file.restored(document, path)
    except RecordError as error:
        found.wrong.append(in_one_line(error))
        return found
    _check_verdict(found, judged, document.verdict)
    if algorithm is None:
        found.open.append("that the changes are those of the algorithm on its rows: give both")
    elif isinstance(judged, Result) and judged.test == "open-ended":
        found.open.append("the trials of a monitor, whose rows came in several calls")
    elif not found.wrong:
        measured = judged.trials if isinstance(judged, Result) else judged
        try:
            job = _same_job(measured.design, algorithm, X, y, settings)
        except (PoiseError, TypeError) as error:
            found.wrong.append(f"the run cannot be made again: {in_one_line(error)}")
        else:
            _compare(found, job, measured, wanted)
    return found


def _check_verdict(found: Verification, judged: Trials | Result, said: str) -> None:
    """Compare the verdict that the file states with what follows from its changes."""
    found.verdict = judged.verdict if isinstance(judged, Result) else ""
    if said != found.verdict:
        found.wrong.append(f"the verdict is {said} in the file, but {found.verdict} by its changes")
    elif said:
        found.checked.append("the verdict follows from the changes")
    family = judged.question.family if isinstance(judged, Result) else None
    if family is not None and family.size > 1:
        found.open.append(f"the p-values of the {family.size - 1} others that share alpha")


def _same_job(design: Design, algorithm: Any, X: Any, y: Any, settings: Mapping[str, Any]) -> Job:
    """Make the job of a design again; what the look at trial 1 showed is taken from there."""
    asked: dict[str, Any] = {name: getattr(design, name) for name in ("n", *TRIAL)}
    asked |= {"check": False, "on_error": "record", "delta": 0.1}
    if design.coupling == "independent":
        asked["coupling"] = design.coupling
    if design.distance in DISTANCES or "(" in design.distance:
        asked["distance"] = design.distance
    asked |= {**settings, "random_state": design.seed}
    if design.notion == "new":
        job = Job.of("verify", algorithm, X, y, asked)
    elif design.notion == "changed":
        job = two_models("verify", algorithm, X, y, asked)
    else:
        X_fresh, y_fresh = (asked.pop(name, None) for name in ("X_fresh", "y_fresh"))
        given = checked("verify", asked, Everything) | {"chosen_from": design.chosen_from}
        sample = with_fresh_rows(X, y, X_fresh, y_fresh, given)
        job = GivenJob.on(algorithm, sample, given, design.notion, design.without)
    if design.epsilon_as_typed:
        job, _ = job.with_epsilon(design.epsilon_as_typed)
    return job


def _compare(found: Verification, job: Job, trials: Trials, wanted: int) -> None:
    """Compare what rows and algorithm say of the design, then their digests, then some trials."""
    there, origin = trials.design, cast("file.Document", trials.origin)
    others = _other_versions(origin.versions, job.versions)
    for name in _OF_ROWS:
        before, now = getattr(there, name), getattr(job.design, name)
        if before != now:
            found.wrong.append(f"{name} is {before} in the file, and {now} here")
    if origin.data != job.data:
        found.wrong.append("the rows are not those of the file")
    if "python" in others:  # what code compiles to depends on it
        found.open.append("the digest of the code: the version of Python differs")
    elif dict(origin.code) != job.code:
        found.wrong.append("the code of the algorithm is not that of the file")
    if found.verified:
        _repeat(found, job.planned().with_design(there), trials, wanted, others)


def _other_versions(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    pairs = {n: (there.get(n, "none"), here.get(n, "none")) for n in sorted({*there, *here})}
    return ", ".join(f"{n} {a} there, {b} here" for n, (a, b) in pairs.items() if a != b)


def _repeat(found: Verification, job: Job, trials: Trials, wanted: int, others: str) -> None:
    """Fit trials again that nobody could foresee; errors are compared beside changes."""
    every, why = _with_errors(trials), others
    rng = np.random.default_rng(secrets.randbits(128))
    chosen = np.sort(rng.permutation(len(every))[:wanted])
    if not len(chosen):
        return
    execution = Execution(n_jobs=job.settings["n_jobs"], on_error="record")
    oracle = Oracle(job.algorithm, job.sample, job.distance, execution)
    there, here = every[chosen], _with_errors(job.repeated(oracle, chosen))
    allowed = _DIGITS * (size := np.abs(every[np.isfinite(every)]).max(initial=0.0))
    if job.shortcut is not None:  # the file's changes may be those of a formula
        allowed = AGREEMENT * (size + np.abs(job.shortcut.y).max())
        why = others or "fits beside an exact formula"
    same, near = (np.isclose(here, there, 0, most, equal_nan=True) for most in (0.0, allowed))
    found.n_repeated = len(chosen)
    if same.all() or (why and near.all()):
        digits = "bit for bit" if same.all() else f"up to the last digits ({why})"
        said = f"{len(chosen)} of {counted(len(every), 'trial')}, drawn at random,"
        found.checked.append(f"{said} give the same changes {digits}")
        return
    k, place = np.argwhere(~(same if near.all() else near))[0]
    what = "has the error" if place == every.shape[1] - 1 else "changes by"
    text = f"trial {chosen[k]} {what} {there[k, place]:.17g} there, {here[k, place]:.17g} here"
    (found.unrepeated if others else found.wrong).append(f"{text} ({others})" if others else text)


def _with_errors(found: Trials | Answers) -> Floats:
    """Return a row for each trial: its changes, then its error."""
    return np.column_stack([found.changes.reshape(len(found.changes), -1), found.errors])
