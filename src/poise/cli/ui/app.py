"""The addresses of the server, and the function that answers each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from poise.cli.ui import compare_page, new_run_page, plan_page, run_page, runs_page
from poise.cli.ui.live import events
from poise.cli.ui.security import Access, Guard
from poise.cli.ui.site import STATIC, Site, show_error
from poise.errors import PoiseError

__all__ = ["make_app"]

_ASSETS = ("ui.css", "ui.js", "plotly.css", "icon.svg")
_A_YEAR = "public, max-age=31536000, immutable"


def make_app(site: Site, access: Access, closing: Callable[[], bool]) -> Guard:
    """Return the application that shows a folder.

    Parameters
    ----------
    site : Site
        The folder.
    access : Access
        What a request must have.
    closing : callable
        Tells whether the server is ending, so that open pages do not keep it alive.
    """

    def at(path: str, answer: Callable[..., Any], method: str = "GET") -> Route:
        return Route(path, functools.partial(answer, site), methods=[method])

    def live(request: Request) -> Response:
        return events(request, site.index, closing)

    routes = [
        at("/", runs_page.runs_page),
        at("/rows", runs_page.rows_of_runs),
        at("/run/{key}", run_page.run_page),
        at("/run/{key}/judge", run_page.answer_question),
        at("/run/{key}/band", run_page.answer_band),
        at("/run/{key}/as.{form:str}", run_page.download),
        at("/compare", compare_page.compare_page),
        at("/compare/judge", compare_page.answer_compared),
        at("/compare/band", compare_page.answer_profiles),
        at("/plan", plan_page.plan_page),
        at("/plan/answer", plan_page.answer_plan),
        at("/plan/menu", plan_page.answer_menu),
        at("/new", new_run_page.new_run_page),
        at("/new/{what}", new_run_page.choices),
        at("/new/preflight", new_run_page.preflight, "POST"),
        at("/new/start", new_run_page.start, "POST"),
        at("/started/{journal}", new_run_page.started),
        at("/run/{key}/stop", new_run_page.stop, "POST"),
        at("/run/{key}/resume", new_run_page.resume, "POST"),
        Route("/events", live),
        Route("/static/{name}", _static),
    ]
    handlers: Any = dict.fromkeys((HTTPException, PoiseError, Exception), show_error(site))
    # Around everything: also the page that tells of a defect has the headers.
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


def _static(request: Request) -> Response:
    """Send a file that browsers may keep; its address changes when it does."""
    name = request.path_params["name"]
    if name == "plotly.min.js":
        import plotly

        path = Path(plotly.__file__).parent / "package_data" / name
    elif name in _ASSETS:
        path = STATIC / name
    else:
        raise HTTPException(404, "There is no such file.")
    return FileResponse(path, headers={"Cache-Control": _A_YEAR})
