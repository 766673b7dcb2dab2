"""The keywords of the public functions, and the objects that hold them.

Every setting is a keyword of :func:`poise.stability_test`, a field of
:class:`StabilityQuestion`, :class:`Setup` or :class:`Execution`, and an option of
the command line. This module turns keywords into fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from poise.algorithms.distance import Distance
from poise.arguments import did_you_mean
from poise.data.files.unread_rows import FileTable, read_files
from poise.data.partitioned.column_roles import named_columns
from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.partitioned.partitions import Partitions
from poise.data.sample import Sample
from poise.errors import ArgumentError, DataError
from poise.protocol.randomness import Coupling
from poise.running.shuffle.file_partitions import file_partitions
from poise.running.shuffle.partitions_of import partitions_of
from poise.running.workers.backend import CLUSTERS
from poise.storage.journal import Journal
from poise.storage.ledger import AnyLedger

__all__ = [
    "DATA",
    "MeasureSettings",
    "StabilityTestSettings",
    "from_settings",
    "refuse_unknown",
    "sample_of",
]

DATA = ("X", "y", "X_unlabeled", "groups", "fit_params", "target")

Held = TypeVar("Held")


class MeasureSettings(TypedDict, total=False):
    """The keywords that :func:`compare` and :func:`stability_curve` pass on (PEP 692).

    These are the keywords of :func:`measure` that they do not have themselves.
    """

    target: str | None
    X_unlabeled: Any
    coupling: str | Coupling
    distance: str | Distance
    shuffle: bool
    on_error: str
    on_timeout: str
    n_jobs: int | None
    backend: str | None
    address: str | None
    timeout: float | None
    fast: bool
    check: bool
    progress: bool | None
    response: str
    fit_params: Mapping[str, Any] | None
    groups: Any
    remove: int
    replace: bool
    removals: int | str
    points: int | str | None
    name: str | None


class StabilityTestSettings(MeasureSettings, total=False):
    """The keywords that :func:`assert_stable` passes on to :func:`stability_test`."""

    randomized: bool
    stop_early: bool | str
    test: str
    journal: str | Path | Journal | None
    ledger: AnyLedger


def from_settings(kind: type[Held], settings: Mapping[str, Any]) -> Held:
    """Make a dataclass from those settings that are its fields; ignore the others.

    Examples
    --------
    >>> from poise.running.execution import Execution
    >>> from_settings(Execution, {"n": 10, "n_jobs": 2}).n_jobs
    2
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: settings[name] for name in known if name in settings})


def sample_of(settings: Mapping[str, Any]) -> Sample:
    """Check the data and put them into one sample.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 41], "dose": [1.5, 2.5]})
    >>> sample_of({"X": frame, "target": "dose"}).y.native.tolist()
    [1.5, 2.5]
    >>> sample_of({"X": frame})
    Traceback (most recent call last):
    poise.errors.ArgumentError: y must hold the responses; or name their column: target='age'?
    """
    given = {name: settings.get(name) for name in DATA}
    target = given.pop("target")
    if target is not None and given["y"] is not None:
        raise ArgumentError(f"give y or target={target!r}, not both: target is a column of X")
    files = FileTable.of(given["X"])
    if files is not None and target is not None:
        where = settings.get("backend"), settings.get("address")
        given = _in_files(files, target, given, *where)
        target = target if where[0] in CLUSTERS else None
    partitions = partitions_of(given["X"], settings.get("address"))
    if partitions is not None:
        return _elsewhere(partitions, target, given, settings.get("address"))
    if target is not None:
        given.pop("y")
        return Sample(**named_columns(target=target, **given))
    if given["y"] is None:
        raise ArgumentError(f"y must hold the responses{_or_a_target(given['X'])}")
    return Sample(**given)


def _in_files(
    files: FileTable,
    target: str,
    given: dict[str, Any],
    backend: str | None,
    address: str | None,
) -> dict[str, Any]:
    """Open the files of X: on the workers of a cluster, or else here."""
    more = FileTable.of(given["X_unlabeled"])
    if more is None and given["X_unlabeled"] is not None:
        raise DataError(
            "X_unlabeled must be the same kind of container as X, which names files; got "
            f"{type(given['X_unlabeled']).__name__}"
        )
    if backend not in CLUSTERS:
        return read_files(files, target, more, given["groups"], given["fit_params"])
    opened = None if more is None else file_partitions(more, backend, address)
    return given | {"X": file_partitions(files, backend, address), "X_unlabeled": opened}


def _or_a_target(X: Any) -> str:
    if FileTable.of(X) is not None:
        return "; or name their column in the files: target='y'?"
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return ", one for each row of X; got None"
    return f"; or name their column: target={next(iter(columns), 'y')!r}?"


def _elsewhere(
    partitions: Partitions, target: str | None, given: Mapping[str, Any], address: str | None
) -> PartitionedSample:
    if target is None:
        columns = ", ".join(map(repr, partitions.columns()))
        raise ArgumentError(
            "target must name the column of X that holds the responses: the rows of X are on the "
            f"workers of {partitions.engine.title()}, and y is not; its columns are {columns}"
        )
    unlabeled = None
    if given["X_unlabeled"] is not None:
        unlabeled = partitions_of(given["X_unlabeled"], address)
        if unlabeled is None or unlabeled.engine != partitions.engine:
            raise DataError(
                "X_unlabeled must be the same kind of container as X, whose rows are on the "
                f"workers of {partitions.engine.title()}; got {type(given['X_unlabeled']).__name__}"
            )
    more = unlabeled, given["groups"], given["fit_params"]
    return PartitionedSample(partitions, target, *more)


def refuse_unknown(function: str, settings: Mapping[str, Any]) -> None:
    """Refuse an unknown keyword, as Python does, before anything is computed.

    Examples
    --------
    >>> refuse_unknown("compare", {"n_job": 2})
    Traceback (most recent call last):
    TypeError: compare() got an unexpected keyword argument 'n_job'; did you mean 'n_jobs'?
    """
    known = MeasureSettings.__annotations__
    for name in settings:
        if name not in known:
            hint = did_you_mean(name, known)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
