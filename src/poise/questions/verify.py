"""Check a result file without trusting whoever made it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from poise import checks
from poise.algorithms.distances import DISTANCES
from poise.checks import counted
from poise.data.rows import as_rows
from poise.engine.execution import Execution
from poise.engine.first_trial import Look
from poise.engine.messages import Floats
from poise.engine.oracle import Oracle
from poise.errors import ArgumentError, PoiseError, RecordError, in_one_line
from poise.questions.job import Job
from poise.results import file
from poise.results.design import Design
from poise.results.result import Result
from poise.results.trials import Trials
from poise.shortcuts.blocks import AGREEMENT

_DIGITS = 1e-6  # relative: other libraries may compute the same number so differently


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
    n_repeated, n_observed : int
        Trials that were repeated, and all that the file holds.
    """

    verdict: str = ""
    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unrepeated: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    n_repeated: int = 0
    n_observed: int = 0

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

    Every number of the file is computed again from its changes. With the algorithm and the rows,
    the design is made again from the rows, and trials that nobody could foresee are fitted again:
    a file in which a share f of the changes was altered passes with probability at most
    (1 - f)^trials.

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
        document, said = file.read(path), file.numbers_of(path)
        judged = file.restored(document, path)
    except RecordError as error:
        found.wrong.append(in_one_line(error))
        return found
    made_with = document.versions
    _check_numbers(found, judged, said)
    if algorithm is None:
        found.open.append("that the changes are those of the algorithm on its rows: give both")
    elif isinstance(judged, Result) and judged.test == "open-ended":
        found.open.append("the trials of a monitor, whose rows came in several calls")
    elif not found.wrong:
        given = {**settings, "random_state": judged.design.seed}
        _Repetition(found, judged, made_with, algorithm, X, y, given).compare(wanted)
    return found


def _check_numbers(found: Verification, judged: Any, said: Mapping[str, Any]) -> None:
    """Compare what the file says with what follows from its changes."""
    found.verdict = judged.verdict if isinstance(judged, Result) else ""
    found.n_observed = judged.n_observed
    follows = file.to_dict(judged)
    for name in follows.keys() - {"poise", "created", "command"}:
        one, other = said.get(name), follows[name]
        if not _agree(one, other):
            found.wrong.append(f"{name} is {one} in the file, and {other} follows from its changes")
    family = judged.question.family if isinstance(judged, Result) else None
    if family is not None and family.size > 1:
        found.open.append(f"the p-values of the {family.size - 1} others that share alpha")
    if not found.wrong:
        found.checked.append(f"{len(follows)} fields agree with the changes")


