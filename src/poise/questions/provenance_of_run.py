"""Note where changes come from, while rows and code are at hand."""

from __future__ import annotations

from poise.algorithms.library_versions import versions_that_compute
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.questions.setup import Setup
from poise.results.provenance import Provenance
from poise.running.oracle import Oracle

__all__ = ["provenance_of", "versions_of"]

_MOST_ROWS = 1_000_000  # reading more takes noticeable time, and most results need no digest


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
