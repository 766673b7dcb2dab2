"""Trials whose rows live on Dask: a piece of them is fitted where its rows have come together.

A worker computes a piece as this process would all of it, but fits models in a process beside
itself: one that dies of a fit takes no rows along, and it is known of which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import cloudpickle

from poise.data.on_dask import Columns, gathered, later, shared
from poise.data.pieces import Pieces
from poise.engine.clusters import client, pickled
from poise.engine.execution import on_workers
from poise.engine.formulas import Some, by_formula
from poise.engine.messages import Answer
from poise.engine.pool import Pool
from poise.engine.transport import packed, unpacked
from poise.errors import DataError, PoiseError, in_one_line
from poise.shortcuts.blocks import Shortcut

if TYPE_CHECKING:
    from poise.engine.oracle import Oracle


@dataclass(frozen=True)
class _Run:
    """What all pieces of a run share."""

    columns: Columns
    pieces: Pieces
    content: bytes  # the oracle, its trials and the formulas for them, pickled


def answers(oracle: Oracle, trials: Any, start: int) -> Iterator[Answer]:
    """Yield the answers in plan order; rows begin to move when the first one is asked for."""
    sample: Any = oracle.sample
    left = range(start, len(trials))
    connected = client()
    pieces = sample.pieces(trials.split, left, sum(connected.nthreads().values()))
    family = None if oracle.shortcut is None else oracle.shortcut.family
    nothing: Any = None
    there = type(oracle)(oracle.algorithm, nothing, oracle.distance, settings=oracle.settings)
    content = pickled((there, trials.on(trials.split.on(None)), family))
    run, each = shared(_Run(sample.columns, pieces, content)), later(_computed)
    tasks = [each(run, piece, *rows) for piece, rows in enumerate(sample.moved(pieces))]
    yield from _in_order(connected, connected.compute(tasks))


def _in_order(connected: Any, futures: list[Any]) -> Iterator[Answer]:
    """Yield the answers of each piece when those of all before it have been."""
    from distributed import as_completed

    number = {future.key: piece for piece, future in enumerate(futures)}
    done: dict[int, Any] = {}
    position = 0
    try:
        for future in as_completed(futures):
            done[number[future.key]] = _result(future)
            while position in done:
                yield from unpacked(done.pop(position))
                position += 1
    finally:
        connected.cancel(futures)


def _result(future: Any) -> Any:
    try:
        return future.result()
    except (PoiseError, KeyboardInterrupt):
        raise
    except Exception as error:  # no fit raises here
        problem = f"cannot be read, or moved to where they are fitted: {in_one_line(error)}"
        raise DataError(f"the rows {problem}") from error


def _computed(run: _Run, piece: int, rows: Any, more: Any) -> bytes | str:
    """Compute the trials of a piece."""
    try:
        oracle, tasks, family = cloudpickle.loads(run.content)
    except BaseException as error:  # user code cannot be read here
        return in_one_line(error)
    trials = run.pieces.trials(piece)
    sample, split = gathered(run.columns, run.pieces, piece, rows, more, tasks.split)
    oracle, tasks = replace(oracle, sample=sample), tasks.on(split)
    shortcut = None if family is None else Shortcut.on(family, sample, split.removals)
    if shortcut is not None:
        first = trials.start
        some = Some(tasks, list(trials))
        places = lambda a, b: split.block(first + a, first + b)  # noqa: E731
        return packed(list(by_formula(oracle, shortcut, some, places, 0)))
    work = oracle.work(tasks)
    if oracle.algorithm.device:
        return packed(list(work.answers(trials)))
    return packed(list(on_workers(Pool.of(1, None), work, trials, in_turn=True)))