def _agree(one: Any, other: Any) -> bool:
    """Compare values; numbers may differ in their last digits, and nothing else may."""
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-9, atol=0))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_agree(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    return bool(one == other)


@dataclass
class _Repetition:
    """The run of a file, made again from algorithm and rows."""

    found: Verification
    judged: Any
    made_with: Mapping[str, str]
    algorithm: Any
    X: Any
    y: Any
    given: Mapping[str, Any]

    def compare(self, wanted: int) -> None:
        """Compare design, rows, code and some trials."""
        trials = getattr(self.judged, "trials", self.judged)
        try:
            job = self._job(trials.design)
        except (PoiseError, TypeError) as error:
            self.found.wrong.append(f"the run cannot be made again: {in_one_line(error)}")
            return
        others = self._other_versions(job.versions)
        self._compare_designs(trials.design, job.design)
        self._compare_digests(trials.origin, job, others)
        for text in job.doubts():
            if text not in trials.warnings:
                self.found.wrong.append(f"the file leaves out a warning: {text}")
        if self.found.verified:
            self._repeat(job, trials, wanted, others)

    def _job(self, design: Design) -> Job:
        """Plan the same run; what the look at trial 1 showed is taken from the file."""
        same = ("n", "remove", "replace", "position", "max_trials", "response", "shuffle")
        asked = {name: getattr(design, name) for name in (*same, "randomized")}
        asked |= {"removals_per_trial": design.removals, "name": design.name or None}
        if design.compares != "decisions":
            asked["points_per_trial"] = design.points
        asked |= {"coupling": design.coupling} if design.coupling == "independent" else {}
        if design.distance in DISTANCES or "(" in design.distance:
            asked["distance"] = design.distance
        asked |= {"check": False, "on_error": "record", "delta": 0.1, **self.given}
        if design.notion != "new":
            job = self._given_job(design, asked)
            return job.planned().after(Look(design.given_up))
        job = Job.of("verify", self.algorithm, self.X, self.y, asked)
        if design.set_aside:
            job, _ = job.with_epsilon(design.epsilon_as_typed)
        job = job.planned()
        return job.after(Look.of(design, job.design))

    def _given_job(self, design: Design, asked: dict[str, Any]) -> Job:
        """Make the same job about one training set, or two fitted models."""
        from poise.questions.changed import OF_TWO_MODELS, two_models
        from poise.questions.deployed import GivenJob

        epsilon = design.epsilon_as_typed or (0.0 if design.sized else None)
        if design.notion == "changed":
            known = {name: asked[name] for name in asked if name in OF_TWO_MODELS}
            job = two_models("verify", self.algorithm, self.X, self.y, known)
            return job.with_epsilon(epsilon)[0]
        for name in ("n", "remove", "replace", "position", "points_per_trial"):
            asked.pop(name, None)
        fresh = [asked.pop(name, None) for name in ("X_fresh", "y_fresh")]
        grows = design.notion in ("update", "add-one") and design.compares != "decisions"
        asked |= {"points_per_trial": design.points} if grows else {}
        asked["removals_per_trial"] = "all" if design.all_leave else None
        if design.notion == "without":
            places = np.isin(np.arange(len(as_rows(self.X, "X"))), design.without)
            typed = design.without_as_typed
            named = {typed: places} if typed else places
            condition = typed.removeprefix("where ")
            asked["without"] = named if condition == typed else condition
            asked["chosen_from"] = design.chosen_from
        asked |= {"update": design.batch} if design.notion == "update" else {}
        asked |= {"notion": design.notion} if design.notion in ("add-one", "jackknife") else {}
        rows = (self.X, self.y, *fresh)
        return GivenJob.given("verify", self.algorithm, rows, asked).with_epsilon(epsilon)[0]

    def _other_versions(self, here: Mapping[str, str]) -> str:
        named = self.made_with.keys() | here.keys()
        pairs = {n: (self.made_with.get(n, "none"), here.get(n, "none")) for n in sorted(named)}
        return ", ".join(f"{n} {a} there, {b} here" for n, (a, b) in pairs.items() if a != b)

    def _compare_designs(self, there: Design, here: Design) -> None:
        before, now = asdict(there), asdict(here)
        for name, value in before.items():
            if not _agree(value, now[name]):
                self.found.wrong.append(f"{name} is {value} in the file, and {now[name]} here")

    def _compare_digests(self, origin: Any, here: Job, others: str) -> None:
        if origin.data != here.data:
            self.found.wrong.append("the rows are not those of the file")
        if "python" in others:  # what code compiles to depends on it
            self.found.open.append("the digest of the code: the version of Python differs")
        elif dict(origin.code) != here.code:
            self.found.wrong.append("the code of the algorithm is not that of the file")

    def _repeat(self, job: Job, trials: Trials, wanted: int, others: str) -> None:
        """Fit trials again that nobody could foresee; errors are compared beside changes."""
        changes = _with_errors(trials.changes, trials.errors)
        rng = np.random.default_rng(secrets.randbits(128))
        chosen = np.sort(rng.permutation(len(changes))[:wanted])
        if not len(chosen):
            return
        execution = Execution(n_jobs=job.settings["n_jobs"], on_error="record")
        oracle = Oracle(job.algorithm, job.sample, job.distance, execution)
        found = job.repeated(oracle, chosen)
        again = _with_errors(found.changes, found.errors)
        size = np.abs(changes[np.isfinite(changes)]).max(initial=0.0)
        allowed = _DIGITS * size
        if job.shortcut is not None:  # the file's changes may be those of a formula
            allowed = AGREEMENT * (size + np.abs(job.shortcut.y).max())
        near = np.isclose(again, changes[chosen], rtol=0, atol=allowed, equal_nan=True)
        exact = np.array_equal(again, changes[chosen], equal_nan=True)
        self.found.n_repeated = len(chosen)
        said = f"{len(chosen)} of {counted(len(changes), 'trial')}, drawn at random,"
        if exact or ((others or job.shortcut is not None) and near.all()):
            why = others or "fits beside an exact formula"
            digits = "bit for bit" if exact else f"up to the last digits ({why})"
            self.found.checked.append(f"{said} give the same changes {digits}")
            return
        wrong = ~near if not near.all() else changes[chosen] != again
        k, place = (int(each[0]) for each in np.nonzero(wrong))
        what = "has the error" if place == changes.shape[1] - 1 else "changes by"
        there, here = changes[chosen[k], place], again[k, place]
        text = f"trial {chosen[k]} {what} {there:.17g} there, {here:.17g} here"
        (self.found.unrepeated if others else self.found.wrong).append(
            f"{text} ({others})" if others else text
        )


def _with_errors(changes: Floats, errors: Floats) -> Floats:
    """Return a row for each trial: its changes, then its error."""
    return np.column_stack([changes.reshape(len(changes), -1), errors])
