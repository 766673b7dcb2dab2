"""The trials of one call: which rows they use, and their run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.duplicates import warn_of_copies
from poise.data.sample import Sample
from poise.errors import RecordError, collected_validity_warnings
from poise.protocol.messages import Failure
from poise.protocol.procedure import converse
from poise.protocol.randomness import LaterTrials, Randomness
from poise.questions.measurement import Measurement
from poise.questions.monitor.new_rows import NewRows, Positions
from poise.questions.monitor.record_settings import RecordSettings
from poise.running.repeat_check import RepeatCheck
from poise.storage.journal.trial_lines import Answer, as_entry
from poise.storage.monitor_record import RecordFile, RowBatch
from poise.theory.averaged_design import trials

__all__ = ["begin_batch", "begun_batch", "finish_batch"]


def begin_batch(
    settings: RecordSettings, rows: NewRows, file: RecordFile
) -> tuple[Measurement | None, NewRows]:
    """Choose the rows of as many trials as there can be, and write down that they are used.

    The rows are on the disk as used before the first fit: whatever happens afterwards, they
    are not taken for fresh ones.

    Returns
    -------
    tuple of Measurement and NewRows
        The measurement of the trials, or None if there is no trial; and the rows left over.
    """
    labeled, unlabeled = _chosen(settings, rows, file.content.header.seed, file.content.next_trial)
    if not labeled.size:
        return None, rows
    used = rows.take(labeled, unlabeled)
    first = file.content.next_trial
    with collected_validity_warnings() as noted:
        measurement = _measurement(settings, used.sample, file.content.header.seed, first)
        design = measurement.refuse(settings.question)
        warn_of_copies(measurement.sample)
        file.content.header.warn_of_versions(str(file.path))
    batch = RowBatch(
        first=first,
        trials=design.n_trials,
        epoch=file.content.epoch,
        rows=used.rows,
        features=used.features + used.unlabeled,
        distance=design.distance,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        warnings=tuple(noted),
    )
    _require_same_distance(file, batch)
    file.append(batch.to_entry(), sync=True)
    return measurement, rows.without(labeled, unlabeled)


def begun_batch(settings: RecordSettings, rows: NewRows, file: RecordFile) -> Measurement:
    """Return the measurement of the last batch, which was interrupted; its rows are in order."""
    batch = file.content.batches[-1]
    return _measurement(settings, rows.sample, file.content.header.seed, batch.first)


def _chosen(
    settings: RecordSettings, rows: NewRows, seed: int, first: int
) -> tuple[Positions, Positions]:
    """Put rows in random order; take whole trials, with unlabelled rows as points if possible."""
    spare = 0 if settings.labeled_test else len(rows.unlabeled)
    count = int(trials(settings.setup.n, len(rows.rows), spare, settings.points))
    wanted = count * settings.points
    from_spare = min(spare, wanted)
    random = Randomness(seed)
    labeled = random.generator("order of a record's rows", first).permutation(len(rows.rows))
    points = random.generator("order of a record's points", first).permutation(len(rows.unlabeled))
    return labeled[: count * settings.setup.n + wanted - from_spare], points[:from_spare]


def _measurement(settings: RecordSettings, sample: Sample, seed: int, first: int) -> Measurement:
    """Return the measurement of one batch; random terms depend on the number of a trial."""
    how = settings.setup, settings.execution, LaterTrials(seed, first=first)
    return Measurement(settings.algorithm, sample, *how)


def _require_same_distance(file: RecordFile, batch: RowBatch) -> None:
    for before in file.content.counted[:1]:
        if before.distance != batch.distance:
            raise RecordError(
                f"{file.path} compares predictions by {before.distance}, and for these rows "
                f"distance='auto' means {batch.distance}: their responses are of another kind"
            )


def finish_batch(settings: RecordSettings, measurement: Measurement, file: RecordFile) -> None:
    """Run the trials of the last batch that have not been run; write each of them at once.

    Parameters
    ----------
    settings : RecordSettings
        The algorithm and how it is run.
    measurement : Measurement
        The trials of the batch.
    file : RecordFile
        Where the trials go.
    """
    batch = file.content.batches[-1]
    with collected_validity_warnings() as noted:
        design, randomness = measurement.design, measurement.randomness
        oracle = replace(measurement.oracle, journal=_BatchLog(file, batch))
        points = (0.0, float(settings.question.epsilon))
        asked = measurement.trials.measured(
            design, measurement.sample, randomness, decision_points=points
        )
        converse(asked, oracle, RepeatCheck(oracle) if settings.execution.check else None)
    new = [warning for warning in noted if warning not in batch.warnings]
    if new:
        file.append({"warnings": new})


class _BatchLog:
    """Writes the answers of one batch to the record, and gives back those already there."""

    def __init__(self, file: RecordFile, batch: RowBatch) -> None:
        self.file, self.batch = file, batch

    def begin(self, path: str, decision_points: tuple[float, ...]) -> Iterator[Answer]:
        """Yield the answers that the record already holds."""
        for answer in list(self.batch.answers):
            yield answer if isinstance(answer, Failure) else np.array([answer])

    def append(self, answer: Answer) -> None:
        """Write the next trial, or the next block of trials."""
        several: NDArray[Any] | list[Any] = answer if isinstance(answer, np.ndarray) else [answer]
        for each in several:
            number = self.batch.first + len(self.batch.answers)
            self.file.append(as_entry(number, each if _is_whole(each) else float(each)))


def _is_whole(answer: object) -> bool:
    """Whether an answer is a failure or a table; a single change is a number."""
    return isinstance(answer, Failure) or (isinstance(answer, np.ndarray) and answer.ndim > 0)
