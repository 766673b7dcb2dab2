"""Width and coverage of intervals: poise beside MAPIE's jackknife+, on the same rows.

    python benchmarks/intervals.py [--repeats 40]

Each repeat draws 40 training rows and 200 new rows, and aims at 90 percent. "poise, certified" is
the jackknife widened by ε, as after a certificate for (ε, δ) = (1, 0.005); it is shown whether or
not the algorithm deserves one. With d = n least squares does not.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.theory import residual_quantile

N, NEW, LEVEL, EPSILON = 40, 200, 0.9, 1.0
CASES = {
    "ridge, d = 3": (Ridge(), 3, "normal"),
    "ridge, d = 3, heavy tails": (Ridge(), 3, "cauchy"),
    "5 neighbours, d = 3": (KNeighborsRegressor(5), 3, "normal"),
    "least squares, d = n": (LinearRegression(fit_intercept=False), N, "normal"),
}


def rows(d: int, noise: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N + NEW, d))
    draw = rng.standard_cauchy if noise == "cauchy" else rng.standard_normal
    return X, X.sum(axis=1) + draw(N + NEW)


def intervals(estimator, X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    model = poise.JackknifeRegressor(estimator, level=LEVEL).fit(X[:N], y[:N])
    centre, plus = model.predict_interval(X[N:])
    half = residual_quantile(model.residuals_, 0.1)
    theirs = CrossConformalRegressor(estimator, confidence_level=LEVEL, method="plus", cv=-1)
    ends = theirs.fit_conformalize(X[:N], y[:N]).predict_interval(X[N:])[1][:, :, 0]
    bare = np.stack([centre - half, centre + half], axis=1)
    widened = bare + EPSILON * np.array([-1.0, 1.0])
    return {"MAPIE": ends, "poise, plus": plus, "bare jackknife": bare, "poise, certified": widened}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=40)
    repeats = parser.parse_args().repeats
    for name, (estimator, d, noise) in CASES.items():
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(repeats):
            X, y = rows(d, noise, seed)
            for kind, ends in intervals(estimator, X, y).items():
                inside = (ends[:, 0] <= y[N:]) & (y[N:] <= ends[:, 1])
                width = float(np.median(ends[:, 1] - ends[:, 0]))
                found.setdefault(kind, []).append((float(inside.mean()), width))
        for kind, pairs in found.items():
            coverage, width = np.mean([c for c, _ in pairs]), np.median([w for _, w in pairs])
            print(f"{name:28} {kind:18} coverage {coverage:.3f}  median width {width:.2f}")


if __name__ == "__main__":
    main()
