"""The trials and rows that a run without large changes needs."""

from __future__ import annotations

from poise.results.design import Design
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["largest_size", "model_of_all_rows", "needed", "smaller_size"]

_TOO_FEW_TRIALS = 3  # so few trials never answer: n is close to the number of rows


def needed(design: Design, delta: float, alpha: float) -> tuple[int, int]:
    """Return the least number of trials, and of labelled rows or groups, at this design's n.

    Parameters
    ----------
    design : Design
        The setting; its unlabelled rows are used as test points.
    delta : float
        In [1e-13, 1): no amount of data can certify 0, or hardly more.
    alpha : float
        In (0, 1).

    Examples
    --------
    >>> needed(Design("x", n=100, n_labeled=300), delta=0.1, alpha=0.05)
    (29, 2929)
    >>> needed(Design("x", n=100, n_labeled=300, n_unlabeled=1000), delta=0.1, alpha=0.05)
    (29, 2900)
    """
    from poise.theory.clean_trials import clean_trials

    trials = clean_trials(delta, alpha)
    return trials, _per_trial(design).rows_for(trials, design.n, design.n_unlabeled)


def largest_size(design: Design, delta: float, alpha: float) -> int | None:
    """Return the largest n at which these rows can certify δ; None if there is none.

    Examples
    --------
    >>> largest_size(Design("x", n=3000, n_labeled=3000), delta=0.1, alpha=0.05)
    102
    >>> largest_size(Design("x", n=10, n_labeled=30), delta=0.1, alpha=0.05) is None
    True
    >>> largest_size(Design("x", n=10, n_labeled=30), delta=1e-17, alpha=0.05) is None
    True
    """
    from poise.theory.planning import SMALLEST_DELTA

    if delta < SMALLEST_DELTA:
        return None
    trials, _ = needed(design, delta, alpha)
    size = _per_trial(design).size_for(trials, design.n_units, design.n_unlabeled)
    return size if size >= 2 else None


def smaller_size(design: Design, delta: float, alpha: float) -> str:
    """Name the n to ask about instead, or say that there is none.

    Examples
    --------
    >>> smaller_size(Design("x", n=3000, n_labeled=3000), delta=0.1, alpha=0.05)
    'or n = 102, the largest that these rows can answer'
    >>> smaller_size(Design("x", n=10, n_labeled=30), delta=0.1, alpha=0.05)
    'these rows are too few for any n'
    >>> smaller_size(Design("x", n=12, n_labeled=400, points=3), delta=0.1, alpha=0.05)
    'or fewer points a trial'
    """
    size = largest_size(design, delta, alpha)
    if size is None:
        return "these rows are too few for any n"
    if size >= design.n:  # one point a trial would leave enough trials
        return "or fewer points a trial"
    return f"or n = {size:,}, the largest that these rows can answer"


def model_of_all_rows(design: Design) -> str:
    """Name the question about the model of all rows, where n is close to their number.

    Examples
    --------
    >>> model_of_all_rows(Design("x", n=3000, n_labeled=3000))
    'The model of exactly these rows is another question, which fresh rows can answer: ...'
    >>> model_of_all_rows(Design("x", n=10, n_labeled=3000))
    ''
    """
    if design.n_trials > _TOO_FEW_TRIALS or not design.is_papers or not design.from_rows:
        return ""
    return (
        "The model of exactly these rows is another question, which fresh rows can answer: "
        "poise.conditional_test, or poise deployed on the command line"
    )


def _per_trial(design: Design) -> RowsPerTrial:
    grouped = design.n_groups is not None
    return RowsPerTrial(design.remove, design.replace, design.labeled_test, grouped)
