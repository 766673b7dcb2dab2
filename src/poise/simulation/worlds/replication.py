"""Run a procedure on many data sets drawn from a world."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from poise.algorithms.algorithm import Algorithm
from poise.algorithms.distance import as_distance
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.protocol.messages import Answer
from poise.protocol.procedure import Procedure, run_procedure
from poise.protocol.randomness import Randomness
from poise.protocol.work import Work
from poise.running.execution import Execution
from poise.running.oracle import Oracle
from poise.running.progress import Progress
from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["declares_stable", "replicate", "run_once"]

T = TypeVar("T")

_CHUNKS = 50  # enough chunks for a progress bar, few enough to cost little


def replicate(
    one: Callable[[int], T], count: int, n_jobs: int | None = None, progress: bool | None = False
) -> list[T]:
    """Return ``[one(0), …, one(count - 1)]``, computed in parallel.

    ``one`` must depend on its index alone, so that the number of workers does
    not matter.

    Examples
    --------
    >>> replicate(lambda index: index**2, 4)
    [0, 1, 4, 9]
    """
    results: list[T] = []
    with Progress(count, progress, label="replications") as bar:
        for chunk in _chunks(one, count, n_jobs):
            results += chunk
            bar.advance_to(len(results))
    return results


def _chunks(one: Callable[[int], T], count: int, n_jobs: int | None) -> Iterator[list[T]]:
    from joblib import Parallel, delayed

    edges = np.linspace(0, count, min(count, _CHUNKS) + 1).astype(int).tolist()
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    yield from parallel(delayed(_chunk)(one, start, stop) for start, stop in pairwise(edges))


def _chunk(one: Callable[[int], T], start: int, stop: int) -> list[T]:
    with one_inner_thread():
        return [one(index) for index in range(start, stop)]


class _Inline:
    """Computes each answer in this process: the caller has set threads and workers."""

    backend = None

    def map(self, work: Work, start: int, stop: int) -> Generator[Answer, None, None]:
        yield from work(start, stop)


def run_once(
    procedure: Procedure,
    algorithm: Algorithm,
    sample: Sample,
    randomness: Randomness,
    *,
    models: str = "black-box",
    fast: bool = True,
) -> Any:
    """Run a procedure in this process, without a progress bar; return what it returned.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.procedures import BinomialTest
    >>> from poise.world import zoo
    >>> world = zoo.constant(n=3)
    >>> sample = world.draw(np.random.default_rng(0), n_labeled=200)
    >>> test = BinomialTest(n=3, epsilon=0.0, delta=0.1)
    >>> run_once(test, world.algorithm, sample, Randomness(0)).verdict.value
    'stable'
    """
    distance = as_distance("auto", algorithm.natural_distance)
    execution = Execution(progress=False, fast=fast)
    oracle = Oracle(algorithm, sample, distance, _Inline(), execution, models)
    return run_procedure(procedure, oracle, randomness)


def declares_stable(result: object) -> bool:
    """Read a verdict, whatever kind of object the procedure returned.

    A result with an attribute ``stable``, a truth value, or one of the words
    "stable", "unstable" and "inconclusive".

    Examples
    --------
    >>> declares_stable(True), declares_stable("inconclusive")
    (True, False)
    """
    verdict = getattr(result, "stable", result)
    if isinstance(verdict, str) and verdict in ("stable", "unstable", "inconclusive"):
        return verdict == "stable"
    if isinstance(verdict, (bool, np.bool_)):
        return bool(verdict)
    raise ArgumentError(
        "a procedure must return True or False, 'stable', 'unstable' or 'inconclusive', or a "
        f"result with an attribute `stable`, got {result!r}"
    )
