"""Procedures in a journal: how a run goes on, and how it is replayed without the algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.algorithms.algorithm import as_algorithm
from poise.algorithms.distances import as_distance
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.execution import Execution
from poise.engine.journal import Journal, seed_in
from poise.engine.log import require_same
from poise.engine.oracle import Oracle, converse
from poise.errors import RecordError, ValidityWarning, note
from poise.procedures.own import Procedure, described, supervised
from poise.results.file import made_now


def begun(
    path: str | Path, procedure: Procedure, oracle: Oracle, random_state: Any
) -> tuple[Journal, Randomness]:
    """Open the journal of a run, which may have been begun, and take its seed if none is given."""
    known = seed_in(path) if random_state is None else None
    randomness = Randomness.from_state(random_state if known is None else known)
    journal = Journal(path, staged=True)
    try:
        identity = journal.identified(oracle, seed=randomness.root)
        if journal.header is None:
            made = {"procedure": described(procedure), **made_now()}
            journal.begin(made | identity)
        for text in journal.warnings:
            note(ValidityWarning, text)
    except BaseException:
        journal.close()
        raise
    return journal, randomness


def replay(
    journal: str | Path, procedure: Procedure, X: Any, y: Any = None, *, X_unlabeled: Any = None
) -> Any:
    """Run a procedure again on the answers of a journal; the algorithm is not needed.

    That its verdict is a function of what it asked and was answered (Definition 2) is checked
    here: it must ask the same, stage by stage, and conclude the same.

    Parameters
    ----------
    journal : str or Path
        What ``poise.research.run(..., journal=...)`` wrote.
    procedure : Procedure
        The one that was run, or one that asks the same and concludes in another way, such as with
        another epsilon.
    X, y, X_unlabeled : array, sparse matrix, data frame or list
        The rows of the run.

    Returns
    -------
    object
        What the procedure returns.

    Raises
    ------
    RecordError
        If the procedure asks anything else, in a stage that is named, stops earlier or later, or
        comes to another verdict.

    Examples
    --------
    >>> from poise import research
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> test = research.BinomialTest(n=10, epsilon=25, delta=0.2)
    >>> claim = research.run(test, Lasso(), X, y, random_state=0, journal="run.journal")
    >>> research.replay("run.journal", test, X, y) == claim
    True
    """
    sample, kept = Sample.of(X, y, X_unlabeled=X_unlabeled), Journal(journal, replayed=True)
    header, seed = kept.header or {}, seed_in(journal)
    if "procedure" not in header or seed is None:
        raise RecordError(f"{journal} is not a journal of a procedure: poise.load reads it")
    run = header.get("run")
    require_same(journal, run if isinstance(run, dict) else {}, {"rows": sample.digest()[:16]})
    algorithm, distance = as_algorithm(_never), as_distance("absolute", "absolute")
    oracle = Oracle(algorithm, sample, distance, Execution(on_error="record", progress=False))
    oracle.journal = kept
    conversation = procedure.ask(sample, Randomness(seed))
    found = converse(supervised(conversation, None, may_look=True), oracle)
    kept.conclude(described(procedure), described(found))
    return found


def _never(X: Any, y: Any, seed: int) -> Any:
    """Stand where the algorithm was: nothing is left to be fitted."""
    raise AssertionError
