"""Fits saved by stopping early, beside the exact expectation.

    python benchmarks/early.py [--runs 400] [--small]

100 trials, delta = 0.1, alpha = 0.05. The algorithm changes its prediction by more
than epsilon with probability delta* exactly, independently in every trial.
``stop_early=True`` stops once the three-way verdict is forced, ``"stable"`` once it is
known whether the verdict is "stable". The expectation is a sum of Binomial
probabilities (``theory.sequential.expected_fraction``); the mean over many runs of
``poise.stability_test`` should lie within a few of its standard errors.

The second table counts, on one worker and on two, the fits that were not used: those
begun before the verdict was known (cheap trials travel in chunks of a twentieth of a
second, and are heard of when the chunk is done), and those begun after. A worker may
then finish the trial that it has in hand, which is two fits, and begins no other. Means,
and the most in any run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import struct
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import poise
from poise.theory.early_stopping import WORTH_SAVING, expected_fraction
from side_by_side import table

M, N = 100, 2
QUESTION = {"n": N, "epsilon": 0.5, "delta": 0.1, "alpha": 0.05}
DELTA_STARS = (0.0, 0.05, 0.1, 0.2, 0.5, 0.9)
SCOPES = {True: "verdict", "stable": "stable"}  # by the value of stop_early


def jumps(A, b, seed, delta_star: float, marks: str = "", seconds: float = 0.0):
    """Predict 1 instead of 0 if the n-th row is there and its response is below delta*."""
    if marks:
        with open(marks, "ab", buffering=0) as file:
            file.write(struct.pack("d", time.time()))
    if seconds:
        time.sleep(seconds)
    level = float(len(b) == N and b[-1] < delta_star)
    return lambda rows: [level]


def rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((M * (N + 1), 1)), rng.random(M * (N + 1))


def fraction(delta_star: float, stop_early: bool | str, seed: int) -> float:
    """Run one test; return the fraction of its fits that it needed."""
    algorithm = partial(jumps, delta_star=delta_star)
    result = poise.stability_test(
        algorithm, *rows(seed), **QUESTION, stop_early=stop_early, random_state=seed, check=False
    )
    return result.n_fits / (2 * M)


def saved(delta_star: float, stop_early: bool | str, runs: int) -> list[str]:
    seen = [fraction(delta_star, stop_early, seed) for seed in range(runs)]
    scope = SCOPES[stop_early]
    exact = expected_fraction(M, 0.1, delta_star, 0.05, scope, worth_saving=WORTH_SAVING)
    error = statistics.stdev(seen) / runs**0.5
    away = (statistics.mean(seen) - exact) / error if error else 0.0
    return [
        repr(stop_early),
        f"{delta_star:g}",
        f"{exact:.4f}",
        f"{statistics.mean(seen):.4f}",
        f"{error:.4f}",
        f"{away:+.1f}",
    ]


class Watched(poise.procedures.BinomialTest):
    """The test itself; notes when its verdict became known to whoever asked."""

    def ask(self, sample, randomness):
        conversation = super().ask(sample, randomness)
        batch = next(conversation)
        answers = yield replace(batch, until=partial(self.noting, batch.until))
        try:
            conversation.send(answers)
        except StopIteration as stop:
            return stop.value

    def noting(self, until, change: float) -> bool:
        forced = until(change)
        if forced:
            KNOWN.append(time.time())
        return forced


KNOWN: list[float] = []


def unused(delta_star: float, n_jobs: int, seconds: float, seed: int) -> tuple[int, int, int]:
    """Run one test; return the fits used, those in hand at the verdict, those begun after it."""
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder) / "marks"
        algorithm = partial(jumps, delta_star=delta_star, marks=str(marks), seconds=seconds)
        test = Watched(**QUESTION)
        result = poise.run(test, algorithm, *rows(seed), random_state=seed, n_jobs=n_jobs).result
        time.sleep(0.1)  # whatever is going to begin has begun
        begun = np.fromfile(marks)
    after = int(np.count_nonzero(begun > KNOWN.pop()))
    return result.n_fits, len(begun) - after - result.n_fits, after


def beyond(delta_star: float, n_jobs: int, milliseconds: int, runs: int) -> list[str]:
    seen = [unused(delta_star, n_jobs, 1e-3 * milliseconds, seed) for seed in range(runs)]
    used, in_hand, after = zip(*seen, strict=True)
    return [
        f"{n_jobs}",
        f"{milliseconds} ms",
        f"{delta_star:g}",
        f"{statistics.mean(used):.1f}",
        f"{statistics.mean(in_hand):.1f} ({max(in_hand)})",
        f"{statistics.mean(after):.1f} ({max(after)})",
    ]


def main(runs: int) -> None:
    headers = ["stop_early", "delta*", "expected fraction", "seen", "standard error", "away by"]
    cells = [(delta_star, stop) for stop in SCOPES for delta_star in DELTA_STARS]
    print(table(headers, [saved(*cell, runs) for cell in cells]), end="\n\n", flush=True)
    headers = ["workers", "a fit", "delta*", "fits used", "unused, begun before", "begun after"]
    poise.measure(partial(jumps, delta_star=0.5), *rows(0), n=N, n_jobs=2)  # starts the workers
    cells = [(d, jobs, ms) for jobs in (1, 2) for ms in (2, 30) for d in (0.2, 0.5, 0.9)]
    print(table(headers, [beyond(*cell, max(2, runs // 50)) for cell in cells]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--small", action="store_true", help="50 runs")
    arguments = parser.parse_args()
    main(50 if arguments.small else arguments.runs)
