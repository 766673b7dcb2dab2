"""The design of a run in words: what a trial compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from poise.arguments.printed_numbers import at_most, exactly, number
from poise.protocol.messages import FIT_BY_FIT
from poise.results.design import Design
from poise.results.proved_ceiling import is_replacement

__all__ = [
    "allowed_change",
    "allowed_in_sentences",
    "ceiling_in_words",
    "compared",
    "moved",
    "perturbation",
    "qualified",
    "remarks",
    "shortage",
]


class Scaled(Protocol):
    """A design that may know the spread of the responses, of which ε was given as a share."""

    @property
    def spread(self) -> float | None:
        """The spread, or None if ε was given as a number."""
        ...


def allowed_change(epsilon: float, design: Scaled, rounded: Callable[[float], str] = number) -> str:
    """Write ε; if it was given as a share of the spread, with few digits and with that share.

    ``rounded`` says in which direction the digits are cut, where a verdict claims something.

    Examples
    --------
    >>> allowed_change(2.0, Design("Ridge()", 20, 442))
    '2'
    >>> allowed_change(2.0, Design("Ridge()", 20, 442, spread=40.0, set_aside=30))
    '2 = 5% of spread'
    >>> allowed_change(0.8130540402788693, Design("x", 20, 442, spread=2.032635), at_most)
    '0.8131 = 40% of spread'
    """
    if not design.spread:
        return exactly(epsilon)
    return f"{rounded(epsilon)} = {allowed_in_sentences(epsilon, design)}"


def allowed_in_sentences(epsilon: float, design: Scaled) -> str:
    """Write ε as it was given: a share of the spread or a number, with no digit changed.

    Examples
    --------
    >>> allowed_in_sentences(2.0, Design("Ridge()", 20, 442))
    '2'
    >>> allowed_in_sentences(0.8130540402788693, Design("x", 20, 442, spread=2.032635))
    '40% of spread'
    """
    if not design.spread:
        return exactly(epsilon)
    return f"{number(100 * epsilon / design.spread)}% of spread"


def compared(design: Design) -> str:
    """Say what each trial does, and how they were computed if not fit by fit.

    Examples
    --------
    >>> compared(Design("Ridge()", 20, 442))  # doctest: +NORMALIZE_WHITESPACE
    'each trains on 20 rows and again without the last of them (shared randomness), and compares
    predictions at a fresh point'
    >>> compared(Design("Ridge()", 20, 442, path="rank-one downdate of ridge"))
    'each trains on ... at a fresh point (many at once: rank-one downdate of ridge)'
    >>> compared(Design("Ridge()", 20, 442, remove=2, replace=True))
    'each trains on 20 rows and again with 2 fresh ones in place of the last 2 (shared ...'
    """
    what = "losses" if design.labeled_test else "predictions"
    how = "" if design.path == FIT_BY_FIT else f" (many at once: {design.path})"
    return (
        f"each trains on {design.n:,} {design.unit}s and again {_second_fit(design)} "
        f"({design.coupling} randomness), and compares {what} at {_test_point(design)}{how}"
    )


def _second_fit(design: Design) -> str:
    several = design.removals > 1
    if design.replace:
        fresh = "a fresh one" if design.remove == 1 else f"{design.remove} fresh ones"
        last = "the last" if design.remove == 1 else f"the last {design.remove}"
        return f"with {fresh} in place of {_in_turn(design) if several else last}"
    if several:
        return f"without {_in_turn(design)}"
    if design.remove == 1:
        return "without the last of them"
    return f"without the last {design.remove} of them"


def _in_turn(design: Design) -> str:
    """Say what the removals of a trial take, one after the other."""
    if design.remove > 1:
        return f"{design.removals} blocks of {design.remove} of them in turn"
    all_of_them = design.removals == design.n
    return f"{'each of them' if all_of_them else f'each of the last {design.removals}'} in turn"


def _test_point(design: Design) -> str:
    several = design.points > 1
    if design.unit == "group":
        return f"a row of each of {design.points:,} fresh groups" if several else _GROUP_ROW
    if design.labeled_test:
        return f"{design.points:,} fresh labelled rows" if several else "a fresh labelled row"
    return f"{design.points:,} fresh points" if several else "a fresh point"


_GROUP_ROW = "a row of a fresh group"


def perturbation(design: Design) -> str:
    """Name what is done to the training set.

    Examples
    --------
    >>> perturbation(Design("Ridge()", 20, 442))
    'removing a row'
    >>> perturbation(Design("Ridge()", 20, 442, remove=3, n_groups=80))
    'removing 3 groups'
    """
    verb = "replacing" if design.replace else "removing"
    return f"{verb} {_units(design)}"


def _units(design: Design) -> str:
    return f"a {design.unit}" if design.remove == 1 else f"{design.remove} {design.unit}s"


def moved(design: Design) -> str:
    """Name what changes: the prediction or the loss.

    Examples
    --------
    >>> moved(Design("Ridge()", 20, 442, labeled_test=True))
    'loss'
    """
    return "loss" if design.labeled_test else "prediction"


def qualified(design: Design) -> str:
    """Name the kind of stability and the training size.

    Examples
    --------
    >>> qualified(Design("Ridge()", 20, 442)), qualified(Design("Ridge()", 20, 442, n_groups=50))
    ('stable at n = 20', 'stable under the removal of a group at n = 20 groups')
    """
    kind = " in its loss" if design.labeled_test else ""
    if design.remove > 1 or design.replace or design.unit == "group":
        noun = "replacement" if design.replace else "removal"
        kind += f" under the {noun} of {_units(design)}"
    counted = " groups" if design.unit == "group" else ""
    return f"stable{kind} at n = {design.n:,}{counted}"


def shortage(design: Design) -> str:
    """Say why the data hold no trial.

    Examples
    --------
    >>> shortage(Design("Ridge()", 20, 20))
    '20 labelled and 0 unlabelled rows cannot supply 20 training rows and a test point'
    """
    labelled = f"{design.n_labeled:,} labelled"
    if design.n_groups is not None:
        labelled += f" rows in {design.n_groups:,} groups"
    return (
        f"{labelled} and {design.n_unlabeled:,} unlabelled rows cannot supply "
        f"{design.training_units:,} training {design.unit}s and a "
        f"{'labelled test row' if design.labeled_test else 'test point'}{_points(design)}"
    )


def remarks(design: Design, ceiling: float | None) -> list[str]:
    """List how a variant differs from the setting of the paper.

    Examples
    --------
    >>> remarks(Design("Ridge()", 20, 442, n_unlabeled=10, labeled_test=True), None)[0]
    'The 10 unlabelled rows could not serve: the loss at a test row needs its response.'
    """
    said = []
    if design.labeled_test and design.n_unlabeled:
        said.append(
            f"The {design.n_unlabeled:,} unlabelled rows could not serve: "
            "the loss at a test row needs its response."
        )
    if design.spread is not None:
        said.append(
            f"epsilon was given as a share of the spread {number(design.spread)} of the responses, "
            f"the standard deviation of {design.set_aside:,} rows set aside and used in no trial."
        )
    if design.n_groups is not None:
        said.append(f"Trials are counted in groups, of which there are {design.n_groups:,}.")
    if ceiling is None and design.from_rows and not design.is_papers:
        said.append("No ceiling on the power of other tests is proved for this variant.")
    if ceiling is not None and is_replacement(design):
        said.append("The power ceiling holds if no two rows have the same features.")
    return said


def ceiling_in_words(design: Design, ceiling: float) -> str:
    """Say what no test can exceed, and under which condition that is proved.

    Examples
    --------
    >>> ceiling_in_words(Design("Ridge()", 20, 60), 0.0556)
    'no valid black-box test has more than 0.0556 power here'
    """
    condition = ", if no two rows have the same features" if is_replacement(design) else ""
    return f"no valid black-box test has more than {at_most(ceiling)} power here{condition}"


def _points(design: Design) -> str:
    return "" if design.points == 1 else f", {design.points:,} of them a trial"
