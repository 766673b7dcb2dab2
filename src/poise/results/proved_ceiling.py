"""Which ceiling on the power of valid tests is proved for a design.

The ceilings are those of the paper (Theorems 2 and 5, section 4.2) where predictions are
numbers. They carry over to removing several rows, to groups, to replacing a row and to losses
that grow with the prediction; predictions that cannot move far (labels, probabilities) have
weaker ones (Theorem H of :mod:`poise.theory.bounded_outputs`). Where nothing is proved, the
ceiling is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poise.results.design import Design

__all__ = ["is_replacement", "proved_ceiling"]

_NUMBERS = ("absolute", "euclidean")
_BOUNDED = ("label", "total_variation")
# Losses of numbers that go to infinity with the prediction, whatever the response.
_GROWING_LOSSES = ("change of squared loss", "change of absolute loss")


def proved_ceiling(design: Design, delta: float, alpha: float, epsilon: float) -> float | None:
    """Return the largest power any valid black-box test can have at δ* = 0; None if none is proved.

    Parameters
    ----------
    design : Design
        The setting, with the number of rows.
    delta, alpha, epsilon : float
        The question.

    Examples
    --------
    >>> from poise.results.design import Design
    >>> ridge = Design("Ridge()", n=100, n_labeled=1000, n_unlabeled=10)
    >>> round(proved_ceiling(ridge, delta=0.1, alpha=0.05, epsilon=1.0), 4)
    0.1434
    >>> labels = Design("SVC()", n=3, n_labeled=3, n_unlabeled=400, distance="label")
    >>> proved_ceiling(labels, delta=0.1, alpha=0.05, epsilon=0.0)
    1.0
    """
    if not design.from_rows:
        return None
    if design.distance in _BOUNDED:
        return _bounded(design, delta, alpha, epsilon)
    one_row = design.remove == 1 and design.n_groups is None
    if design.labeled_test:
        known = one_row and not design.replace and design.distance in _GROWING_LOSSES
    else:
        # The proof for replaced rows needs features that no two rows share.
        replaceable = one_row and design.n_points is None
        known = design.distance in _NUMBERS and (replaceable or not design.replace)
    return _unbounded(design, delta, alpha) if known else None


def is_replacement(design: Design) -> bool:
    """Tell whether the ceiling needs features without ties (P_X has no atoms)."""
    return design.replace and design.distance in _NUMBERS and not design.labeled_test


def _unbounded(design: Design, delta: float, alpha: float) -> float | None:
    """Return the ceiling of Theorem 2, counted in units (rows or groups).

    A test can try known values one by one. If the values of the response are known, only the trap
    in the features remains, with exponent (N_ℓ + N_u)/(n + 1). If those of the features are
    known, only the trap in the response remains, with exponent N_ℓ/n. If both are known, no trap
    remains.
    """
    from poise.theory.power_bounds import power_bound

    if design.n_classes is not None and design.n_points is not None:
        return None
    return float(
        power_bound(
            design.training_units,
            design.n_units + design.set_aside,  # another test could use them too
            design.n_unlabeled,
            delta=delta,
            alpha=alpha,
            features=_space(design.n_points),
            response=_space(design.n_classes),
        )
    )


def _space(n_values: int | None) -> str:
    return "uncountable" if n_values is None else "countable"


def _bounded(design: Design, delta: float, alpha: float, epsilon: float) -> float | None:
    """Return the ceiling for labels and probabilities: one row removed, a trap in the features."""
    from poise.theory.bounded_outputs import ceiling_large_epsilon, which_ceiling

    classes = design.n_classes
    if not design.is_papers or epsilon >= 1 or design.n_points is not None:
        return None
    # A label may also be one of two where the response has more values; probabilities are one
    # per class, and how far they can be moved under one random term depends on their number.
    if design.distance == "total_variation" and classes and design.coupling == "shared":
        kind = which_ceiling(epsilon, "probabilities", n_classes=max(classes, 2))
        if kind == "unchanged":
            return _unbounded(design, delta, alpha)
    rows = design.n_labeled + design.set_aside + design.n_unlabeled
    return ceiling_large_epsilon(design.n + 1, rows, delta, 0.0, alpha)
