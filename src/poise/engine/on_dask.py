"""Trials whose rows live on Dask: a piece of them is fitted where its rows have come together.

A worker computes a piece as this process would all of it, but fits models in a process beside
itself: one that dies of a fit takes no rows along, and it is known of which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import cloudpickle

from poise.data.on_dask import Columns, gathered
from poise.data.pieces import Side
from poise.data.randomness import Ids
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


class _Run(NamedTuple):
    """What all pieces of a run share."""

    columns: Columns
    sides: tuple[Side, Side]
    first: Ids  # trial of each piece, and the end
    content: bytes  # the oracle, its trials and the formulas for them, pickled


def answers(oracle: Oracle, trials: Any, start: int) -> Iterator[Answer]:
    """Yield the answers in plan order; rows begin to move when the first one is asked for."""
    import dask

    sample: Any = oracle.sample
    connected, nothing = client(), cast("Any", None)
    first = sample.pieces(
        trials.split, range(start, len(trials)), sum(connected.nthreads().values())
    )
    sides = sample.sides(trials.split, first)
    family = None if oracle.shortcut is None else oracle.shortcut.family
    there = type(oracle)(oracle.algorithm, nothing, oracle.distance, settings=oracle.settings)
    content = pickled((there, trials.on(trials.split.on(None)), family))
    run = dask.delayed(_Run(sample.columns, sides, first, content), traverse=False)
    call = dask.delayed(_computed, pure=False)
    moved = sample.moved(sides, len(first) - 1)
    futures = connected.compute([call(run, *each) for each in enumerate(moved)])
    try:
        for future in futures:
            yield from unpacked(_result(future))
    finally:
        connected.cancel(futures)


def _result(future: Any) -> Any:
    try:
        return future.result()
    except (PoiseError, KeyboardInterrupt):
        raise
    except Exception as error:  # no fit raises here
        problem = "the rows cannot be read, or moved to where they are fitted"
        raise DataError(f"{problem}: {in_one_line(error)}") from error


def _computed(run: _Run, piece: int, rows: tuple[Any, ...]) -> bytes | str:
    """Compute the trials of a piece."""
    try:
        oracle, tasks, family = cloudpickle.loads(run.content)
    except BaseException as error:  # user code cannot be read here
        return in_one_line(error)
    sample, split = gathered(run.columns, run.sides, piece, rows, tasks.split)
    oracle, tasks = replace(oracle, sample=sample), tasks.on(split)
    begin, end = run.first[piece : piece + 2].tolist()
    shortcut = None if family is None else Shortcut.on(family, sample, split.removals)
    if shortcut is not None:
        some = Some(tasks, list(range(begin, end)))
        places = lambda a, b: split.block(begin + a, begin + b)  # noqa: E731
        return packed(list(by_formula(oracle, shortcut, some, places, 0)))
    work, span = oracle.work(tasks), range(begin, end)
    if oracle.algorithm.device:  # one process can have it
        return packed(list(work.answers(span)))
    return packed(list(on_workers(Pool.of(1, None), work, span, in_turn=True)))
