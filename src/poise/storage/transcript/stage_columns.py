"""One stage of a transcript as columns, with one row per question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.errors import RecordError
from poise.protocol.messages import Answers, Comparison, Failure, Query, Removals, queries_of
from poise.storage.transcript.array_pool import NOTHING, ArrayPool
from poise.storage.transcript.stage import Refusal, Stage

__all__ = ["LinearModel", "read_stage", "write_stage"]

_ABSENT, _INDICES, _MADE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear model read from a file: its coefficients only; it cannot predict."""

    coef_: Any
    intercept_: Any


def write_stage(stage: Stage, name: str, pool: ArrayPool, arrays: dict[str, Any]) -> dict[str, Any]:
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


def read_stage(note: dict[str, Any], name: str, pool: ArrayPool, arrays: dict[str, Any]) -> Stage:
    """Rebuild a stage."""
    queries = [
        Query(_read_rows(row[:7], pool), _read_rows(row[7:], pool), int(xi))  # type: ignore[arg-type]
        for row, xi in zip(arrays[f"{name} rows"], arrays[f"{name} xi"], strict=True)
    ]
    tasks: Sequence[Any] = queries
    if note["compares"]:
        tasks = [Comparison(*pair) for pair in zip(queries[::2], queries[1::2], strict=True)]
    elif "removals" in note:
        tasks = _grouped(queries, *note["removals"])
    refusal = None if note["refusal"] is None else _read_refusal(note["refusal"], pool)
    answers = _read_answers(note["answers"], name, pool, arrays)
    return Stage(note["asked"], tuple(tasks), answers, refusal, note["models"])


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


def _read_rows(row: Any, pool: ArrayPool) -> Rows | None:
    kind, first, second = int(row[0]), pool.get(row[1:4]), pool.get(row[4:7])
    if kind == _MADE:
        return SyntheticRows(first, second)
    rows: Rows | None = first
    return rows


def _write_answers(
    answers: Answers, name: str, pool: ArrayPool, arrays: dict[str, Any]
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


def _references(references: list[Any]) -> Any:
    return np.array(references, dtype=np.int64).reshape(-1, 3)


def _part(model: object, name: str) -> Any:
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
    note: dict[str, Any], name: str, pool: ArrayPool, arrays: dict[str, Any]
) -> Answers:
    failures = tuple(
        Failure(trial, message, kind=kind) for trial, message, kind in note["failures"]
    )
    by_trial = {failure.trial: failure for failure in failures}
    predictions = [pool.get(reference) for reference in arrays[f"{name} predictions"]]
    parts = zip(arrays[f"{name} coefficients"], arrays[f"{name} intercepts"], strict=True)
    return Answers(
        changes=arrays[f"{name} changes"],
        failures=failures,
        path=note["path"],
        predictions=tuple(by_trial.get(i, values) for i, values in enumerate(predictions)),
        models=tuple(_model(pool.get(first), pool.get(second)) for first, second in parts),
    )


def _model(coefficients: object, intercept: object) -> LinearModel | None:
    return None if coefficients is None else LinearModel(coefficients, intercept)


def _write_refusal(refusal: Refusal, pool: ArrayPool) -> dict[str, Any]:
    partial = refusal.partial
    changes = isinstance(partial, np.ndarray)
    kept = [pool.add(partial)] if changes else [pool.add(values) for values in partial]
    return dataclasses.asdict(refusal) | {"partial": kept, "changes": changes}


def _read_refusal(note: dict[str, Any], pool: ArrayPool) -> Refusal:
    partial: Any = [pool.get(reference) for reference in note["partial"]]
    if note["changes"]:
        partial = partial[0]
    return Refusal(note["kind"], note["message"], note["trial"], partial)
