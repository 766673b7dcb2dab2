"""Questions that some rows can answer, each with its call or command."""

from __future__ import annotations

from typing import NamedTuple

from poise.results.text.numbers import number
from poise.theory.menu import Menu

__all__ = ["CommandParts", "as_calls", "as_commands"]


def as_calls(menu: Menu, epsilon: str = "...") -> dict[str, str]:
    """Return questions and the calls of the library that answer them.

    ``epsilon`` is what stands for the allowed change: 0 for labels, which change or do not.

    Examples
    --------
    >>> from poise.theory.menu import menu
    >>> as_calls(menu(3000))["Is it stable at n = 102?"]
    'poise.stability_test(algorithm, X, y, n=102, epsilon=..., delta=0.1)'
    """
    n = _size(menu)
    return {
        f"Is it stable at n = {n:,}?": (
            f"poise.stability_test(algorithm, X, y, n={n}, epsilon={epsilon}, "
            f"delta={number(menu.delta)})"
        ),
        "How likely is a larger change, for every epsilon at once?": (
            f"poise.measure(algorithm, X, y, n={n}).profile()"
        ),
        "Which of several algorithms are stable?": (
            f"poise.compare({{'name': algorithm}}, X, y, n={n}, epsilon={epsilon}, "
            f"delta={number(menu.delta)})"
        ),
        "How does stability depend on n?": (
            f"poise.stability_curve(algorithm, X, y, n=[{n // 4 or 2}, {n // 2 or 2}, {n}], "
            f"epsilon={epsilon})"
        ),
        f"Is the model of exactly these {menu.n_labeled:,} rows stable, at fresh rows?": (
            f"poise.conditional_test(algorithm, X, y, X_fresh, epsilon={epsilon}, "
            f"delta={number(menu.delta)})"
        ),
        f"Can it be made stable at n = {menu.n_labeled:,}, by a theorem?": (
            f"poise.stabilize(algorithm, n={menu.n_labeled}, epsilon=..., "
            f"delta={number(menu.delta)})"
        ),
        "May the algorithm be tested at all?": f"poise.check_algorithm(algorithm, X, y, n={n})",
        "How many rows would another n or delta need?": (
            f"poise.plan(n=..., delta={number(menu.delta)})"
        ),
    }


class CommandParts(NamedTuple):
    """What the commands about some rows have in common.

    Attributes
    ----------
    file : str
        The file, its format and the response.
    algorithm : str
        The algorithm and its parameters.
    fits : str
        Further options of every fit: groups, weights, the method that predicts.
    trial : str
        What a trial removes.
    epsilon : str
        What stands for the allowed change: 0 for labels, which change or do not.
    """

    file: str
    algorithm: str
    fits: str = ""
    trial: str = ""
    epsilon: str = "E"


def as_commands(menu: Menu, parts: CommandParts) -> dict[str, str]:
    """Return questions and the commands that answer them.

    Examples
    --------
    >>> from poise.theory.menu import menu
    >>> commands = as_commands(menu(3000), CommandParts("a.csv", "--algorithm model.py:fit"))
    >>> commands["May the algorithm be tested at all?"]
    'poise check a.csv --algorithm model.py:fit --n 102'
    """
    n, delta, everything = _size(menu), number(menu.delta), menu.n_labeled
    file, algorithm, fits, trial, epsilon = parts
    allowed = f"--epsilon {epsilon} --delta {delta}"
    several, sizes = "--algorithm A --algorithm B", f"--n {n // 4 or 2} --n {n // 2 or 2} --n {n}"
    commands = {
        f"Is it stable at n = {n:,}?": ("test", file, algorithm, fits, trial, f"--n {n}", allowed),
        "How likely is a larger change, for every epsilon at once?": (
            *("profile", file, algorithm, fits, trial),
            f"--n {n}",
        ),
        "Which of several algorithms are stable?": (
            *("compare", file, several, fits, trial),
            *(f"--n {n}", allowed),
        ),
        "How does stability depend on n?": (
            *("curve", file, algorithm, fits, trial),
            *(sizes, f"--epsilon {epsilon}"),
        ),
        # These two are about all rows as they are; the second is about probabilities of classes.
        f"Is the model of exactly these {everything:,} rows stable, at fresh rows?": (
            *("deployed", file, algorithm),
            *("--fresh FILE", allowed),
        ),
        f"Can it be made stable at n = {everything:,}, by a theorem?": (
            *("stabilize", file, algorithm),
            f"--n {everything} --epsilon E --delta {delta}",
        ),
        "May the algorithm be tested at all?": ("check", file, algorithm, fits, f"--n {n}"),
        "How many rows would another n or delta need?": ("plan", f"--n N --delta {delta}"),
    }
    return {q: " ".join(("poise", *filter(None, words))) for q, words in commands.items()}


def _size(menu: Menu) -> int:
    """Return the n to propose: the largest that can certify δ, else the smallest on the menu."""
    if menu.largest is not None:
        return menu.largest.n
    return menu.rows[-1].n if menu.rows else 2
