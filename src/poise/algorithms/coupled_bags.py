"""Bags that change little when the last row is removed.

What the same seed gives an ordinary bagging ensemble on n and on n − 1 rows
depends on how its generator draws numbers below n: scikit-learn's gives nearly
the same bags, except where n − 1 is a power of two: there half of all draws
differ. Here each bag is a function of (seed, bag, row position), and removing the
last row changes nothing but what concerns that row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.errors import ArgumentError

__all__ = ["SCHEMES", "draw_bag", "draw_subbag"]

SCHEMES = ("erase", "poisson", "redraw")

Rows = NDArray[np.int64]

# P(Poisson(1) <= k) for k = 0 … 19; the rest is smaller than a rounding error.
_POISSON_CDF = np.exp(-1.0) * np.cumsum(1.0 / np.cumprod(np.maximum(np.arange(20.0), 1.0)))


def draw_bag(
    scheme: str, seed: int, bag: int, n_rows: int, nominal_rows: int | None = None
) -> Rows:
    """Draw the row positions of one bag.

    For each scheme and all m, the bag of m − 1 rows is that of m rows with the
    last row erased ("erase", "poisson"), or with each of its copies drawn again
    from the other rows and the last place dropped ("redraw").

    Parameters
    ----------
    scheme : {"erase", "poisson", "redraw"}
        "erase": ``nominal_rows`` draws with replacement from ``nominal_rows``
        positions, those beyond the rows at hand erased. "poisson": each row
        appears Poisson(1) times. "redraw": as many draws with replacement as
        there are rows.
    seed, bag : int
        Which ensemble, which of its bags.
    n_rows : int
        Rows at hand, at least 1.
    nominal_rows : int, optional
        Needed by "erase", at least ``n_rows``: the rows of the full fit.

    Returns
    -------
    ndarray of int
        Positions, in increasing order except for "redraw"; possibly none.

    Examples
    --------
    >>> full = draw_bag("erase", seed=1, bag=0, n_rows=6, nominal_rows=6)
    >>> reduced = draw_bag("erase", seed=1, bag=0, n_rows=5, nominal_rows=6)
    >>> bool(np.array_equal(reduced, full[full != 5]))
    True
    """
    arguments.choice("scheme", scheme, SCHEMES)
    if scheme == "redraw":
        return _redraw(seed, bag, n_rows)
    if scheme == "poisson":
        uniform = _stream(seed, bag, 0).random(n_rows)  # row i reads the i-th number, always
        return np.repeat(np.arange(n_rows), np.searchsorted(_POISSON_CDF, uniform, side="right"))
    if nominal_rows is None or nominal_rows < n_rows:
        raise ArgumentError(
            f"nominal_rows must be the number of rows of the full fit, at least {n_rows}, "
            f"got {nominal_rows}; the schemes 'poisson' and 'redraw' need none"
        )
    drawn = _stream(seed, bag, 0).integers(0, nominal_rows, size=nominal_rows)
    return np.sort(drawn[drawn < n_rows])


def _redraw(seed: int, bag: int, n_rows: int) -> Rows:
    """Draw ``n_rows`` positions by jump consistent hashing (Lamping & Veach, 2014).

    Each place of the bag follows an increasing random sequence of positions, which
    depends on (seed, bag, place) alone, and takes the last position below ``n_rows``.
    That position is uniform for every ``n_rows``, and is the same for m − 1 rows as
    for m unless it was row m − 1.
    """
    position = np.zeros(n_rows, dtype=np.int64)
    walking = np.arange(n_rows)
    step = 0
    while walking.size:
        uniform = _stream(seed, bag, step).random(n_rows)[walking]
        # 1 − U lies in (0, 1], so the next position is finite and beyond this one.
        proposal = np.floor((position[walking] + 1) / (1.0 - uniform))
        inside = proposal < n_rows
        walking = walking[inside]
        position[walking] = proposal[inside].astype(np.int64)
        step += 1
    return position


def draw_subbag(seed: int, bag: int, n_rows: int, size: int) -> Rows:
    """Draw ``size`` of ``n_rows`` row positions without replacement, in random order.

    Reservoir sampling: each later row takes a random place of the bag with the probability
    that it should be in it. So for every m the bag is a uniform draw from m rows, and the
    bag of m - 1 rows is that of m rows unless row m - 1 was in it; then the row that it had
    replaced is back in its place.

    Parameters
    ----------
    seed, bag : int
        Which ensemble, which of its bags.
    n_rows : int
        Rows at hand, at least ``size``.
    size : int
        Rows in the bag, at least 1.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> full, reduced = (draw_subbag(1, 0, rows, size=3) for rows in (9, 8))
    >>> bool(np.array_equal(full, reduced)) or 8 in full
    True
    """
    rows = _stream(seed, bag, 0).permutation(size)
    later = np.arange(size, n_rows)
    # Row i reads the i-th number, always.
    places = (_stream(seed, bag, 1).random(n_rows)[size:] * (later + 1)).astype(np.int64)
    taken = places < size
    rows[places[taken]] = later[taken]  # the last row to take a place keeps it
    return rows


def _stream(seed: int, bag: int, step: int) -> np.random.Generator:
    key = np.array([seed, bag], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, step]))
