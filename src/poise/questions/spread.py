"""The spread of responses, which ε may be a share of, and where it says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.data.sample import Sample
from poise.errors import ArgumentError

__all__ = ["RowsSetAside", "refuse_other_units", "spread_of"]


@dataclass(frozen=True)
class RowsSetAside:
    """Rows that no trial uses, and the spread of their responses.

    Parameters
    ----------
    rows : Sample
        The rows.
    spread : float
        The standard deviation of their responses, of which ε is a share.
    """

    rows: Sample
    spread: float


def spread_of(responses: Any, rows: str) -> float:
    """Compute the standard deviation; for several columns, the root of the sum of variances.

    Parameters
    ----------
    responses : array, column or list
        The responses of at least 2 rows.
    rows : str
        What these rows are called in messages.

    Examples
    --------
    >>> spread_of([1.0, 3.0, 5.0], "training rows")
    2.0
    >>> spread_of([4.0, 4.0], "training rows")
    Traceback (most recent call last):
    poise.errors.ArgumentError: epsilon must be a number: the 2 training rows have one and the ...
    """
    values = np.asarray(responses)
    if values.dtype.kind not in "iuf":
        raise ArgumentError(
            "epsilon must be a number for labels, which have no spread: use epsilon=0"
        )
    spread = float(np.sqrt(np.sum(np.var(values.astype(np.float64), axis=0, ddof=1))))
    if spread == 0:
        raise ArgumentError(
            f"epsilon must be a number: the {len(values)} {rows} have one and the same response, "
            "so the spread is 0"
        )
    return spread


def refuse_other_units(response: str, *, losses: bool) -> None:
    """Refuse a share of the spread where changes are not in the units of the responses.

    Parameters
    ----------
    response : str
        Which method of a fitted estimator is called.
    losses : bool
        Whether losses are compared instead of predictions.
    """
    if losses or response != "predict":
        what = "losses" if losses else response
        raise ArgumentError(
            f"epsilon must be a number for {what}: the spread of the responses is in other units"
        )
