"""Three figures: power against κ, power against δ*, and a trap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise import theory
from poise.results.plots.canvas import new_figure, save_figure, tidy
from poise.simulation.traps import label_trap
from poise.simulation.worlds import zoo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "draw"]

_ALPHA = _DELTA = 0.1


def draw(folder: Path) -> tuple[Path, ...]:
    """Draw all figures into a folder; return their paths."""
    paths = []
    for name, plot in FIGURES.items():
        figure = new_figure(6.4, 4.2)
        axes = figure.add_subplot()
        plot(axes)
        save_figure(figure, folder / name)
        paths.append(folder / name)
    return tuple(paths)


def _power_against_kappa(axes: Axes) -> None:
    """Theorem 1 beside Theorem 2, for δ = α = 0.1."""
    trials = np.arange(0, 61)
    for delta_star, color in ((0.0, "#1b4f7a"), (0.02, "#c7553d"), (0.05, "#6b7280")):
        ceiling = [
            theory.power_bound(10, 10 * m, m, delta=_DELTA, delta_star=delta_star, alpha=_ALPHA)
            for m in trials
        ]
        power = theory.power(trials, _DELTA, delta_star, _ALPHA, randomized=True)
        axes.plot(trials, ceiling, color=color, linestyle="--", linewidth=1)
        axes.plot(trials, power, color=color, label=f"δ* = {delta_star:g}")
    axes.plot([], [], color="#111827", linestyle="--", linewidth=1, label="ceiling (Theorem 2)")
    _finish(axes, "κ (integer)", f"Binomial test, δ = α = {_DELTA:g}")


def _power_against_delta_star(axes: Axes) -> None:
    """How power falls as the algorithm comes closer to the boundary."""
    delta_star = np.linspace(0.0, _DELTA, 101)
    for m, color in ((10, "#6b7280"), (21, "#1b4f7a"), (100, "#c7553d")):
        ceiling = [
            theory.power_bound(10, 10 * m, m, delta=_DELTA, delta_star=d, alpha=_ALPHA)
            for d in delta_star
        ]
        axes.plot(delta_star, ceiling, color=color, linestyle="--", linewidth=1)
        power = theory.power(m, _DELTA, delta_star, _ALPHA, randomized=True)
        axes.plot(delta_star, power, color=color, label=f"κ = {m}")
    axes.plot([], [], color="#111827", linestyle="--", linewidth=1, label="ceiling (Theorem 2)")
    _finish(axes, "true probability of a larger change, δ*", f"Binomial test, δ = α = {_DELTA:g}")


def _trap_at_work(axes: Axes) -> None:
    """As c grows the trap becomes unstable, and the data show the star more often."""
    world = zoo.constant(n=20)
    threshold = label_trap(world, epsilon=0.0, delta=_DELTA).threshold
    chances = np.linspace(threshold / 50, 4 * threshold, 200)
    traps = [label_trap(world, epsilon=0.0, delta=_DELTA, c=c) for c in chances if c > threshold]
    unstable = 1 - (1 - chances) ** 20
    axes.plot(chances, unstable, color="#c7553d", label="instability of the trap")
    for rows, style in ((20, "-"), (100, "--"), (420, ":")):
        hidden = [trap.coincidence_probability(rows) for trap in traps]
        label = f"data do not show the star, {rows} rows"
        axes.plot(chances[-len(traps) :], hidden, color="#1b4f7a", linestyle=style, label=label)
    axes.axhline(_DELTA, color="#6b7280", linewidth=0.8)
    axes.axvline(threshold, color="#6b7280", linewidth=0.8)
    axes.annotate(
        "not stable from here", (threshold, 0.97), xytext=(4, 0), textcoords="offset points"
    )
    _finish(
        axes, "chance c that a row shows the star", "label trap, n = 20, δ = 0.1", "probability"
    )


def _finish(axes: Axes, x: str, title: str, y: str = "power") -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    axes.set_ylim(0, 1.04)
    tidy(axes)
    axes.legend(frameon=False, fontsize=9)


FIGURES = {
    "power-against-kappa.png": _power_against_kappa,
    "power-against-delta-star.png": _power_against_delta_star,
    "the-trap-at-work.png": _trap_at_work,
}
