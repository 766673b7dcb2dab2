"""One stage of a transcript as columns, with one row per question."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray

from poise.arguments.field_rules import MOST_ROWS, Among, Between, Count, Positive
from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.errors import RecordError
from poise.protocol.messages import Answers, Comparison, Failure, Query, Removals, Tasks, queries_of
from poise.storage.transcript.array_pool import NOTHING, ArrayPool, Reference
from poise.storage.transcript.stage import Refusal, Stage

__all__ = ["StageNote", "StoredLinearModel", "read_stage", "write_stage"]

_FailureKind = Annotated[str, Among(("error", "death", "timeout"))]
_ErrorKind = Annotated[str, Among(("TrialError", "BudgetError"))]

_ABSENT, _INDICES, _MADE = 0, 1, 2


@dataclass(frozen=True)
class AnswersNote:
    """What the header of a file says of the answers of a stage.

    Attributes
    ----------
    failures : tuple
        Number, message and kind of each failed trial.
    path : str
        How the answers were computed.
    """

    failures: tuple[tuple[Count, str, _FailureKind], ...]
    path: str


@dataclass(frozen=True)
class RefusalNote:
    """What the header of a file says of an error that was thrown into the procedure.

    Attributes
    ----------
    kind, message : str
        Name of its class, and what it said.
    trial : int
        Which task failed; -1 if none was tried.
    partial : tuple
        Where the answers to the tasks before it are.
    changes : bool
        Whether these are changes.
    """

    kind: _ErrorKind
    message: str
    trial: Annotated[int, Between(-1, MOST_ROWS)]
    partial: tuple[tuple[int, int, int], ...]
    changes: bool


@dataclass(frozen=True)
class StageNote:
    """What the header of a file says of one stage; the rest is in columns.

    Attributes
    ----------
    asked : int
        Number of tasks in the batch.
    compares, models : bool
        Whether it asks for changes, and for models.
    answers : AnswersNote
        What came back.
    refusal : RefusalNote or None
        What was thrown into the procedure instead.
    removals : tuple of int or None
        Full and reduced fits of a trial of several removals.
    """

    asked: Count
    compares: bool
    models: bool
    answers: AnswersNote
    refusal: RefusalNote | None
    removals: tuple[Count, Positive] | None = None


@dataclass(frozen=True, eq=False)
class StoredLinearModel:
    """A fitted linear model read from a file: its coefficients only; it cannot predict."""

    coef_: object
    intercept_: object


def write_stage(
    stage: Stage, name: str, pool: ArrayPool, arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """Write the columns of a stage into ``arrays``; return the rest, for the header."""
    queries = [query for task in stage.tasks for query in queries_of(task)]
    rows = [_write_rows(query.train, pool) + _write_rows(query.evaluate, pool) for query in queries]
    arrays[f"{name} rows"] = np.array(rows, dtype=np.int64).reshape(-1, 14)
    arrays[f"{name} xi"] = np.array([query.xi for query in queries], dtype=np.uint64)
    return {
        "asked": stage.asked,
        "compares": bool(stage.tasks) and isinstance(stage.tasks[0], Comparison),
        **_removals(stage),
        "models": stage.models,
        "answers": _write_answers(stage.answers, name, pool, arrays),
        "refusal": None if stage.refusal is None else _write_refusal(stage.refusal, pool),
    }


def read_stage(
    note: StageNote, name: str, pool: ArrayPool, arrays: dict[str, NDArray[Any]]
) -> Stage:
    """Rebuild a stage."""
    rows, terms = _column(arrays, f"{name} rows", "i", 14), _column(arrays, f"{name} xi", "u")
    queries = [
        Query(_read_rows(row[:7], pool), _read_rows(row[7:], pool), int(xi))  # type: ignore[arg-type]
        for row, xi in zip(rows, terms, strict=True)
    ]
    tasks: Tasks = queries
    if note.compares:
        tasks = [Comparison(*pair) for pair in zip(queries[::2], queries[1::2], strict=True)]
    elif note.removals is not None:
        tasks = _grouped(queries, *note.removals)
    refusal = None if note.refusal is None else _read_refusal(note.refusal, pool)
    answers = _read_answers(note.answers, name, pool, arrays)
    if len(tasks) > note.asked:
        raise RecordError(f"{name} has {len(tasks)} answered tasks, and {note.asked} were asked")
    return Stage(note.asked, tuple(tasks), answers, refusal, note.models)


def _column(
    arrays: dict[str, NDArray[Any]], name: str, kind: str, width: int | None = None
) -> NDArray[Any]:
    """Return one column of numbers; refuse another type, or rows of another length."""
    values = arrays.get(name)
    expected = 1 if width is None else 2
    if values is None or values.dtype.kind != kind or values.ndim != expected:
        raise RecordError(f"the numbers of {name!r} are not there")
    if width is not None and values.shape[1] != width:
        raise RecordError(f"{name!r} must have {width} numbers a row, got {values.shape[1]}")
    return values


def _changes(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    """Return the changes of a stage: one per trial, or a table per trial."""
    values = arrays.get(name)
    if values is None or values.dtype != np.float64 or values.ndim not in (1, 3):
        raise RecordError(f"the numbers of {name!r} are not there")
    if (values < 0).any() or (values.ndim == 1 and np.isnan(values).any()):
        raise RecordError(f"{name!r} must hold numbers >= 0")
    return values


def _removals(stage: Stage) -> dict[str, Any]:
    """Note how many full and reduced fits a trial of several removals has."""
    first = stage.tasks[0] if stage.tasks else None
    if not isinstance(first, Removals):
        return {}
    return {"removals": [len(first.full), len(first.reduced)]}


def _grouped(queries: list[Query], n_full: int, n_reduced: int) -> list[Removals]:
    fits = n_full + n_reduced
    starts = range(0, len(queries), fits)
    parts = [tuple(queries[start : start + fits]) for start in starts]
    return [Removals(part[:n_full], part[n_full:]) for part in parts]


def _write_rows(rows: Rows | None, pool: ArrayPool) -> tuple[int, ...]:
    if rows is None:
        return (_ABSENT, *NOTHING, *NOTHING)
    if isinstance(rows, SyntheticRows):
        return (_MADE, *pool.add(rows.X), *pool.add(rows.y))
    return (_INDICES, *pool.add(rows), *NOTHING)


def _read_rows(row: NDArray[np.int64], pool: ArrayPool) -> Rows | None:
    kind, first, second = int(row[0]), pool.get(row[1:4]), pool.get(row[4:7])
    if kind == _MADE:
        return SyntheticRows(first, second)
    rows: Rows | None = first
    return rows


def _write_answers(
    answers: Answers, name: str, pool: ArrayPool, arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    kept = [None if isinstance(p, Failure) else p for p in answers.predictions]
    columns = {
        "changes": answers.changes,
        "predictions": _references([pool.add(values) for values in kept]),
        "coefficients": _references([pool.add(_part(m, "coef_")) for m in answers.models]),
        "intercepts": _references([pool.add(_part(m, "intercept_")) for m in answers.models]),
    }
    arrays |= {f"{name} {what}": values for what, values in columns.items()}
    failures = [[failure.trial, failure.message, failure.kind] for failure in answers.failures]
    return {"failures": failures, "path": answers.path}


def _references(references: list[Reference]) -> NDArray[np.int64]:
    return np.array(references, dtype=np.int64).reshape(-1, 3)


def _part(model: object, name: str) -> NDArray[Any] | None:
    """Return the coefficients of a linear model, the only kind that can be saved."""
    if model is None:
        return None
    if not hasattr(model, name):
        raise RecordError(
            f"cannot save a fitted {type(model).__name__}: a transcript file holds linear models "
            "(coef_ and intercept_) only. Replay this transcript in memory instead"
        )
    return np.atleast_1d(getattr(model, name))


def _read_answers(
    note: AnswersNote, name: str, pool: ArrayPool, arrays: dict[str, NDArray[Any]]
) -> Answers:
    failures = tuple(
        Failure(trial, message, kind=cast(Any, kind)) for trial, message, kind in note.failures
    )
    by_trial = {failure.trial: failure for failure in failures}
    changes = _changes(arrays, f"{name} changes")
    references = _column(arrays, f"{name} predictions", "i", 3)
    if by_trial and max(by_trial) >= max(len(changes), len(references)):
        raise RecordError(f"{name} has a failure without a trial")
    predictions = [pool.get(reference) for reference in references]
    parts = zip(
        _column(arrays, f"{name} coefficients", "i", 3),
        _column(arrays, f"{name} intercepts", "i", 3),
        strict=True,
    )
    return Answers(
        changes=changes,
        failures=failures,
        path=note.path,
        predictions=tuple(by_trial.get(i, values) for i, values in enumerate(predictions)),
        models=tuple(_model(pool.get(first), pool.get(second)) for first, second in parts),
    )


def _model(coefficients: object, intercept: object) -> StoredLinearModel | None:
    return None if coefficients is None else StoredLinearModel(coefficients, intercept)


def _write_refusal(refusal: Refusal, pool: ArrayPool) -> dict[str, Any]:
    partial = refusal.partial
    changes = isinstance(partial, np.ndarray)
    kept = [pool.add(partial)] if changes else [pool.add(values) for values in partial]
    return dataclasses.asdict(refusal) | {"partial": kept, "changes": changes}


def _read_refusal(note: RefusalNote, pool: ArrayPool) -> Refusal:
    partial: Any = [pool.get(reference) for reference in note.partial]
    if note.changes:
        partial = partial[0]
    return Refusal(note.kind, note.message, note.trial, partial)
