"""Rows set aside to find the scale that ε is a share of; no trial uses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import needs_response
from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.questions.measurement import Measurement
from poise.questions.spread import RowsSetAside, refuse_other_units, spread_of
from poise.results.relative_epsilon import Relative, read_epsilon

__all__ = ["resolved"]

_SMALLEST_PART_LEFT = 0.5  # at least this share of the labelled rows must be left for trials


def resolved(
    measurement: Measurement, epsilon: float | str | Relative
) -> tuple[Measurement, float]:
    """Turn a relative ε into a number, and remove the rows used for this from the sample.

    Which rows are set aside depends only on the number of rows. So a run that is started again,
    with a journal or on another machine, sets aside the same rows.

    Examples
    --------
    >>> from poise.protocol.randomness import Randomness
    >>> from poise.questions.setup import Setup
    >>> from poise.running.execution import Execution
    >>> sample = Sample([[0.0]] * 100, [1.0, 3.0] * 50)
    >>> mean = lambda X, y, seed: lambda rows: [sum(y) / len(y)] * len(rows)
    >>> whole = Measurement(mean, sample, Setup(10), Execution(), Randomness(0))
    >>> rest, epsilon = resolved(whole, Relative(0.1, rows=20))
    >>> rest.sample.n_labeled, round(epsilon, 3)
    (80, 0.103)
    """
    asked = read_epsilon(epsilon) if isinstance(epsilon, str) else epsilon
    if not isinstance(asked, Relative):
        return measurement, asked
    _refuse_other_units(measurement)
    chosen = _chosen(measurement.sample, asked.rows)
    spread = spread_of(measurement.sample.y.take(chosen), "rows set aside")
    rest = np.setdiff1d(np.arange(measurement.sample.n_labeled), chosen)
    aside = RowsSetAside(measurement.sample.only(chosen), spread)
    kept = replace(measurement, sample=measurement.sample.only(rest), aside=aside)
    return kept, asked.share * spread


def _refuse_other_units(measurement: Measurement) -> None:
    """Refuse what is not measured in the units of the responses, and rows that are not here."""
    losses = needs_response(measurement.oracle.distance)
    refuse_other_units(measurement.setup.response, losses=losses)
    sample = measurement.sample
    if sample.rows_elsewhere or isinstance(sample.X.native, StoredTable):
        where = "are on the workers of a cluster" if sample.rows_elsewhere else "stay on disk"
        raise ArgumentError(
            f"epsilon must be a number for rows that {where}; poise advise prints the spread"
        )


def _chosen(sample: Sample, rows: int) -> NDArray[np.int64]:
    """Choose rows, or whole groups if there are groups; the choice is always the same."""
    units = sample.n_labeled if sample.groups is None else len(sample.groups)
    order = np.random.default_rng(0).permutation(units)
    in_order = order if sample.groups is None else sample.groups.layout(order).rows
    ends = np.arange(1, units + 1) if sample.groups is None else _ends(sample, order)
    chosen = in_order[: int(ends[np.searchsorted(ends, rows)])] if rows <= ends[-1] else in_order
    if len(chosen) > _SMALLEST_PART_LEFT * sample.n_labeled:
        raise ArgumentError(
            f"epsilon: setting aside {rows} of {sample.n_labeled} rows leaves too few; set aside "
            "fewer (poise.relative(..., rows=...)), or give epsilon as a number"
        )
    return np.asarray(np.sort(chosen), dtype=np.int64)


def _ends(sample: Sample, order: NDArray[np.int64]) -> NDArray[np.int64]:
    assert sample.groups is not None
    return sample.groups.layout(order).starts[1:]
