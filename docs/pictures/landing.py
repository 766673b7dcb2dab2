"""The picture of the landing page: two algorithms, each with all rows and without one of them."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor


class Colours(NamedTuple):
    """What is drawn in which colour."""

    ink: str
    row: str
    full: str
    less: str
    gap: str


MODELS = {
    "a decision tree: it moves": DecisionTreeRegressor(max_leaf_nodes=5),
    "a penalised spline: it stays": make_pipeline(SplineTransformer(4), Ridge(0.5)),
}
LIGHT = Colours("#1f2937", "#9ca3af", "#1f4e79", "#c8553d", "#f3d3cb")
DARK = Colours("#e5e7eb", "#6b7280", "#8fc1ee", "#ff9b85", "#5b3a33")


def light() -> None:
    """Draw it for a light page."""
    _draw(LIGHT)


def dark() -> None:
    """Draw it for a dark page."""
    _draw(DARK)


def _draw(colours: Colours) -> None:
    rng = np.random.default_rng(14)
    X = np.sort(rng.uniform(0, 6, size=(26, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.45 * rng.normal(size=26)
    grid = np.linspace(0, 6, 500).reshape(-1, 1)
    removed = _most_influential(X, y, grid)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.3), layout="constrained", sharey=True)
    figure.patch.set_alpha(0)
    for ax, (name, model) in zip(axes, MODELS.items(), strict=True):
        _panel(ax, (X, y, removed), grid, model, colours)
        ax.set_title(name, loc="left", color=colours.ink, fontsize=12)
    axes[0].legend(frameon=False, labelcolor=colours.ink, fontsize=10, loc="lower left")


def _panel(ax, rows, grid, model, colours) -> None:
    X, y, removed = rows
    kept = np.arange(len(y)) != removed
    full = model.fit(X, y).predict(grid)
    less = model.fit(X[kept], y[kept]).predict(grid)
    ax.fill_between(grid[:, 0], full, less, color=colours.gap)
    ax.plot(X[kept], y[kept], "o", color=colours.row, markersize=4)
    ax.plot(
        X[removed],
        y[removed],
        "X",
        color=colours.less,
        markersize=10,
        label="the row that is removed",
    )
    ax.plot(grid, full, color=colours.full, linewidth=2, label="predictions with it")
    ax.plot(grid, less, "--", color=colours.less, linewidth=2, label="predictions without it")
    ax.set_axis_off()
    ax.patch.set_alpha(0)


def _most_influential(X, y, grid) -> int:
    tree = next(iter(MODELS.values()))
    full = tree.fit(X, y).predict(grid)

    def moved(row: int) -> float:
        kept = np.arange(len(y)) != row
        return float(np.mean(np.abs(full - tree.fit(X[kept], y[kept]).predict(grid))))

    return max(range(len(y)), key=moved)
