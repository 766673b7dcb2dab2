"""A result as HTML: a card for notebooks, and a page of cards that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import PoiseError, printable
from poise.numbers import at_most, percent
from poise.results.plots import can_draw
from poise.results.trials import Trials

if TYPE_CHECKING:
    from jinja2 import Environment

    from poise.results.result import Result

# Each has a contrast of 3 at least with white and with the black of dark themes, and of 4.5 with
# white words on it.
VERDICT_COLOURS = {"stable": "#2a7f62", "unstable": "#b23a2e", "inconclusive": "#8a6410"}
_PLAIN = "#64707f"  # beside the colours of verdicts: no verdict
_DPI = 200  # of pictures, which are shown at two thirds of their size


def card(result: Result | Trials, picture: bool = True, *, unfolded: bool = False) -> str:
    """Return a result as an HTML fragment that follows the theme around it and loads nothing.

    It shows warnings, the verdict with its sentence, the changes and three numbers; the rest opens
    on a click, and the sentences from the start where they are ``unfolded``.

    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 40, n=10, algorithm="<mine>")
    >>> "&lt;mine&gt; trained on 10 rows." in card(trials.test(epsilon=0.2, delta=0.1), False)
    True
    """
    from poise.results.sentences import measured, summary

    lines = measured(result) if isinstance(result, Trials) else summary(result)
    said = lines[len(result.warnings) :]
    shown = _of_trials(result) if isinstance(result, Trials) else _of_result(result)
    shown["headline"] = said[0].removeprefix(f"{shown['badge'].upper()}: ")
    shown["picture"] = _picture(result) if picture else ""
    more = {"sentences": said[1:], "warnings": result.warnings, "unfolded": unfolded}
    return _filled("card.html", **shown, **more)


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


def page(results: Any, *, title: str = "Stability report", introduction: str = "") -> str:
    """Return what :func:`report` writes."""
    from poise import __version__
    from poise.results.tables import by_name, table_of

    named = by_name(results)
    judged = [(name, each) for name, each in named if not isinstance(each, Trials)]
    return _filled(
        "page.html",
        title=title,
        introduction=introduction,
        overview=table_of(judged).html() if len(judged) > 1 else "",
        sections=[(name, card(each, unfolded=True)) for name, each in named],
        made_by=f"poise {__version__}{no_pictures()}",
    )


def no_pictures() -> str:
    """Say why a page has no pictures; "" where it has them."""
    return "" if can_draw() else " (without pictures: pip install 'poise[plot]')"


def _of_result(result: Result) -> dict[str, Any]:
    """Return what only the card of a result shows."""
    from poise.results.tables import cells, facts

    found, verdict = cells("", result), result.verdict
    side = "unstable" if verdict == "unstable" else "stable"
    numbers = {"larger changes": found["larger changes"], "their probability": found["P(larger)"]}
    numbers[f"p for “{side}”"] = found["p"]
    look = {"badge": verdict, "colour": VERDICT_COLOURS[verdict]}
    return look | {"numbers": numbers, "facts": facts(result)}


def _of_trials(trials: Trials) -> dict[str, Any]:
    """Return what only the card of changes that were measured shows."""
    numbers = {"trials": f"{trials.n_observed:,}", "changes": f"{trials.changes.size:,}"}
    limit = trials.epsilon_upper(trials.delta, trials.design.level)
    if limit is not None:
        numbers[f"at most {percent(trials.delta)} are larger than"] = at_most(limit)
    return {"badge": "measured", "colour": _PLAIN, "numbers": numbers, "facts": {}}


def _picture(result: Result | Trials) -> str:
    """Return the picture as a data URI; empty where nothing can be drawn."""
    try:
        png: bytes = result.plot(title=False).png(_DPI)
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


def _filled(name: str, **shown: Any) -> str:
    return str(_templates().get_template(name).render(shown))
