"""What a clean run needs to be declared stable: trials, and the rows they are made of."""

from __future__ import annotations

from poise.results.design import Design

__all__ = ["needed"]


def needed(design: Design, delta: float, alpha: float) -> tuple[int, int]:
    """Return the least number of trials, and of labelled rows or groups, at this design's n.

    Parameters
    ----------
    design : Design
        The setting; unlabelled rows that it has go on serving as test points.
    delta : float
        In (0, 1): no amount of data can certify 0.
    alpha : float
        In (0, 1).

    Examples
    --------
    >>> needed(Design("x", n=100, n_labeled=300), delta=0.1, alpha=0.05)
    (29, 2929)
    >>> needed(Design("x", n=100, n_labeled=300, n_unlabeled=1000), delta=0.1, alpha=0.05)
    (29, 2900)
    """
    from poise.theory.planning import plan

    trials = plan(n=2, delta=delta, alpha=alpha, power=1.0).n_trials
    points = max(0, trials - design.spare_points)
    return trials, trials * design.training_units + points
