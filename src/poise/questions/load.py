"""What a file, a folder or a journal holds; how a run begins its journal, or goes on with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from poise.algorithms.provenance import code_digest
from poise.data.randomness import fresh_coin
from poise.engine.first_trial import Look
from poise.engine.journal import KIND, Journal, lines_of, trials_of
from poise.engine.log import kind_of
from poise.errors import RecordError
from poise.results import file
from poise.results.together import load_together
from poise.results.trials import Failed, Trials

if TYPE_CHECKING:
    from poise.engine.oracle import Oracle
    from poise.questions.job import Job
    from poise.results.question import Question

# Of a design: what the look at the first trial finds, and what may be asked of the same trials.
_MAY_DIFFER = {
    *("algorithm", "given_up", "order_free", "one_full_fit"),
    *("name", "sd", "epsilon_as_typed", "randomized"),
}
_NO_TRIAL = {"question": None, "failures": [], "shape": [0, 1, 1], "changes": [], "errors": []}


def load(path: str | Path) -> Any:
    """Read a saved answer, a folder of them, the journal of a run, or a monitor's record.

    Parameters
    ----------
    path : str or Path
        What ``save`` of an answer wrote; a journal may belong to a run that is still going on.

    Returns
    -------
    Result, Trials, Comparison, Curve or dict
        A result if a question was saved with the changes; of a journal the trials so far, whose
        ``asked`` is the question; of a folder the comparison or curve that was saved there, or that
        left its journals there, and of other answers a dict by the names of their files. Numbers
        are computed again from the changes.

    Raises
    ------
    RecordError
        If the file cannot be read, was written by another program or was altered since.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> poise.stability_test(Lasso(), X, y, n=10, epsilon=25, delta=0.2).save("lasso.json")
    >>> poise.load("lasso.json").verdict
    'stable'
    """
    if Path(path).is_dir():
        return load_together(Path(path), load)
    kind = kind_of(path)
    if kind == "record":
        from poise.questions.monitor import Monitor

        return Monitor(path).result
    return _trials_in(path) if kind == KIND else file.load(path)


def _trials_in(path: str | Path) -> Trials:
    header, lines = lines_of(path)
    begun = _begun(header, path)
    done = 0
    changes, errors, failures = [begun.changes], [begun.errors], list[Failed]()
    warnings = dict.fromkeys(begun.warnings)
    for line in lines:
        if line.failure is not None:
            failures.append(Failed(done, *line.failure))
        if line.errors is not None:
            answer = trials_of(line, begun.design.shape)
            changes.append(answer.values.reshape(-1, *begun.design.shape))
            errors.append(np.atleast_1d(answer.error))
            done += len(changes[-1])
        if line.warning:
            warnings[line.warning] = None
    parts: dict[str, Any] = {"changes": np.concatenate(changes), "errors": np.concatenate(errors)}
    try:
        return replace(begun, **parts, failures=tuple(failures), warnings=tuple(warnings))
    except ValueError as error:
        raise RecordError(f"{path} holds no trials of this run: {error}") from None


def _begun(header: Mapping[str, Any], path: str | Path) -> Trials:
    """Return what a journal was begun with: a run without its trials."""
    if "procedure" in header:
        raise RecordError(f"{path} is the journal of a procedure: poise.research.replay reads it")
    try:
        document = msgspec.convert({**header, "format": "", **_NO_TRIAL}, file.Document)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path} is not a journal of trials: {error}") from None
    trials: Trials = file.restored(document, path)  # type: ignore[assignment]
    return trials


def begun_or_resumed(
    job: Job, oracle: Oracle, journal: Journal, question: Question | None
) -> tuple[Job, Trials, Look]:
    """Return what was seen in the first trial, now or when the journal was begun."""
    run = {n: value for n, value in asdict(job.design).items() if n not in _MAY_DIFFER}
    identity = journal.identified(oracle, **run, fast=oracle.shortcut is not None)
    if journal.header is None:
        return _begin(job, oracle, journal, question, identity)
    begun = _begun(journal.header, journal.path)
    oracle.shortcut = oracle.shortcut if journal.header.get("by_formula") else None
    seen = Look.of(begun.design, job.design)
    job.warnings[:] = begun.warnings
    return job.after(seen), begun, seen


def _begin(
    job: Job, oracle: Oracle, journal: Journal, question: Question | None, identity: dict[str, Any]
) -> tuple[Job, Trials, Look]:
    """Look at the first trial, and write down all that is known before the others."""
    seen = job.look(oracle)
    job.warnings.extend(seen.finish())
    found = job.after(seen)
    begun = replace(found.without_trials(question), zeta=fresh_coin())
    code = identity["code_of_algorithm"]
    if not (job.settings["check"] and code == code_digest(*job.algorithm.user_code)):
        identity["code_of_algorithm"] = ""  # fits change what it holds, or may do so
    identity["by_formula"] = oracle.shortcut is not None
    identity["rivals"] = job.settings.get("rivals", 0)
    journal.begin(file.beginning(begun) | identity)
    return found, begun, seen
