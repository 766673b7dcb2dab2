"""What rows can answer, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.arguments import counted
from poise.arguments.printed_numbers import at_least, at_most, exactly, level_in_words, number
from poise.results.text.table import TextTable
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.averaged_power_estimate import SECOND_POINT
from poise.theory.question_menu import Menu, MenuRow

__all__ = ["menu_as_dict", "menu_headline", "menu_meaning", "menu_table"]

_NONE = "-"


def menu_table(menu: Menu, more: Mapping[str, Sequence[str]] | None = None) -> TextTable:
    """Return one line per training size.

    Parameters
    ----------
    menu : Menu
        What the rows can answer.
    more : mapping of str to sequence of str, optional
        Further columns: a heading, and a cell per line.

    Examples
    --------
    >>> from poise.theory.question_menu import menu
    >>> print(menu_table(menu(500)).text())
    n    trials  fits  certifies delta  delta* Binomial  delta* averaged  points
    499  1       2     0.95             -                -                -
    99   5       10    0.4508           -                -                -
    54   9       18    0.2832           -                -                -
    34   14      28    0.1927           -                -                -
    25   19      38    0.1459           -                -                -
    16   29      58    0.09815          0.007665         -                -
    10   45      90    0.06441          0.004946         -                -
    7    62      124   0.04717          0.02485          -                -
    4    100     200   0.02952          0.03103          0.031 to 0.035   2
    2    166     332   0.01789          0.04414          0.042 to 0.048   2
    """
    columns = ["n", "trials", "fits", "certifies delta", "delta* Binomial", "delta* averaged"]
    columns += ["points"]
    extra = dict(more or {})
    rows = [
        [*_cells(row), *(column[place] for column in extra.values())]
        for place, row in enumerate(menu)
    ]
    return TextTable([*columns, *extra], rows)


def _cells(row: MenuRow) -> list[str]:
    averaged = row.delta_star_averaged
    return [
        f"{row.n:,}",
        f"{row.n_trials:,}",
        f"{row.n_fits:,}",
        _NONE if row.smallest_delta is None else at_most(row.smallest_delta),
        _NONE if row.delta_star is None else at_least(row.delta_star),
        _NONE if averaged is None else " to ".join(_roughly(value) for value in averaged),
        _NONE if averaged is None else f"{row.points:,}",
    ]


def _roughly(value: float) -> str:
    return f"{value:.2g}"


def menu_meaning(menu: Menu) -> str:
    """Say what the columns mean, and what they do not.

    Examples
    --------
    >>> from poise.theory.question_menu import menu
    >>> print(menu_meaning(menu(500)).splitlines()[0])
    n: training size asked about, in rows; each trial takes n of them, and one more to predict at.
    """
    each = menu.per_trial
    cautious, hopeful = SECOND_POINT
    level = level_in_words(menu.level, menu.algorithms)
    fresh = f" and {counted(each.fresh, f'fresh {each.unit}')}" if each.fresh else ""
    return "\n".join(
        [
            f"n: training size asked about, in {each.unit}s; each trial takes n of them{fresh}, "
            "and one more to predict at.",
            f"certifies delta: the smallest delta that a run without a single change beyond "
            f"epsilon certifies, at level {level}.",
            f"delta*: if changes beyond epsilon have a probability up to this, a test for "
            f"delta = {exactly(menu.delta)} declares stable with probability at least "
            f"{exactly(menu.power)}; - if it hardly can.",
            "delta* averaged: the same for the averaged test, which reads off each trial the share "
            "of its points that moved. An estimate: it assumes that another point of a trial moves "
            f"with probability {number(cautious)}, or {number(hopeful)}, if one does. Ridge, trees "
            "and nearest neighbours were seen between 0.08 and 0.27; nothing is gained at 1.",
            "points: test points of each trial with which the averaged test does best. Points that "
            f"the rows leave over cost nothing; more of them cost trials. {_by_itself(menu)}",
        ]
    )


def _by_itself(menu: Menu) -> str:
    """Say when a test takes the averaged test without being told to."""
    least = trials_for_averaging(menu.delta, menu.level)
    return (
        f"From {least:,} trials on, a test averages by itself over what costs no fit: points that "
        "are left over and, for Ridge, all removals."
    )


def menu_headline(menu: Menu) -> str:
    """Say how many rows there are, and the largest n that can be certified.

    Examples
    --------
    >>> from poise.theory.question_menu import menu
    >>> print(menu_headline(menu(500)))
    What 500 labelled rows can answer: delta = 0.1 can be certified up to n = 16 (29 trials).
    """
    more = f" and {counted(menu.n_unlabeled, 'unlabelled row')}" if menu.n_unlabeled else ""
    rows = counted(menu.n_labeled, f"labelled {menu.per_trial.unit}")
    return f"What {rows}{more} can answer: {_largest(menu)}."


def _largest(menu: Menu) -> str:
    delta, largest = exactly(menu.delta), menu.largest
    if largest is None:
        return f"no n at which delta = {delta} can be certified"
    trials = counted(largest.n_trials, "trial")
    return f"delta = {delta} can be certified up to n = {largest.n:,} ({trials})"


def menu_as_dict(menu: Menu) -> dict[str, object]:
    """Return every number of the menu as a plain value."""
    from dataclasses import asdict

    return asdict(menu) | {"level": menu.level, "second_point": list(SECOND_POINT)}
