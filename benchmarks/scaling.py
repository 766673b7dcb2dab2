"""What two workers gain, against what two processes that know nothing of poise gain.

    python benchmarks/scaling.py [--rounds 5] [--small]

Two processes on one machine are rarely twice as fast as one: they share caches,
memory and, here and there, a core. So the ceiling is measured: two bare processes
that each compute half of the trials in the loop a user would write, with nothing
sent between them but "go" and "done". It takes turns with ``poise.measure`` on two
workers, and with one worker, round by round.

A trial is two fits; a fit is arithmetic in plain Python, a fixed number of steps
that takes about as long as the table says. The workers are started before the clock,
as they are for every run of a session but the first; what that first one pays is
printed by itself.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import poise
from side_by_side import chosen, race, table

N = 10  # rows to train on
TRIALS = {0.1: 20_000, 5.0: 400, 200.0: 12}  # by milliseconds a fit takes: 4 to 5 seconds in all


def busy(A, b, seed, steps: int):
    """An algorithm that counts: it holds Python's lock, and needs neither memory nor disk."""
    state = seed
    for _ in range(steps):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
    level = float(b[-1]) + state
    return lambda rows: [level]


def steps_for(milliseconds: float) -> int:
    """Count the steps that take so long here, by the fastest of several tries."""
    steps = 100_000
    row, response = np.zeros((1, 1)), np.zeros(1)
    tries = []
    for _ in range(9):
        began = time.perf_counter()
        busy(row, response, 1, steps)
        tries.append(time.perf_counter() - began)
    return max(1, round(1e-3 * milliseconds * steps / min(tries)))


def rows_for(trials: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.arange(trials * (N + 1), dtype=float).reshape(-1, 1)
    return X, np.random.default_rng(0).normal(size=len(X))


def bare_loop(X, y, steps: int, first: int, last: int, trials: int) -> list[float]:
    changes = []
    for k in range(first, last):
        point = X[trials * N + k : trials * N + k + 1]
        predictions = []
        for size in (N, N - 1):
            rows = slice(k * N, k * N + size)
            predictions.append(busy(X[rows], y[rows], k, steps)(point)[0])
        changes.append(abs(predictions[0] - predictions[1]))
    return changes


def stand_by(pipe: Connection, trials: int, steps: int, half: int) -> None:
    """Compute one half of the trials whenever told to."""
    X, y = rows_for(trials)
    first, last = half * trials // 2, (half + 1) * trials // 2
    while pipe.recv():
        bare_loop(X, y, steps, first, last, trials)
        pipe.send(True)


@contextmanager
def two_processes(trials: int, steps: int) -> Iterator[list[Connection]]:
    pipes, processes = [], []
    for half in range(2):
        here, there = mp.Pipe()
        processes.append(mp.Process(target=stand_by, args=(there, trials, steps, half)))
        processes[-1].start()
        pipes.append(here)
    try:
        yield pipes
    finally:
        for pipe, process in zip(pipes, processes, strict=True):
            pipe.send(False)
            process.join()


def both_halves(pipes: list[Connection]) -> None:
    for pipe in pipes:
        pipe.send(True)
    for pipe in pipes:
        pipe.recv()


HEADERS = ["a fit", "trials", "one worker", "two bare processes", "two workers"]
HEADERS += ["gain, bare", "gain, poise", "of the ceiling", "changes"]


def compare(milliseconds: float, trials: int, rounds: int) -> list[str]:
    steps = steps_for(milliseconds)
    X, y = rows_for(trials)
    algorithm = partial(busy, steps=steps)

    def measured(n_jobs: int) -> np.ndarray:
        return poise.measure(
            algorithm, X, y, n=N, shuffle=False, random_state=0, n_jobs=n_jobs
        ).changes

    with two_processes(trials, steps) as pipes:
        result = race(
            {
                "two workers": lambda: measured(2),
                "bare": lambda: both_halves(pipes),
                "one worker": lambda: measured(1),
            },
            rounds,
        )
    one, two = result.results["one worker"], result.results["two workers"]
    return [
        f"{milliseconds:g} ms",
        f"{trials:,}",
        *(f"{result.seconds[name]:.2f} s" for name in ("one worker", "bare", "two workers")),
        f"{result.ratios['one worker'] / result.ratios['bare']:.2f}",
        f"{result.ratios['one worker']:.2f}",
        f"{result.ratios['bare']:.3f}",
        "identical" if np.array_equal(one, two) else "DIFFERENT",
    ]


def first_run() -> str:
    """Time a run of nothing much, with workers still to be started and with these at hand."""
    X, y = rows_for(50)
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        poise.measure(partial(busy, steps=1), X, y, n=N, n_jobs=2)
        seconds.append(time.perf_counter() - began)
    return (
        f"50 trials of no work on two workers: {seconds[0]:.2f} s for the first run, "
        f"{1e3 * statistics.median(seconds[1:]):.0f} ms for those after it"
    )


def main(rounds: int, small: bool) -> None:
    print(first_run(), end="\n\n", flush=True)
    share = 10 if small else 1
    rows = [compare(ms, max(4, trials // share), rounds) for ms, trials in TRIALS.items()]
    print(table(HEADERS, rows))


if __name__ == "__main__":
    given = chosen(__doc__, rounds=5, small="a tenth of the trials")
    main(given.rounds, given.small)
