"""The list of runs: searched, sorted and live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from poise.cli.ui.run_index import RunLine
from poise.cli.ui.site import Site

__all__ = ["rows_of_runs", "runs_page"]

_Key = Callable[[RunLine], Any]

# The columns by which the list can be sorted, with their headings.
COLUMNS: dict[str, tuple[str, _Key]] = {
    "algorithm": ("Algorithm", lambda line: line.title.lower()),
    "data": ("Data", lambda line: line.data.lower()),
    "n": ("n", lambda line: line.n or 0),
    "progress": ("Trials", lambda line: line.done / line.planned if line.planned else 2.0),
    "verdict": ("Verdict", lambda line: line.verdict),
    "file": ("File", lambda line: line.file.name.lower()),
    "changed": ("Changed", lambda line: line.file.changed),
}
_NEWEST_FIRST = "-changed"


def runs_page(site: Site, request: Request) -> Response:
    """Show all runs, the newest first."""
    return site.page(request, "runs.html", **_chosen(site, request))


def rows_of_runs(site: Site, request: Request) -> Response:
    """Return the table alone, for a page that is open."""
    return HTMLResponse(site.render("rows.html", **_chosen(site, request)))


def _chosen(site: Site, request: Request) -> dict[str, Any]:
    wanted = request.query_params.get("q", "")
    order = request.query_params.get("sort", _NEWEST_FIRST)
    column = order.removeprefix("-")
    if column not in COLUMNS:
        order, column = _NEWEST_FIRST, "changed"
    everything = site.index.lines()
    found = [line for line in everything if _matches(line, wanted)]
    found.sort(key=COLUMNS[column][1], reverse=order.startswith("-"))
    return {
        "lines": found,
        "total": len(everything),
        "q": wanted,
        "order": order,
        "headings": [(name, heading) for name, (heading, _) in COLUMNS.items()],
    }


def _matches(line: RunLine, wanted: str) -> bool:
    """Tell whether every word of a search is in a line."""
    return all(word in line.searched for word in wanted.lower().split())
