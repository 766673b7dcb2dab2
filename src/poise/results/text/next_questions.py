"""Questions that some rows can answer, each with its call or command."""

from __future__ import annotations

from poise.results.text.numbers import number
from poise.theory.menu import Menu

__all__ = ["as_calls", "as_commands"]


def as_calls(menu: Menu) -> dict[str, str]:
    """Return questions and the calls of the library that answer them.

    Examples
    --------
    >>> from poise.theory.menu import menu
    >>> as_calls(menu(3000))["Is it stable at n = 102?"]
    'poise.stability_test(algorithm, X, y, n=102, epsilon=..., delta=0.1)'
    """
    n = _size(menu)
    return {
        f"Is it stable at n = {n:,}?": (
            f"poise.stability_test(algorithm, X, y, n={n}, epsilon=..., delta={number(menu.delta)})"
        ),
        "How likely is a larger change, for every epsilon at once?": (
            f"poise.measure(algorithm, X, y, n={n}).profile()"
        ),
        "Which of several algorithms are stable?": (
            f"poise.compare({{'name': algorithm}}, X, y, n={n}, epsilon=..., "
            f"delta={number(menu.delta)})"
        ),
        "How does stability depend on n?": (
            f"poise.stability_curve(algorithm, X, y, n=[{n // 4 or 2}, {n // 2 or 2}, {n}], "
            "epsilon=...)"
        ),
        f"Is the model of exactly these {menu.n_labeled:,} rows stable, at fresh rows?": (
            f"poise.conditional_test(algorithm, X, y, X_fresh, epsilon=..., "
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


def as_commands(menu: Menu, rows: str, algorithm: str) -> dict[str, str]:
    """Return questions and the commands that answer them.

    Parameters
    ----------
    menu : Menu
        What the rows can answer.
    rows, algorithm : str
        The parts of the command that name the file and the algorithm.

    Examples
    --------
    >>> from poise.theory.menu import menu
    >>> commands = as_commands(menu(3000), "a.csv --target y", "--algorithm model.py:fit")
    >>> commands["May the algorithm be tested at all?"]
    'poise check a.csv --target y --algorithm model.py:fit --n 102'
    """
    n = _size(menu)
    asked = f"{rows} {algorithm} --n {n}"
    delta = number(menu.delta)
    return {
        f"Is it stable at n = {n:,}?": f"poise test {asked} --epsilon E --delta {delta}",
        "How likely is a larger change, for every epsilon at once?": f"poise profile {asked}",
        "Which of several algorithms are stable?": (
            f"poise compare {rows} --algorithm A --algorithm B --n {n} --epsilon E --delta {delta}"
        ),
        "How does stability depend on n?": (
            f"poise curve {rows} {algorithm} --n {n // 4 or 2} --n {n // 2 or 2} --n {n} "
            "--epsilon E"
        ),
        f"Is the model of exactly these {menu.n_labeled:,} rows stable, at fresh rows?": (
            f"poise deployed {rows} {algorithm} --fresh FILE --epsilon E --delta {delta}"
        ),
        "Can it be made stable, by a theorem?": (
            f"poise stabilize {asked} --epsilon E --delta {delta}"
        ),
        "May the algorithm be tested at all?": f"poise check {asked}",
        "How many rows would another n or delta need?": f"poise plan --n N --delta {delta}",
    }


def _size(menu: Menu) -> int:
    """Return the n to propose: the largest that can certify δ, else the smallest on the menu."""
    if menu.largest is not None:
        return menu.largest.n
    return menu.rows[-1].n if menu.rows else 2
