"""Figures for the browser: data and layout for plotly.js, computed here.

A colour that begins with @ names a variable of the style sheet, so that pictures follow a light
or dark page and print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import at_least, at_most, confidence, exactly, number
from poise.results.curve_result import StabilityCurve
from poise.results.plan_result import Plan
from poise.results.plots.changes import Histogram
from poise.results.plots.profile import Steps
from poise.results.profile import Profile
from poise.results.trials import Trials

__all__ = [
    "Figure",
    "changes_figure",
    "curve_figure",
    "line_trace",
    "plan_figure",
    "profile_figure",
    "profiles_figure",
]

Figure = dict[str, Any]

_MOST_STEPS = 1_500  # more corners than that cannot be seen, and are slow to draw
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_VERDICTS = {"stable": "@stable", "unstable": "@unstable"}


def changes_figure(trials: Trials, epsilon: float, span: float) -> Figure:
    """Draw how large the changes were, those larger than ε apart."""
    histogram = Histogram.of(trials, epsilon, span)
    middles = (histogram.edges[:-1] + histogram.edges[1:]) / 2
    colours = np.where(histogram.large, "@large", "@small").tolist()
    bars = {
        "type": "bar",
        "x": middles.tolist(),
        "y": histogram.counts.tolist(),
        "width": np.diff(histogram.edges).tolist(),
        "marker": {"color": colours, "line": {"width": 1, "color": "@paper"}},
        "hovertemplate": "%{y} changes near %{x:.4g}<extra></extra>",
    }
    what = "trials" if trials.changes.ndim == 1 else "changes"
    notes = {"beyond the axis": histogram.n_beyond, "failed": histogram.n_failed}
    left_out = ", ".join(f"{count:,} {name}" for name, count in notes.items() if count)
    layout = _layout("change of the prediction", f"number of {what}")
    layout["xaxis"]["range"] = [float(histogram.edges[0]), float(histogram.edges[-1])]
    layout["shapes"] = [_upright(epsilon)]
    layout["annotations"] = [_above(epsilon, "ε")] + ([_corner(left_out)] if left_out else [])
    return {"data": [bars], "layout": layout}


def profile_figure(
    profile: Profile, question: dict[str, float], limit: float, verdict: str, span: float
) -> Figure:
    """Draw the band for every ε, the observed share, and the limit for this ε alone."""
    steps = Steps.of(profile, span)
    shown = _thinned(steps.epsilon, span)
    epsilon, delta = question["epsilon"], question["delta"]
    name = "limit for every ε at once" if profile.simultaneous else "limit for one ε"
    lines = [
        _steps(steps.epsilon[shown], steps.observed[shown], "observed share", "@soft", number),
        _steps(steps.epsilon[shown], steps.limit[shown], name, "@accent", at_most)
        | {"fill": "tonexty"},
        {
            "type": "scatter",
            "mode": "markers",
            "x": [epsilon],
            "y": [limit],
            "name": "limit for this ε alone",
            "marker": {"size": 10, "color": _VERDICTS.get(verdict, "@open")},
            "hovertemplate": f"δ̂ = {at_most(limit)} at ε = {exactly(epsilon)}<extra></extra>",
        },
    ]
    layout = _layout("allowed change ε", "probability of<br>a larger change")
    layout["xaxis"]["range"] = [0, span]
    layout["yaxis"]["range"] = [0, 1.03]
    layout["shapes"] = [_upright(epsilon), _level(delta)]
    layout["annotations"] = [_above(epsilon, "ε"), _beside(delta, "δ")]
    return {"data": lines, "layout": layout}


def profiles_figure(profiles: dict[str, Profile], epsilon: float, span: float) -> Figure:
    """Draw several bands over each other; dashes tell them apart without colours."""
    lines = []
    for number_, (name, profile) in enumerate(profiles.items()):
        steps = Steps.of(profile, span)
        shown = _thinned(steps.epsilon, span)
        colour = f"@series{number_ % 6 + 1}"
        line = _steps(steps.epsilon[shown], steps.limit[shown], name, colour, at_most)
        line["line"]["dash"] = _DASHES[number_ % len(_DASHES)]
        lines.append(line)
    layout = _layout("allowed change ε", "limit for its probability")
    layout["xaxis"]["range"] = [0, span]
    layout["yaxis"]["range"] = [0, 1.03]
    layout["shapes"] = [_upright(epsilon)]
    layout["annotations"] = [_above(epsilon, "ε")]
    return {"data": lines, "layout": layout}


def curve_figure(curve: StabilityCurve) -> Figure:
    """Draw the certified limits for the probability of a larger change against n."""
    certified = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(curve.n),
        "y": list(curve.delta_hat or ()),
        "name": f"limit, all sizes at once (confidence {confidence(curve.alpha)})",
        "line": {"color": "@accent", "width": 2},
        "text": [at_most(limit) for limit in curve.delta_hat or ()],
        "hovertemplate": "n = %{x}: at most %{text}<extra></extra>",
    }
    seen = certified | {
        "y": list(curve.observed_delta or ()),
        "name": "observed share",
        "line": {"color": "@soft", "width": 1.5, "dash": "dot"},
        "text": [number(share) for share in curve.observed_delta or ()],
        "hovertemplate": "n = %{x}: %{text} observed<extra></extra>",
    }
    layout = _layout(
        "training size n", f"probability of a<br>change beyond {exactly(curve.epsilon)}"
    )
    layout["xaxis"] |= {"type": "log", "tickvals": list(curve.n)}
    layout["yaxis"]["range"] = [0, 1.03]
    layout["shapes"] = [_level(curve.delta or 0.0)]
    layout["annotations"] = [_beside(curve.delta or 0.0, f"δ = {exactly(curve.delta)}")]
    return {"data": [certified, seen], "layout": layout}


def plan_figure(lines: list[dict[str, Any]], plan: Plan) -> Figure:
    """Draw the power of a planned test against the true probability of a larger change."""
    layout = _layout("true probability δ* of a larger change", "probability of “stable”")
    layout["xaxis"]["range"] = [0, 1.5 * plan.delta]
    layout["yaxis"]["range"] = [0, 1.03]
    at = {"type": "line", "x0": plan.delta, "x1": plan.delta, "y0": 0, "y1": 1, "yref": "paper"}
    shown = {"type": "scatter", "mode": "markers", "x": [plan.delta_star], "showlegend": False}
    shown |= {"y": [plan.achieved_power], "marker": {"size": 10, "color": "@ink"}}
    reached = f"power {at_least(plan.achieved_power)} at δ* = {exactly(plan.delta_star)}"
    shown["hovertemplate"] = f"{reached}<extra></extra>"
    layout["shapes"] = [at | {"line": {"color": "@ink", "width": 2, "dash": "dot"}}]
    layout["annotations"] = [_above(plan.delta, "δ"), _beside(plan.level, "α")]
    layout["shapes"].append(_level(plan.level))
    return {"data": [*lines, shown], "layout": layout}


def line_trace(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    name: str,
    colour: str,
    written: Callable[[float], str],
    dash: str = "solid",
) -> dict[str, Any]:
    """Return a line through points; ``written`` says how to write the numbers of a point.

    The lines fall from left to right. So where both numbers of a point of an upper limit are
    rounded up, or both of a lower limit down, the text beside the point is true.
    """
    points = zip(np.asarray(x).tolist(), np.asarray(y).tolist(), strict=True)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.asarray(x).tolist(),
        "y": np.asarray(y).tolist(),
        "name": name,
        "line": {"color": colour, "width": 2, "dash": dash},
        "text": [f"{written(b)} at {written(a)}" for a, b in points],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _steps(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    name: str,
    colour: str,
    written: Callable[[float], str],
) -> dict[str, Any]:
    trace = line_trace(x, y, name, colour, written)
    trace["line"]["shape"] = "hv"
    return trace | {"fill": "none", "fillcolor": "@band"}


def _thinned(epsilon: NDArray[np.float64], span: float) -> NDArray[np.int64]:
    """Return which corners to draw: fewer of them show a limit too large, never too small."""
    inside = np.flatnonzero(epsilon <= span)
    last = min(len(epsilon) - 1, (int(inside[-1]) if len(inside) else 0) + 1)
    return np.unique(np.linspace(0, last, min(last + 1, _MOST_STEPS)).astype(np.int64))


def _layout(x: str, y: str) -> dict[str, Any]:
    axis = {
        "gridcolor": "@line",
        "zerolinecolor": "@line",
        "linecolor": "@line",
        "automargin": True,
        "fixedrange": True,
    }
    return {
        "xaxis": axis | {"title": {"text": x}},
        "yaxis": axis | {"title": {"text": y}},
        "legend": {"orientation": "h", "x": 0, "y": 1.1, "yanchor": "bottom"},
        "margin": {"l": 48, "r": 16, "t": 28, "b": 48},
        "font": {"color": "@ink", "size": 13, "family": "@sans"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"bgcolor": "@paper", "font": {"color": "@ink"}},
        "dragmode": False,
        "bargap": 0,
    }


def _upright(epsilon: float) -> dict[str, Any]:
    line = {"color": "@ink", "width": 2, "dash": "dash"}
    place = {"x0": epsilon, "x1": epsilon, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", "name": "epsilon", "line": line, **place}


def _level(delta: float) -> dict[str, Any]:
    line = {"color": "@ink", "width": 2, "dash": "dot"}
    place = {"x0": 0, "x1": 1, "xref": "paper", "y0": delta, "y1": delta}
    return {"type": "line", "name": "delta", "line": line, **place}


def _above(epsilon: float, text: str) -> dict[str, Any]:
    place = {"x": epsilon, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    return {"text": text, **place}


def _beside(delta: float, text: str) -> dict[str, Any]:
    place = {"x": 1, "xref": "paper", "xanchor": "right", "y": delta, "yanchor": "bottom"}
    return {"text": text, "showarrow": False, **place}


def _corner(text: str) -> dict[str, Any]:
    place = {"x": 1, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "right"}
    return {"text": text, "showarrow": False, "yanchor": "top", "font": {"color": "@large"}} | place
