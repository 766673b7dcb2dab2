"""Draw the README's picture: fits with and without one row, and the changes of a real run.

Run ``python docs/pictures/landing.py``; it writes ``landing.png`` beside this file. Everything in
it is computed: the fits by scikit-learn, the changes and the verdict by poise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.results.plots.frame import COLOURS, LABEL, WORD, ShownFigure, dress, remark
from poise.results.plots.pictures import draw_bars

MODELS = {
    "A decision tree": DecisionTreeRegressor(max_leaf_nodes=4),
    "A smooth fit": make_pipeline(SplineTransformer(4), Ridge(0.5)),
}
SEED, N = 272, 20
GRID = np.linspace(0, 6, 601)[:, None]


def main() -> None:
    """Draw it."""
    figure = ShownFigure((8, 2.6))
    *panels, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.1))
    X, y = some_rows()
    removed, point = where_the_tree_moves(X, y)
    for ax, (name, model) in zip(panels, MODELS.items(), strict=True):
        full, less = two_fits(model, X, y, removed)
        draw_fits(ax, X, y, removed)
        ax.fill_between(GRID[:, 0], full, less, color="#f3d9d2", lw=0)
        ax.plot(GRID, full, color=COLOURS["limit"], lw=1.6, label="trained with it")
        ax.plot(GRID, less, "--", color=COLOURS["large"], lw=1.6, label="trained without it")
        mark_change(ax, GRID[point, 0], full[point], less[point])
        moved = abs(full[point] - less[point])
        ax.set_title(f"{name} moves by {moved:.2f}", **title(COLOURS["ink"]))
    panels[1].set_ylim(panels[0].get_ylim())
    words = panels[0].get_legend_handles_labels()
    figure.legend(*words, loc="outside lower left", ncols=4, fontsize=WORD, frameon=False)
    draw_changes(right)
    figure.savefig(Path(__file__).parent / "landing.png", dpi=200)


def title(colour: str) -> dict[str, Any]:
    """Return how titles are written."""
    return {"loc": "left", "fontsize": LABEL, "fontweight": "bold", "color": colour, "pad": 14}


def some_rows() -> tuple[Any, Any]:
    """Draw rows around a sine."""
    rng = np.random.default_rng(SEED)
    X = np.sort(rng.uniform(0, 6, size=(N, 1)), axis=0)
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=N)


def two_fits(model: Any, X: Any, y: Any, removed: int) -> tuple[Any, Any]:
    """Predict with all rows and without one."""
    kept = np.arange(len(y)) != removed
    full = model.fit(X, y).predict(GRID)
    return full, model.fit(X[kept], y[kept]).predict(GRID)


def where_the_tree_moves(X: Any, y: Any) -> tuple[int, int]:
    """Return the row that moves the tree most, and the middle of the widest piece that moves."""
    tree = MODELS["A decision tree"]
    changes = [np.abs(np.subtract(*two_fits(tree, X, y, row))).round(9) for row in range(len(y))]
    removed = int(np.argmax([change.mean() for change in changes]))
    change = changes[removed]
    pieces = np.split(np.arange(len(change)), np.flatnonzero(np.diff(change)) + 1)
    widest = max(pieces, key=lambda piece: len(piece) * change[piece[0]])
    return removed, int(widest[len(widest) // 2])


def draw_fits(ax: Any, X: Any, y: Any, removed: int) -> None:
    """Draw the rows, and axes without numbers, which would say nothing."""
    kept = np.arange(len(y)) != removed
    ax.plot(X[kept], y[kept], "o", color=COLOURS["seen"], ms=3.5, mew=0)
    ax.plot(
        X[removed], y[removed], "X", color=COLOURS["large"], ms=8, mew=0, label="the row left out"
    )
    ax.set(xticks=[], yticks=[], xlim=(-0.1, 6.1))
    dress(ax)
    ax.spines["left"].set_visible(False)


def mark_change(ax: Any, x: float, full: float, less: float) -> None:
    """Draw the change of the prediction at a new point."""
    ax.axvline(x, color=COLOURS["ink"], lw=0.7, ls=":", zorder=0)
    ends = {"solid_capstyle": "butt", "label": "change at a new point"}
    ax.plot([x, x], [full, less], color=COLOURS["ink"], lw=3.5, **ends)


def draw_changes(ax: Any) -> None:
    """Test the tree on the data of 442 patients, and draw its changes."""
    X, y = load_diabetes(return_X_y=True)
    result = poise.stability_test(DecisionTreeRegressor(), X, y, n=12, epsilon=20, delta=0.2)
    dress(ax)
    draw_bars(ax, result, result.epsilon)
    words = [f"{result.delta_observed:.0%} are larger", f"δ = {result.delta:.0%} allowed"]
    remark(ax, words, COLOURS["large"])
    ax.set_title(f"Tree, 442 patients, n = {result.n}: {result.verdict}", **title(COLOURS["ink"]))


if __name__ == "__main__":
    main()
