"""A result as HTML: a card for notebooks, and a page of cards that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import PoiseError, printable
from poise.numbers import at_most, percent
from poise.results.shown import pictures

if TYPE_CHECKING:
    from jinja2 import Environment

    from poise.results.result import Result
    from poise.results.trials import Trials

# Each has a contrast of 3 at least with white and with the black of dark themes, and of 4.5 with
# white words on it.
VERDICT_COLOURS = {"stable": "#2a7f62", "unstable": "#b23a2e", "inconclusive": "#8a6410"}
_PLAIN = "#64707f"  # beside the colours of verdicts: no verdict
_DPI = 200  # of pictures, which are shown at two thirds of their size


def card(result: Result | Trials, picture: bool = True, *, unfolded: bool = False) -> str:
    """Return a result as an HTML fragment that follows the theme around it and loads nothing.

    Parameters
    ----------
    result : Result or Trials
        What is shown: warnings, the verdict with its sentence, the changes, three numbers; the
        rest opens on a click.
    picture : bool, default True
        Whether to draw the changes; without matplotlib there are words and numbers only.
    unfolded : bool, default False
        Whether the sentences are open from the start.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 40, n=10, algorithm="<mine>")
    >>> "&lt;mine&gt; trained on 10 rows." in card(trials.test(epsilon=0.2, delta=0.1), False)
    True
    """
    shown = _of_trials(result) if _is_measured(result) else _of_result(result)
    drawn = _picture(result) if picture else ""
    html: str = (
        _templates()
        .get_template("card.html")
        .render(shown, picture=drawn, unfolded=unfolded, warnings=result.warnings)
    )
    return html


def report(
    results: Result | Trials | Iterable[Result | Trials] | Mapping[str, Result | Trials],
    path: str | Path,
    *,
    title: str = "Stability report",
    introduction: str = "",
) -> None:
    """Write results to one HTML page, with their pictures, that needs no other file.

    Parameters
    ----------
    results : Result, Trials, or several of them
        In the order in which they are read. The names of a mapping become headlines.
    path : str or Path
        The file; an older one is replaced only when the new one is complete.
    title, introduction : str
        What the page is about; plain text.

    Examples
    --------
    >>> import poise, tempfile
    >>> result = poise.Trials.from_changes([0.1] * 40, n=10).test(epsilon=0.2, delta=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     poise.report(result, f"{folder}/report.html")
    """
    from poise.results.file import replace_file

    replace_file(path, page(results, title=title, introduction=introduction).encode())


def page(
    results: Result | Trials | Iterable[Result | Trials] | Mapping[str, Result | Trials],
    *,
    title: str = "Stability report",
    introduction: str = "",
) -> str:
    """Return what :func:`report` writes."""
    from poise import __version__
    from poise.results.table import table

    named = _named(results)
    judged: list[Any] = [(name, each) for name, each in named if not _is_measured(each)]
    rows = dict(judged)
    overview = table(rows if len(rows) == len(judged) else [each for _, each in judged])
    html: str = (
        _templates()
        .get_template("page.html")
        .render(
            title=title,
            introduction=introduction,
            overview=overview.html() if len(judged) > 1 else "",
            sections=[(name, card(each, unfolded=True)) for name, each in named],
            made_by=f"poise {__version__}{no_pictures()}",
        )
    )
    return html


def no_pictures() -> str:
    """Say why a page has no pictures; "" where it has them."""
    return "" if pictures() else " (without pictures: pip install 'poise[plot]')"


def _named(results: Any) -> list[tuple[str, Result | Trials]]:
    if isinstance(results, Mapping):
        return list(results.items())
    several = results if isinstance(results, Iterable) else [results]
    return [(each.design.title, each) for each in several]


def _is_measured(result: Result | Trials) -> bool:
    return not hasattr(result, "verdict")


def _of_result(result: Any) -> dict[str, Any]:
    """Return what the template shows of a result."""
    from poise.results.text.sentences import larger_changes, limit_of_delta, pvalue, summary

    verdict = result.verdict
    first, *rest = summary(result)[len(result.warnings) :]
    side = "unstable" if verdict == "unstable" else "stable"
    numbers = {
        "larger changes": larger_changes(result),
        "their probability": limit_of_delta(result),
        f"p for “{side}”": pvalue(result, side),
    }
    return {
        "badge": verdict,
        "colour": VERDICT_COLOURS[verdict],
        "headline": first.removeprefix(f"{verdict.upper()}: "),
        "numbers": numbers,
        "sentences": rest,
        "facts": [line.split(": ", 1) for line in result.details().splitlines()],
    }


def _of_trials(trials: Any) -> dict[str, Any]:
    """Return what the template shows of changes that were only measured."""
    from poise.results.text.sentences import measured

    first, *rest = measured(trials)[len(trials.warnings) :]
    numbers = {"trials": f"{trials.n_observed:,}", "changes": f"{trials.changes.size:,}"}
    limit = trials.epsilon_upper(trials.delta)
    if limit is not None:
        numbers[f"at most {percent(trials.delta)} are larger than"] = at_most(limit)
    return {
        "badge": "measured",
        "colour": _PLAIN,
        "headline": first,
        "numbers": numbers,
        "sentences": rest,
        "facts": [],
    }


def _picture(result: Result | Trials) -> str:
    """Return the picture as a data URI; empty where nothing can be drawn."""
    try:
        png: bytes = result.plot(title="").png(_DPI)
    except PoiseError:  # matplotlib is optional; words and numbers are the result
        return ""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
