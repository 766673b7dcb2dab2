"""The page for planning: power with its ceiling, rows needed, and what rows can answer."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from poise.arguments.printed_numbers import at_least, at_most, exactly
from poise.cli.ui.browser_figures import Figure, line_trace, plan_figure
from poise.cli.ui.site import Site, pieces
from poise.errors import ArgumentError
from poise.questions.plan import plan
from poise.results.plan_result import Plan
from poise.results.plots.power import power_lines
from poise.results.text.question_menu_table import menu_headline, menu_meaning, menu_table
from poise.theory.power_bounds import power_bound
from poise.theory.question_menu import Menu, menu

__all__ = ["answer_menu", "answer_plan", "plan_page"]

_WANTED_POWER = 0.9
# Name: symbol, meaning, least and greatest of its slider, what it begins with, whether it counts.
_SLIDERS: dict[str, tuple[str, str, float, float, float, bool]] = {
    "rows": ("N", "labelled rows", 10, 20_000, 3000, True),
    "n": ("n", "training size of the question", 2, 1000, 100, True),
    "delta": ("δ", "allowed probability of a larger change", 0.005, 0.5, 0.1, False),
    "alpha": ("α", "error level", 0.001, 0.25, 0.05, False),
    "delta_star": ("δ*", "true probability of a larger change", 0.0, 0.5, 0.0, False),
}


def plan_page(site: Site, request: Request) -> Response:
    """Show the sliders of a plan."""
    asked = _asked(request.query_params)
    sliders = [
        {
            "name": name,
            "symbol": symbol,
            "meaning": meaning,
            "low": low,
            "high": max(high, asked[name]),
            "value": asked[name],
            "step": 1 if whole else "any",
            "fixed": None,
        }
        for name, (symbol, meaning, low, high, _, whole) in _SLIDERS.items()
    ]
    return site.page(request, "plan.html", sliders=sliders)


def answer_plan(site: Site, request: Request) -> Response:
    """Answer the sliders: the power, its ceiling, and the rows needed."""
    asked = _asked(request.query_params)
    now = _plan_of(asked)
    said = site.render("planned.html", plan=now, sentences=_sentences(now), needed=_needed(asked))
    return pieces({"power": _figure(now)}, planned=said)


def answer_menu(site: Site, request: Request) -> Response:
    """Answer the sliders with the menu of what so many rows can answer, which takes longer."""
    asked = _asked(request.query_params)
    found = _menu(asked["rows"], asked["delta"], asked["alpha"])
    content = {
        "headline": menu_headline(found),
        "table": menu_table(found),
        "meaning": menu_meaning(found).splitlines(),
        "largest": "" if found.largest is None else f"{found.largest.n:,}",
    }
    return pieces(menu=site.render("menu.html", **content))


@functools.lru_cache(maxsize=64)
def _menu(rows: int, delta: float, alpha: float) -> Menu:
    """Return the menu; it stays while n or δ* moves."""
    return menu(rows, delta=delta, alpha=alpha)


def _asked(given: Mapping[str, str]) -> dict[str, Any]:
    """Read the sliders; what is not given is what they begin with."""
    asked: dict[str, Any] = {}
    for name, (*_, usual, whole) in _SLIDERS.items():
        text = given.get(name, usual)
        try:
            asked[name] = int(float(text)) if whole else float(text)
        except (ValueError, OverflowError):
            raise ArgumentError(f"{name} must be a number, got {text!r}") from None
    return asked


def _plan_of(asked: dict[str, Any]) -> Plan:
    return plan(
        n_labeled=asked["rows"],
        n=asked["n"],
        delta=asked["delta"],
        alpha=asked["alpha"],
        delta_star=asked["delta_star"],
    )


def _needed(asked: dict[str, Any]) -> str:
    """Say how many rows the question needs."""
    question = {name: asked[name] for name in ("n", "delta", "alpha", "delta_star")}
    try:
        found = plan(**question, power=_WANTED_POWER)
    except ArgumentError as error:
        return f"No number of rows is enough: {error}."
    return (
        f"{found.n_labeled:,} labelled rows ({found.n_trials:,} trials) give power "
        f"{exactly(_WANTED_POWER)} at n = {found.n:,}."
    )


def _sentences(now: Plan) -> list[str]:
    ceiling = "" if now.ceiling is None else f", and no valid test more than {at_most(now.ceiling)}"
    first = (
        f"{now.n_labeled:,} rows hold {now.n_trials:,} trials at n = {now.n:,}. If a larger change "
        f"has probability {exactly(now.delta_star)}, the paper's test declares stable with "
        f"probability {at_least(now.achieved_power)}{ceiling}."
    )
    return [first, *([now.note] if now.note else [])]


def _figure(now: Plan) -> Figure:
    lines = [
        line_trace(line[:, 0], line[:, 1], name, "@accent", at_least, dash)
        for (name, line), dash in zip(
            power_lines(now).items(), ("solid", "dash", "dot"), strict=False
        )
    ]
    if now.ceiling is not None:
        truth = np.linspace(0, now.delta, 101)
        highest = power_bound(
            now.n, now.n_labeled, delta=now.delta, delta_star=truth, alpha=now.level
        )
        name = "ceiling of all valid tests"
        lines.append(line_trace(truth, np.asarray(highest), name, "@large", at_most))
    return plan_figure(lines, now)
