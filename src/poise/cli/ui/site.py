"""What every page shares: templates, the folder and its runs, and how errors are shown."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from poise import __version__
from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.result_file import ResultFile
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.run_index import RunIndex, RunLine
from poise.cli.ui.slider_answers import Bands
from poise.cli.ui.started_runs import StartedRuns
from poise.errors import PoiseError
from poise.results.text.duration import duration

__all__ = ["Site", "pieces", "show_error"]

# The bar at the top.
_PAGES = (("/", "Runs"), ("/compare", "Compare"), ("/plan", "Plan"), ("/new", "New run"))
STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Site:
    """The folder that is shown, and what is known about it.

    Attributes
    ----------
    folder : Folder
        The folder.
    index : RunIndex
        Its runs.
    started : StartedRuns
        Runs that were started from here.
    bands : Bands
        Bands that were computed.
    """

    folder: Folder
    index: RunIndex
    started: StartedRuns
    bands: Bands = field(default_factory=Bands)

    @classmethod
    def of(cls, folder: Folder) -> Site:
        """Return the site of a folder."""
        return cls(folder, RunIndex(folder), StartedRuns(folder))

    def line(self, request: Request) -> RunLine:
        """Return the run that an address names."""
        line = self.index.line(request.path_params["key"])
        if line is None:
            raise HTTPException(
                404, "There is no such run in the folder; it may have been removed."
            )
        return line

    def opened(self, line: RunLine) -> ResultFile:
        """Return the content of a run; why it cannot be read, if it cannot."""
        if line.kind == FileKind.UNREAD:
            raise HTTPException(503, "This file is not read yet; try again in a moment.")
        if line.reason:
            raise HTTPException(404, f"{line.file.name} cannot be read: {line.reason}")
        return self.index.opened(line)

    def render(self, template: str, /, **content: Any) -> str:
        """Return a part of a page; everything in it is escaped."""
        return _templates().get_template(template).render(**content)

    def page(self, request: Request, template: str, /, **content: Any) -> Response:
        """Return a page."""
        known: dict[str, Any] = {
            "here": request.url.path,
            "folder": os.fsencode(self.folder.path).decode("utf-8", "replace"),
            "pages": _PAGES,
            "version": __version__,
        }
        return HTMLResponse(self.render(template, **known, **content))


def pieces(figures: Mapping[str, Any] | None = None, /, **parts: str) -> Response:
    """Return parts of a page and figures that replace those of the same name."""
    return JSONResponse({"pieces": parts, "figures": dict(figures or {})})


def show_error(site: Site) -> Callable[[Request, Exception], Response]:
    """Return the handler of errors: a page for people, JSON for a page that asks."""

    def handle(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        said = error.detail if isinstance(error, HTTPException) else f"{type(error).__name__}"
        if isinstance(error, PoiseError):
            status, said = 400, str(error)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"error": said}, status)
        answer = site.page(request, "error.html", said=said)
        answer.status_code = status
        return answer

    return handle


@functools.cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("poise.cli.ui", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"duration": duration, "moment": _moment, "query": urlencode}
    made.globals |= {"asset": _asset}
    return made


def _moment(seconds: float) -> str:
    """Write a time in this machine's time zone."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


@functools.cache
def _asset(name: str) -> str:
    """Return the address of a file that browsers may keep until it changes."""
    if name == "plotly.min.js":
        from plotly import __version__ as made
    else:
        made = str((STATIC / name).stat().st_mtime_ns)
    return f"/static/{name}?{urlencode({'v': made})}"
