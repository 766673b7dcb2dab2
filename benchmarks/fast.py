"""Exact shortcuts and batched networks: whole ``poise.measure`` calls over the plain loop.

    OMP_NUM_THREADS=1 python benchmarks/fast.py [--rounds 5] [--only Ridge] [--small]

The plain loop clones, fits and predicts with scikit-learn, twice per trial, on
the same trials. It is timed on a part of the trials (the cost per trial is
constant) and both sides take turns in one run, on one core. Beside each ratio:
how far the two disagree, relative to the size of the predictions, and what share
of the machine's own matrix-product rate the fast side reaches.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

import poise
from overhead import bare_loop
from side_by_side import race, table

SHAPES = {(50, 5): 20_000, (200, 20): 5_000, (1000, 50): 1_000}
TARGETS = {
    "Ridge": (500, 70, 7),
    "LinearRegression": (300, 60, 6),
    "KNeighborsRegressor": (600, 90, 12),
    "KernelRidge": (45, 8, 2.5),
    "GaussianProcess": (45, 8, 2.5),
}
ESTIMATORS = {
    "Ridge": Ridge(),
    "LinearRegression": LinearRegression(),
    "KNeighborsRegressor": KNeighborsRegressor(),
    "KernelRidge": KernelRidge(alpha=1.0, kernel="rbf", gamma=0.1),
    "GaussianProcess": GaussianProcessRegressor(RBF(3.0) + WhiteKernel(1.0), optimizer=None),
}


def problem(n: int, d: int, trials: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (n + 1), d))
    return X, X[:, 0] + rng.normal(size=len(X))


def matrix_rate(dtype: type[np.floating] = np.float64) -> float:
    """Floating-point operations a second of one large matrix product, on this core, now."""
    a = np.random.default_rng(0).normal(size=(1000, 1000)).astype(dtype)
    best = min(_seconds(lambda: a @ a) for _ in range(5))
    return 2e9 / best


def _seconds(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def flops(name: str, n: int, d: int) -> float:
    """Leading-order operations of one trial: Gram matrix, distances or kernel factor."""
    if name in ("Ridge", "LinearRegression"):
        return n * d * d + d**3 / 3
    return 3 * n * d if name == "KNeighborsRegressor" else n * n * d + n**3 / 3


def compare(name: str, n: int, d: int, trials: int, rounds: int) -> list[str]:
    X, y = problem(n, d, trials)
    slow_trials = max(5, min(trials, int(2e4 / n)))
    # The loop's first trials are those of a split with as many rows in front.
    seeds = [0] * slow_trials
    points = trials * n

    def loop() -> np.ndarray:
        keep = np.r_[0 : slow_trials * n, points : points + slow_trials]
        return bare_loop(ESTIMATORS[name], X[keep], y[keep], n, slow_trials, seeds)

    def fast() -> poise.Trials:
        return poise.measure(ESTIMATORS[name], X, y, n=n, shuffle=False, random_state=0)

    result = race({"loop": loop, "poise": fast}, rounds)
    trials_done = result.results["poise"]
    ratio = (1 / result.ratios["poise"]) * trials / slow_trials
    apart = np.abs(trials_done.changes[:slow_trials] - result.results["loop"]).max()
    per_second = flops(name, n, d) * trials / result.seconds["poise"]
    return [
        name,
        f"({n}, {d})",
        f"{1e6 * result.seconds['loop'] / slow_trials:,.0f} us",
        f"{1e6 * result.seconds['poise'] / trials:,.1f} us",
        f"{ratio:,.1f}x",
        f"{TARGETS[name][list(SHAPES).index((n, d))]}x",
        f"{apart / np.abs(y).max():.0e}",
        f"{per_second / matrix_rate():.0%}",
        trials_done.design.path,
    ]


HEADERS = ["algorithm", "(n, d)", "loop", "poise", "faster", "asked", "apart", "of gemm", "path"]


def compare_network(n: int, d: int, trials: int, rounds: int) -> list[str]:
    """Compare networks of 64 units, 100 full-batch Adam steps, float32, against scikit-learn's."""
    X, y = problem(n, d, trials)
    slow_trials = max(1, min(10, int(1e3 / n)))
    sklearn_network = MLPRegressor(
        hidden_layer_sizes=(64,), batch_size=n, max_iter=100, tol=0.0, n_iter_no_change=100
    )
    network = poise.networks.mlp_regressor(hidden=(64,), steps=100, standardize=False)

    def loop() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            bare_loop(sklearn_network, X, y, n, slow_trials, list(range(slow_trials)))

    def fast() -> poise.Trials:
        return poise.measure(network, X, y, n=n, shuffle=False, random_state=0)

    result = race({"loop": loop, "poise": fast}, rounds)
    ratio = (1 / result.ratios["poise"]) * trials / slow_trials
    # Forward and backward products of the first layer, those of the second, both fits.
    operations = 2 * 100 * (4 * n * d + 6 * n) * 64
    per_second = operations * trials / result.seconds["poise"]
    asked = {50: 30, 200: 10, 1000: 3}[n]
    return [
        "MLP (JAX float32)",
        f"({n}, {d})",
        f"{1e6 * result.seconds['loop'] / slow_trials:,.0f} us",
        f"{1e6 * result.seconds['poise'] / trials:,.1f} us",
        f"{ratio:,.1f}x",
        f"{asked}x",
        "-",
        f"{per_second / matrix_rate(np.float32):.0%}",
        result.results["poise"].design.path,
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true", help="a tenth of the trials")
    arguments = parser.parse_args()
    rows = []
    for (n, d), trials in SHAPES.items():
        count = trials // 10 if arguments.small else trials
        for name in ESTIMATORS:
            if arguments.only in ("", name):
                rows.append(compare(name, n, d, count, arguments.rounds))
                print("  ".join(rows[-1]), flush=True)
        if arguments.only in ("", "MLP"):
            rows.append(compare_network(n, d, max(20, count // 50), min(3, arguments.rounds)))
            print("  ".join(rows[-1]), flush=True)
    print()
    print(table(HEADERS, rows))
