"""Several results as one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poise.errors import ArgumentError
from poise.numbers import exactly, level
from poise.results.result import Result
from poise.results.text.details import TextTable
from poise.results.text.sentences import larger_changes, limit_of_delta, pvalue

COLUMNS = ("algorithm", "n", "trials", "ε", "δ", "larger changes", "p", "P(larger)", "verdict")


def table(results: Result | Iterable[Result] | Mapping[str, Result]) -> TextTable:
    """Put results into a table with nine columns, for a terminal, LaTeX, Markdown or HTML.

    Each p-value is that of the verdict, and of "stable" where it is inconclusive; each limit is an
    upper one, or a lower one beside "unstable", for the probability of a larger change.

    Parameters
    ----------
    results : Result, iterable of Result or mapping
        The names of a mapping take the place of the algorithms' own.

    Returns
    -------
    TextTable
        With methods ``text()``, ``latex()``, ``markdown()`` and ``html()``.

    Examples
    --------
    >>> from poise.results.trials import Trials
    >>> trials = Trials.from_changes([0.1] * 40, n=10, algorithm="mine")
    >>> print(table(trials.test(epsilon=0.2, delta=0.1)))
    algorithm  n   trials  ε    δ    larger changes  p        P(larger)        verdict
    mine       10  40      0.2  0.1  0 of 40         0.01479  at most 0.07216  stable
    Each verdict, and each limit, is wrong with probability at most 0.05.
    """
    named: list[tuple[str, Result]]
    if isinstance(results, Mapping):
        named = list(results.items())
    else:
        found = [results] if isinstance(results, Result) else list(results)
        named = [(each.design.title, each) for each in found]
    for name, each in named:
        if not isinstance(each, Result):
            raise ArgumentError(
                f"must hold results: {name} has no verdict",
                argument="results",
                remedy="trials.test(epsilon, delta) gives one",
            )
    rows = [_row(name, each) for name, each in named]
    return TextTable(COLUMNS, rows, _caption(named))


def _row(name: str, result: Result) -> tuple[str, ...]:
    return (
        name,
        f"{result.n:,}",
        f"{result.n_observed:,}",
        "" if result.epsilon is None else exactly(result.epsilon),
        exactly(result.delta),
        larger_changes(result),
        pvalue(result, result.verdict),
        limit_of_delta(result),
        result.verdict,
    )


def _caption(named: list[tuple[str, Result]]) -> str:
    levels = sorted({each.alpha for _, each in named if each.question.family is None})
    sure = [
        "Each verdict, and each limit, is wrong with probability at most "
        f"{', '.join(map(level, levels))}."
    ]
    shared = {(each.alpha, each.question.level) for _, each in named if each.question.family}
    joint = [
        f'Any wrong "stable" of a comparison has probability at most {level(alpha)}, and so has '
        f'any wrong "unstable" (p is adjusted by Holm\'s method); each limit is wrong with '
        f"probability at most {level(limit)}."
        for alpha, limit in sorted(shared)
    ]
    warned = [
        f" Warning about {name}: {text.removesuffix('.')}."
        for name, each in named
        for text in each.warnings
    ]
    return " ".join([*(sure if levels else []), *joint]) + "".join(warned)
