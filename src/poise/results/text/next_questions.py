"""Questions that some rows can answer, each with its call or command."""

from __future__ import annotations

from typing import NamedTuple

from poise.arguments.printed_numbers import exactly
from poise.theory.question_menu import Menu

__all__ = ["CommandParts", "as_calls", "as_commands"]


def as_calls(menu: Menu, epsilon: str = "...") -> dict[str, str]:
    """Return questions and the calls of the library that answer them.

    ``epsilon`` is what stands for the allowed change: 0 for labels, which change or do not.

    Examples
    --------
    >>> from poise.theory.question_menu import menu
    >>> as_calls(menu(3000))["Is it stable at n = 102?"]
    'poise.stability_test(algorithm, X, y, n=102, epsilon=..., delta=0.1)'
    """
    n, delta, rows = _size(menu), exactly(menu.delta), "algorithm, X, y"
    allowed = f"epsilon={epsilon}, delta={delta}"
    calls = [
        f"stability_test({rows}, n={n}, {allowed})",
        f"measure({rows}, n={n}).profile()",
        f"compare({{'name': algorithm}}, X, y, n={n}, {allowed})",
        f"stability_curve({rows}, n={_sizes(n)}, epsilon={epsilon})",
        f"conditional_test({rows}, X_fresh, {allowed})",
        f"stabilize(algorithm, n={menu.n_labeled}, epsilon=..., delta={delta})",
        f"check_algorithm({rows}, n={n})",
        f"plan(n=..., delta={delta})",
    ]
    return _by_question(menu, [f"poise.{call}" for call in calls])


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
    >>> from poise.theory.question_menu import menu
    >>> commands = as_commands(menu(3000), CommandParts("a.csv", "--algorithm model.py:fit"))
    >>> commands["May the algorithm be tested at all?"]
    'poise check a.csv --algorithm model.py:fit --n 102'
    """
    n, delta, everything = _size(menu), exactly(menu.delta), menu.n_labeled
    file, algorithm, fits, trial, epsilon = parts
    allowed = f"--epsilon {epsilon} --delta {delta}"
    sizes = " ".join(f"--n {size}" for size in _sizes(n))
    commands = [
        ("test", file, algorithm, fits, trial, f"--n {n}", allowed),
        ("profile", file, algorithm, fits, trial, f"--n {n}"),
        ("compare", file, "--algorithm A --algorithm B", fits, trial, f"--n {n}", allowed),
        ("curve", file, algorithm, fits, trial, sizes, f"--epsilon {epsilon}"),
        # These two are about all rows as they are; the second is about probabilities of classes.
        ("deployed", file, algorithm, "--fresh FILE", allowed),
        ("stabilize", file, algorithm, f"--n {everything} --epsilon E --delta {delta}"),
        ("check", file, algorithm, fits, f"--n {n}"),
        ("plan", f"--n N --delta {delta}"),
    ]
    return _by_question(menu, [" ".join(("poise", *filter(None, words))) for words in commands])


def _by_question(menu: Menu, answers: list[str]) -> dict[str, str]:
    """Put each call or command under the question that it answers."""
    questions = [
        f"Is it stable at n = {_size(menu):,}?",
        "How likely is a larger change, for every epsilon at once?",
        "Which of several algorithms are stable?",
        "How does stability depend on n?",
        f"Is the model of exactly these {menu.n_labeled:,} rows stable, at fresh rows?",
        f"Can it be made stable at n = {menu.n_labeled:,}, by a theorem?",
        "May the algorithm be tested at all?",
        "How many rows would another n or delta need?",
    ]
    return dict(zip(questions, answers, strict=True))


def _sizes(n: int) -> list[int]:
    """Return training sizes for a curve that ends at n."""
    return [n // 4 or 2, n // 2 or 2, n]


def _size(menu: Menu) -> int:
    """Return the n to propose: the largest that can certify δ, else the smallest on the menu."""
    if menu.largest is not None:
        return menu.largest.n
    return menu.rows[-1].n if menu.rows else 2
