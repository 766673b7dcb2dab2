"""The file format of transcripts: a JSON header and plain arrays, no code."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from poise import procedures
from poise.arguments.field_rules import Among, Seed
from poise.arguments.typed_fields import read_object
from poise.data.damaged_file import naming_file
from poise.data.files.array_archive import read_arrays
from poise.data.fit_params import FitParams
from poise.data.sample import Sample
from poise.data.synthetic_rows import n_rows
from poise.errors import RecordError
from poise.protocol.budget import Counts
from poise.protocol.messages import queries_of
from poise.protocol.procedure import Procedure
from poise.protocol.random_order import ORDERS, PERMUTATION
from poise.results.json_encoding import from_json, to_json
from poise.storage.transcript.array_pool import ArrayPool
from poise.storage.transcript.containers import read_container, write_container
from poise.storage.transcript.stage import Stage
from poise.storage.transcript.stage_columns import StageNote, read_stage, write_stage

__all__ = ["load", "save"]

_FORMAT = "poise transcript 2"
_FEW_ROWS = 10_000  # where no fit was recorded
_FEW_REPETITIONS = 10_000  # each may cost a tenth of a millisecond before anything is compared
_FEW_FITS = 100_000  # the usual limit of procedures that have one
_MEASURED = ("epsilon", "low", "high", "radius")  # in the units of the data, not counts
_COMPLAINT = "does not hold a transcript saved by poise"
_PLAIN = (
    "procedure_name",
    "seed",
    "algorithm",
    "distance",
    "models",
    "on_error",
    "on_timeout",
    "verdict",
    "order",
)


def save(transcript: dict[str, Any], path: Path) -> None:
    """Write the parts of a transcript; refuse before writing if one of them cannot be kept."""
    pool = ArrayPool()
    arrays: dict[str, Any] = {}
    header = {name: transcript[name] for name in _PLAIN}
    header["warnings"] = list(transcript["warnings"])
    header |= {
        "format": _FORMAT,
        "procedure": _parameters(transcript["procedure"]),
        "counts": dataclasses.asdict(transcript["counts"]),
        "sample": _write_sample(transcript["sample"], pool),
        "stages": [
            write_stage(stage, f"stage {index}", pool, arrays)
            for index, stage in enumerate(transcript["stages"])
        ],
    }
    arrays |= {f"column {index}": column for index, column in enumerate(pool.columns())}
    arrays["header"] = np.array(to_json(header, indent=None))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    path.write_bytes(buffer.getvalue())


def load(path: Path) -> dict[str, Any]:
    """Read the parts of a transcript; nothing in the file is run."""
    arrays = read_arrays(path, _COMPLAINT, RecordError)
    with naming_file(path, _COMPLAINT):
        content = from_json(str(arrays.pop("header")))
        form = content.pop("format", None) if isinstance(content, dict) else None
        if form == _FORMAT:
            return _read(read_object(_Header, content, "the header of a transcript"), arrays)
    raise RecordError(f"{path} is not of the format {_FORMAT!r}")


@dataclass(frozen=True)
class _Header:
    """What a file says of a transcript; the rest is in columns of numbers and words."""

    procedure_name: str
    seed: Seed
    algorithm: str
    distance: str
    models: str
    on_error: str
    on_timeout: str
    verdict: str
    procedure: dict[str, Any] | None
    counts: Counts
    sample: dict[str, Any]
    stages: tuple[StageNote, ...]
    warnings: tuple[str, ...] = ()  # not in files of 0.1.0
    order: Annotated[str, Among(ORDERS)] = PERMUTATION  # nor is this


def _read(header: _Header, arrays: dict[str, Any]) -> dict[str, Any]:
    count = sum(name.startswith("column ") for name in arrays)
    pool = ArrayPool.from_columns([arrays[f"column {index}"] for index in range(count)])
    stages = tuple(
        read_stage(note, f"stage {index}", pool, arrays) for index, note in enumerate(header.stages)
    )
    return {name: getattr(header, name) for name in _PLAIN} | {
        "procedure": _procedure(header.procedure_name, header.procedure, stages),
        "sample": _read_sample(header.sample, pool),
        "stages": stages,
        "counts": header.counts,
        "warnings": header.warnings,
    }


def _write_sample(sample: Sample, pool: ArrayPool) -> dict[str, Any]:
    tables = {"X": sample.X, "y": sample.y, "X_unlabeled": sample.X_unlabeled}
    notes: dict[str, Any] = {
        name: write_container(table.native, pool)
        for name, table in tables.items()
        if table is not None
    }
    if sample.groups is not None:
        notes["groups"] = write_container(sample.groups.codes, pool)
    return notes | {"fit_params": _write_fit_params(sample.fit_params, pool)}


def _write_fit_params(fit_params: FitParams | None, pool: ArrayPool) -> dict[str, Any] | None:
    if fit_params is None:
        return None
    for name, value in fit_params.constant.items():
        if not _is_plain(value):
            raise RecordError(
                f"cannot save fit_params[{name!r}] of type {type(value).__name__}: a transcript "
                "file holds plain values only. Replay this transcript in memory instead"
            )
    rows = fit_params.per_row.items()
    per_row = {name: write_container(table.native, pool) for name, table in rows}
    return {"constant": fit_params.constant, "per_row": per_row}


def _read_sample(notes: dict[str, Any], pool: ArrayPool) -> Sample:
    fit_params = notes.pop("fit_params")
    if fit_params is not None:
        per_row = {k: read_container(note, pool) for k, note in fit_params["per_row"].items()}
        fit_params = fit_params["constant"] | per_row
    tables = {name: read_container(note, pool) for name, note in notes.items()}
    return Sample(**tables, fit_params=fit_params)


def _parameters(procedure: Any) -> dict[str, Any] | None:
    """Return a built-in procedure's parameters, or None where they are not all plain values."""
    if type(procedure) is not _built_in(type(procedure).__name__):
        return None
    values = {f.name: getattr(procedure, f.name) for f in dataclasses.fields(procedure)}
    return values if all(_is_plain(value) for value in values.values()) else None


def _procedure(
    name: str, parameters: dict[str, Any] | None, stages: tuple[Stage, ...]
) -> Procedure | None:
    built_in = _built_in(name)
    if parameters is None or built_in is None:
        return None
    _require_fitting(parameters, stages)
    known = {field.name for field in dataclasses.fields(built_in)}
    # Procedures of poise 0.1.0 had names of their own; the transcript has them as well.
    dropped = {"algorithm", "distance"} - known
    kept = {key: value for key, value in parameters.items() if key not in dropped}
    rebuilt: Procedure = built_in(**kept)
    return rebuilt


def _require_fitting(parameters: dict[str, Any], stages: tuple[Stage, ...]) -> None:
    """Refuse numbers far beyond what was asked: to replay them could take for ever."""
    asked = [query for stage in stages for task in stage.tasks for query in queries_of(task)]
    recorded = len(asked) + sum(n_rows(query.evaluate) for query in asked)
    limits = {
        "n": 2 * max((n_rows(query.train) for query in asked), default=_FEW_ROWS) + 1,
        "max_fits": max(_FEW_FITS, 2 * recorded),
    }
    for name, value in parameters.items():
        most = limits.get(name, max(_FEW_REPETITIONS, 2 * recorded))
        if name not in _MEASURED and isinstance(value, (int, float)) and not value <= most:
            raise RecordError(f"{name} = {value} is too large for what was asked")


def _built_in(name: str) -> Any:
    return getattr(procedures, name) if name in procedures.__all__ else None


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))
