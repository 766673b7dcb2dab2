"""Note where changes come from, while rows and code are at hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import numpy as np

from poise.algorithms.library_versions import versions_that_compute
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.questions.setup import Setup
from poise.results.provenance import Provenance
from poise.running.oracle import Oracle

__all__ = ["digested_meanwhile", "provenance_of", "versions_of"]

_MOST_ROWS = 1_000_000  # reading more takes noticeable time, and most results need no digest
_BYTES_FOR_A_THREAD = 1_000_000  # they take 0.7 ms to digest, and a thread 0.1 ms to start


@contextmanager
def digested_meanwhile(sample: Sample, *, however_large: bool = False) -> Iterator[None]:
    """Digest the rows of a large array while the fits inside this block run.

    Hashing an array does not need Python's lock, so that a thread does it beside the fits.

    Parameters
    ----------
    sample : Sample
        The rows; their ``long_digest`` is known at the end of the block.
    however_large : bool
        As in :func:`provenance_of`.
    """
    native = sample.for_checks.X.native
    large = isinstance(native, np.ndarray) and native.nbytes > _BYTES_FOR_A_THREAD
    if not (large and (however_large or _is_small(sample))):
        yield
        return
    thread = Thread(target=_digest, args=(sample,), name="poise digest of rows")
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _digest(sample: Sample) -> None:
    with suppress(Exception):  # whoever asks for the digest computes it then, and gets the error
        sample.long_digest  # noqa: B018  # computed once, and kept


def provenance_of(
    oracle: Oracle, setup: Setup, decision_points: tuple[float, ...], *, however_large: bool = False
) -> Provenance:
    """Return digests, versions and settings of a measurement.

    Rows are digested unless they are many or stay on disk; ``however_large`` does it all the same.
    """
    code, distance_code = oracle.codes
    return Provenance(
        rows=oracle.sample.long_digest if however_large or _is_small(oracle.sample) else "",
        code=code,
        distance_code=distance_code,
        versions=versions_of(oracle),
        response=setup.response,
        distance=setup.distance if isinstance(setup.distance, str) else "",
        decision_points=decision_points,
    )


def versions_of(oracle: Oracle) -> dict[str, str]:
    """Return the versions of what computes the changes of this oracle."""
    sample = oracle.sample.for_checks
    rows = sample.X.native, sample.y.native
    return versions_that_compute(oracle.algorithm, oracle.distance, *rows)


def _is_small(sample: Sample) -> bool:
    if sample.rows_elsewhere or isinstance(sample.X.native, StoredTable):
        return False
    return sample.n_labeled + sample.n_unlabeled <= _MOST_ROWS
