"""Time several ways of doing the same work, interleaved in one run.

Machines drift: two timings taken a minute apart say little about each other.
Contestants take turns, and the median of the ratios of neighbours is reported.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Race", "chosen", "race", "table"]


@dataclass(frozen=True)
class Race:
    """Median seconds of each contestant, median ratio to the first, and what each returned."""

    seconds: dict[str, float]
    ratios: dict[str, float]
    results: dict[str, Any]


def chosen(description: str | None, rounds: int, small: str = "one round") -> argparse.Namespace:
    """Read ``--rounds`` and ``--small`` from the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--small", action="store_true", help=small)
    return parser.parse_args()


def race(
    contestants: dict[str, Callable[[], Any]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Race:
    """Run the contestants in turn, ``rounds`` times after one warm-up round."""
    results = {name: run() for name, run in contestants.items()}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        order = list(contestants) if number % 2 == 0 else list(contestants)[::-1]
        for name in order:
            began = clock()
            contestants[name]()
            times[name].append(clock() - began)
    first = next(iter(contestants))
    ratios = {
        name: statistics.median(t / f for t, f in zip(times[name], times[first], strict=True))
        for name in contestants
    }
    return Race({name: statistics.median(t) for name, t in times.items()}, ratios, results)


def table(headers: list[str], rows: list[list[str]]) -> str:
    """Lay out a table in plain text."""
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    head = "  ".join(cell.ljust(w) for cell, w in zip(headers, widths, strict=True))
    return "\n".join([head, "-" * len(head), *lines])
