"""What a data-conditional certificate states: one sentence per notion and test.

None of them is a probability that the statement is true: a procedure that prints it prints it
falsely with probability at most α.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.arguments.decimal_noise import complement
from poise.arguments.printed_numbers import at_most, exactly

if TYPE_CHECKING:
    from poise.results.conditional_design import ConditionalDesign
    from poise.results.conditional_result import ConditionalResult

__all__ = ["NO_OTHER_TRAINING_SET", "certified_sentence", "compared_rows", "statement"]

NO_OTHER_TRAINING_SET = (
    "It says nothing about another training set, not even one from the same distribution: an "
    "algorithm can be certified on almost every training set and be unstable on the others "
    "(Proposition I)."
)

_SHARE_OF = {
    "deployed": "the {n} removals of a training row changes the {what} there by more than {eps}",
    "jackknife": (
        "the {n} training rows has a leave-one-out {what} (by the model without the row) that "
        "changes by more than {eps} when the new row is added to that model"
    ),
    "add-one": "{points} new points has a {what} that changes by more than {eps} when the new row "
    "is added to the training set",
}
_OVER = {
    "deployed": "a new point from the same distribution",
    "jackknife": "a new labelled row from the same distribution",
    "add-one": "a new labelled row and new points from the same distribution",
}


def certified_sentence(r: ConditionalResult) -> str:
    """Say what the verdict "stable" states, and how often such a statement is false.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> print(certified_sentence(record.test(epsilon=0.2, delta=0.1)))
    For this training set and these seeds: averaged over a new point from the same distribution, \
at most a share 0.1 of the 2 removals of a training row changes the prediction there by more \
than 0.2. A procedure that prints this prints it falsely with probability at most 0.05.
    """
    return (
        f"For this training set and these seeds: {statement(r)}. A procedure that prints this "
        f"prints it falsely with probability at most {at_most(r.alpha)}."
    )


def statement(r: ConditionalResult) -> str:
    """State what was asked, without saying whether it is true.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "jackknife", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> print(statement(record.test(epsilon=0.2, delta=0.1, gamma=0.5)))
    with probability at least 0.9 over a new labelled row from the same distribution, at most a \
share 0.5 of the 2 training rows has a leave-one-out prediction (by the model without the row) \
that changes by more than 0.2 when the new row is added to that model
    """
    over, share = _OVER[r.notion], r.delta
    when = f"averaged over {over}"
    if r.gamma is not None:
        when = f"with probability at least {exactly(complement(r.delta))} over {over}"
        share = r.gamma
    elif r.notion == "add-one":
        return (
            f"{when}, adding the row to the training set changes the {_what(r.design)} at a point "
            f"by more than {exactly(r.epsilon)} with probability at most {exactly(r.delta)}"
        )
    words = {"n": f"{r.n:,}", "points": f"the {r.design.points:,}", "what": _what(r.design)}
    changed = _SHARE_OF[r.notion].format(**words, eps=exactly(r.epsilon))
    return f"{when}, at most a share {exactly(share)} of {changed}"


def compared_rows(design: ConditionalDesign) -> str:
    """Say what one trial compares.

    Examples
    --------
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> compared_rows(ConditionalDesign("mean", "add-one", 30, 100, points=3))
    'each adds a fresh labelled row to the 30 training rows, and compares predictions at 3 ...'
    """
    what, n = f"{_what(design)}s" if not design.losses else "losses", f"{design.n:,}"
    if design.notion == "deployed":
        row = "a fresh labelled row" if design.losses else "a fresh point"
        said = f"each compares {what} at {row}, by the model of all {n} training rows and by the "
        return f"{said}{n} models without one of them"
    if design.notion == "add-one":
        points = "a fresh point" if design.points == 1 else f"{design.points:,} fresh points"
        return (
            f"each adds a fresh labelled row to the {n} training rows, and compares {what} at "
            f"{points} before and after"
        )
    return (
        f"each adds a fresh labelled row to the {n} models without one training row, and compares "
        f"{what} at the row that is left out, before and after"
    )


def _what(design: ConditionalDesign) -> str:
    return "loss" if design.losses else "prediction"
