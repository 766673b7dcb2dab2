"""Linear fits with at least as many columns as rows (dual form).

The n × n matrix of inner products takes the place of the d × d Gram matrix. An
intercept makes that matrix singular along the vector of ones; a multiple of the
projection on that vector makes it regular and alters nothing else.
"""

from __future__ import annotations

import math

import numpy as np

from poise.shortcuts.centred_moments import Centred
from poise.shortcuts.factorizations import length, norm
from poise.shortcuts.kernel_systems import remove_last, solve_in_place
from poise.shortcuts.linear_narrow import LinearPairs
from poise.shortcuts.rounding_bounds import ROUNDING
from poise.shortcuts.shortcut import Floats

__all__ = ["wide_pairs"]


def wide_pairs(X: Floats, Y: Floats, x: Floats, penalty: float, intercept: bool) -> LinearPairs:
    """Fit ``Y`` on ``X`` with and without the last row and predict at ``x``.

    Arguments as in :func:`poise.shortcuts.linear_narrow.narrow_pairs`; ``penalty=0`` gives
    the interpolating fit of least norm.
    """
    n = X.shape[1]
    rows, mean, responses, level, _ = Centred.of(X, Y, intercept)
    if intercept:
        # Centre again: the rounding error of a mean is the same in all rows, and matters for
        # a test point that is far away.
        rows -= np.full((1, n), 1.0 / n) @ rows
    system = rows @ rows.mT
    typical = np.trace(system, axis1=1, axis2=2) / n
    if intercept:
        system += (typical / n)[:, None, None]
    system[:, np.arange(n), np.arange(n)] += penalty
    condition = _condition(system, penalty)
    point = x - mean[:, 0, :]
    test, blur = np.matvec(rows, point), length(norm(rows)) * norm(point)
    constant = typical + penalty if intercept else None
    found = remove_last(system, responses, test, blur, constant=constant)
    full, reduced = level + found.full, level + found.reduced
    # Cancellation in x'β + (ȳ − x̄'β), as for narrow data; |β| <= √(y'Hy).
    offset = norm(np.abs(x) + np.abs(mean[:, 0, :]))
    shift = np.abs(level) * (math.sqrt(n) * found.reach)[:, None]
    cancel = ROUNDING * (offset[:, None] * found.fitted + shift + np.abs(full))
    return LinearPairs(full, reduced, found.error + cancel, condition)


def _condition(system: Floats, penalty: float) -> Floats:
    """Bound the condition number of the rows; removing one cannot make it worse."""
    trials, n, _ = system.shape
    size = np.trace(system, axis1=1, axis2=2)
    if penalty > 0:
        return np.asarray(np.sqrt(size / penalty))
    identity = np.tile(np.eye(n), (trials, 1, 1))
    inverse = np.trace(solve_in_place(system.copy(), identity), axis1=1, axis2=2)
    return np.asarray(np.sqrt(size * inverse))
