"""The spread of a response, for a choice of ε, and its rare classes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import Table

__all__ = ["ResponseScale", "response_scales"]

_MOST_CLASSES = 20  # whole numbers with more distinct values count as quantities


@dataclass(frozen=True)
class ResponseScale:
    """How one column of responses varies.

    Attributes
    ----------
    column : int
        Which column of y, from 0.
    sd : float or None
        Standard deviation; None for labels that are no numbers.
    quartiles : tuple of three floats, or None
        A quarter, half and three quarters of the responses are at most these.
    classes : dict of str to int
        Rows of each class, the rarest first; empty for a quantity.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> [scale] = response_scales(as_table(["yes"] * 9 + ["no"] * 3, "y"))
    >>> scale.classes, round(scale.chance_absent(4), 4)
    ({'no': 3, 'yes': 9}, 0.2545)
    """

    column: int
    sd: float | None
    quartiles: tuple[float, float, float] | None
    classes: dict[str, int]

    def chance_absent(self, n: int) -> float:
        """Bound the chance that n rows, drawn at random from these, lack a class.

        The bound is the sum over classes of C(N − c, n) / C(N, n).
        """
        from scipy.stats import hypergeom

        counts = np.array(list(self.classes.values()))
        if len(counts) < 2:
            return 0.0
        total = int(counts.sum())
        return min(1.0, float(np.sum(hypergeom.pmf(0, total, counts, min(n, total)))))


def response_scales(y: Table) -> tuple[ResponseScale, ...]:
    """Describe each column of the responses.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> [scale] = response_scales(as_table([0.5, 1.5, 2.5, 3.5, 4.5], "y"))
    >>> round(scale.sd, 4), scale.quartiles, scale.classes
    (1.5811, (1.5, 2.5, 3.5), {})
    """
    values = np.asarray(y.native)
    columns = values.reshape(len(values), -1).T
    return tuple(_scale(place, column) for place, column in enumerate(columns))


def _scale(place: int, values: NDArray[Any]) -> ResponseScale:
    classes = _classes(values)
    if values.dtype.kind not in "iuf":
        return ResponseScale(place, None, None, classes)
    low, middle, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return ResponseScale(place, sd, (low, middle, high), classes)


def _classes(values: NDArray[Any]) -> dict[str, int]:
    """Count classes; numbers are classes if they are whole, few, and each occurs often."""
    if values.dtype.kind == "f" and not (values == np.round(values)).all():
        return {}
    counts = Counter(values.tolist())
    most = min(_MOST_CLASSES, len(values) // 5)
    if values.dtype.kind in "iuf" and not 2 <= len(counts) <= most:
        return {}
    in_order = sorted(counts.items(), key=lambda pair: (pair[1], str(pair[0])))
    return {str(value): count for value, count in in_order}
