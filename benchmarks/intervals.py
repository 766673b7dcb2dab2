"""Width and coverage of intervals: poise beside MAPIE's jackknife+, on the same rows.

    python benchmarks/intervals.py [--repeats 40]

Each repeat draws 40 training rows and 200 new rows, and aims at 90 percent. "poise, certify" is
what `poise intervals --certify --method jackknife` does: other rows test whether the algorithm is
(ε, 0.005)-stable at 40 rows. If that is granted, the jackknife is widened by ε; if not,
jackknife+ is used. The test is run once for each case, since its rows are not those of the
repeats. The bare jackknife has no guarantee; with nearly as many columns as rows it shows why.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.theory import residual_quantile

N, NEW, LEVEL, DELTA = 40, 200, 0.9, 0.005
TESTED = 26_000  # 600 trials or more: as many as a certificate for δ = 0.005 takes
NEARLY = Ridge(1e-3, fit_intercept=False)
NOISE = {"normal": 0, "t, 2 degrees of freedom": 2, "Cauchy": 1}


@dataclass(frozen=True)
class Case:
    """An algorithm, the number of columns, the noise, and the ε that is asked for."""

    estimator: Any
    d: int
    noise: str = "normal"
    epsilon: float = 0.5

    @property
    def name(self) -> str:
        kind = type(self.estimator).__name__.removesuffix("Regressor")
        return f"{kind}, d = {self.d}" + (f", {self.noise}" if self.noise != "normal" else "")

    def rows(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(count, self.d))
        degrees = NOISE[self.noise]
        noise = rng.standard_t(degrees, count) if degrees else rng.normal(size=count)
        return X, X.sum(axis=1) / np.sqrt(self.d) + noise

    def test(self) -> poise.StabilityResult:
        X, y = self.rows(TESTED, seed=10**6)
        asked = {"n": N, "epsilon": self.epsilon, "delta": DELTA, "random_state": 0}
        return poise.stability_test(self.estimator, X, y, **asked, progress=False)


CASES = (
    Case(Ridge(), 3),
    Case(Ridge(), 3, "t, 2 degrees of freedom"),
    Case(Ridge(), 3, "Cauchy"),
    Case(KNeighborsRegressor(5), 3, epsilon=1.5),
    *(Case(NEARLY, d) for d in (20, 36, 40, 44, 80)),
)


def certified(case: Case, granted: poise.StabilityResult | None) -> poise.JackknifeRegressor:
    method = "jackknife" if granted is not None else "plus"
    return poise.JackknifeRegressor(case.estimator, method, LEVEL, granted, random_state=0)


def intervals(
    case: Case, granted: poise.StabilityResult | None, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    theirs = CrossConformalRegressor(case.estimator, confidence_level=LEVEL, method="plus", cv=-1)
    yield "MAPIE, plus", theirs.fit_conformalize(X[:N], y[:N]).predict_interval(X[N:])[1][:, :, 0]
    model = poise.JackknifeRegressor(case.estimator, level=LEVEL).fit(X[:N], y[:N])
    centre, plus = model.predict_interval(X[N:])
    yield "poise, plus", plus
    half = residual_quantile(model.residuals_, 1 - LEVEL)
    yield "bare jackknife", np.stack([centre - half, centre + half], axis=1)
    yield "poise, certify", certified(case, granted).fit(X[:N], y[:N]).predict_interval(X[N:])[1]


def measured(case: Case, granted: poise.StabilityResult | None, repeats: int) -> None:
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(repeats):
        X, y = case.rows(N + NEW, seed)
        for kind, ends in intervals(case, granted, X, y):
            inside = (ends[:, 0] <= y[N:]) & (y[N:] <= ends[:, 1])
            width = float(np.median(ends[:, 1] - ends[:, 0]))
            found.setdefault(kind, []).append((float(inside.mean()), width))
    for kind, pairs in found.items():
        coverage, width = np.array([c for c, _ in pairs]), np.median([w for _, w in pairs])
        print(f"    {kind:15} coverage {coverage.mean():.3f}  median width {width:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=40)
    repeats = parser.parse_args().repeats
    for case in CASES:
        result = case.test()
        said = "granted" if result.stable else f"not granted ({result.verdict.value})"
        print(f"{case.name}: certificate for ({case.epsilon:g}, {DELTA:g}) {said}", flush=True)
        measured(case, result if result.stable else None, repeats)


if __name__ == "__main__":
    main()
