"""Draw the pictures of the guide, each by the calls that its page shows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binom
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.tree import DecisionTreeRegressor

import poise
from poise import theory

X, y = load_diabetes(return_X_y=True)
VERDICTS = {"stable": "#2a7f62", "inconclusive": "#e3c27d", "unstable": "#b23a2e"}


def first_result() -> None:
    """Show all changes, and the limits for every allowed change."""
    _, axes = plt.subplots(2, figsize=(6.5, 4.6), layout="constrained")
    poise.stability_test(Lasso(), X, y, n=10, epsilon=25, delta=0.2).plot(ax=axes)


def verdicts() -> None:
    """Show how often each verdict comes from 34 trials, against the true probability."""
    true = np.linspace(0, 0.5, 201)
    stable = binom.cdf(theory.critical_count(34, 0.2, 0.05), 34, true)
    unstable = binom.sf(theory.critical_count_unstable(34, 0.2, 0.05) - 1, 34, true)
    shares = [stable, 1 - stable - unstable, unstable]
    _, axis = plt.subplots(figsize=(6.5, 3), layout="constrained")
    axis.stackplot(true, shares, labels=list(VERDICTS), colors=list(VERDICTS.values()))
    axis.axvline(0.2, color="black", linestyle="--", label="δ")
    axis.set(
        xlabel="true probability of a larger change", ylabel="share of data sets",
        xlim=(0, 0.5), ylim=(0, 1),
    )  # fmt: skip
    axis.legend(loc="center right", framealpha=1)


def planned() -> None:
    """Show the power of a plan, below the ceiling for every test."""
    _, axis = plt.subplots(figsize=(6.5, 3), layout="constrained")
    poise.plan(n=100, delta=0.1, delta_star=0.02, power=0.9).plot(ax=axis)


def several() -> None:
    """Show three algorithms on the same trials, and one of them at three sizes."""
    algorithms = {"lasso": Lasso(), "least squares": LinearRegression()}
    algorithms["tree"] = DecisionTreeRegressor()
    _, axes = plt.subplots(1, 2, figsize=(6.5, 2.4), layout="constrained")
    poise.compare(algorithms, X, y, n=12, epsilon=25, delta=0.2).plot(ax=axes[0])
    poise.stability_curve(Lasso(), X, y, n=[5, 10, 20], epsilon=25, delta=0.3).plot(ax=axes[1])


def deployed() -> None:
    """Show what the removal of one of 380 rows does to predictions for 62 new ones."""
    _, axes = plt.subplots(2, figsize=(6.5, 4.6), layout="constrained")
    result = poise.deployed_test(Lasso(), X[:380], y[:380], X[380:], epsilon=3, delta=0.1)
    result.plot(ax=axes)


def covered() -> None:
    """Show jackknife+ intervals around 40 new responses."""
    rows = np.random.default_rng(0).permutation(len(X))[:190]
    model = poise.JackknifeRegressor(Lasso(), confidence_level=0.9).fit(
        X[rows[:150]], y[rows[:150]]
    )
    predictions, intervals = model.predict_interval(X[rows[150:]])
    order = np.argsort(predictions)
    _, axis = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    axis.vlines(range(40), *intervals[order].T, lw=4, alpha=0.4, label="interval")
    axis.plot(y[rows[150:]][order], "k.", label="response")
    axis.set(xlabel="new patients, by their prediction", ylabel="progression")
    axis.legend()


def evidence() -> None:
    """Show how the evidence for "stable" grows with the days, until it decides."""
    rng = np.random.default_rng(1)
    days: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "lasso.record")
        monitor = poise.Monitor(record, Lasso(0.1), n=20, epsilon=0.8, delta=0.1)
        for _ in range(5):
            rows = rng.normal(size=(420, 3))
            responses = rows @ [1.0, 2.0, 3.0] + rng.normal(size=420)
            days.append(monitor.add(rows, responses).e_value)
    _, axis = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    axis.step([0, *range(1, 6)], [1, *days], where="post", color=VERDICTS["stable"])
    axis.axhline(20, color="black", linestyle="--")
    axis.text(0.05, 22, "1/α: stable")
    axis.set(xlabel="days", ylabel="evidence", yscale="log", xlim=(0, 5))


def split() -> None:
    """Show which rows make four trials of n = 10, in their order after shuffling."""
    trials, n = 4, 10
    kinds = [[*["train"] * (n - 1), "leaves"] * trials, ["test"] * trials]
    colors = {"train": "#c8cdd3", "leaves": VERDICTS["unstable"], "test": VERDICTS["stable"]}
    _, axis = plt.subplots(figsize=(6.5, 1.3), layout="constrained")
    gap = trials * n + 1  # between training sets and test rows
    for place, kind in enumerate([*kinds[0], "", *kinds[1]]):
        axis.bar(place, 1, width=0.85, color=colors.get(kind, "white"))
    for k in range(trials):
        axis.text(n * k + (n - 1) / 2, 1.15, f"trial {k}", ha="center")
        axis.text(gap + k, 1.15, k, ha="center")
    axis.legend(
        [plt.Rectangle((0, 0), 1, 1, color=color) for color in colors.values()],
        ["trains", "leaves", "is predicted"],
        ncols=3, loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False,
    )  # fmt: skip
    axis.set(ylim=(0, 1.5))
    axis.set_axis_off()


def random_terms() -> None:
    """Show the changes of a forest, with the same random term for both fits and with two."""
    _, axis = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    forest = RandomForestRegressor(10)
    settings = {"n": 20, "position": "uniform", "points_per_trial": 1}
    for coupling in ("shared", "independent"):
        trials = poise.measure(forest, X, y, coupling=coupling, **settings)
        axis.ecdf(trials.values, label=coupling)
    axis.set(xlabel="change of the prediction", ylabel="share of trials")
    axis.legend(title="coupling")
