"""Time several ways of doing the same work, in turn.

Machines drift: two timings taken a minute apart say little about each other. So contestants take
turns, and the median of the ratios of neighbours is reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Race:
    """Median seconds of each contestant, median ratio to the first, and what each returned."""

    seconds: dict[str, float]
    ratios: dict[str, float]
    results: dict[str, Any]


def race(
    contestants: dict[str, Callable[[], Any]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Race:
    """Run the contestants in turn, ``rounds`` times after one round that is not counted.

    ``clock=time.process_time`` counts what the processor worked, also on a busy machine.
    """
    results = {name: run() for name, run in contestants.items()}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        for name in list(contestants)[:: 1 if number % 2 == 0 else -1]:
            began = clock()
            contestants[name]()
            times[name].append(clock() - began)
    first = times[next(iter(contestants))]
    ratios = {
        name: statistics.median(t / f for t, f in zip(taken, first, strict=True))
        for name, taken in times.items()
    }
    return Race({name: statistics.median(taken) for name, taken in times.items()}, ratios, results)


def table(headers: list[str], rows: list[list[str]]) -> str:
    """Lay out a table in plain text."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [headers, ["-" * width for width in widths], *rows]
    )
