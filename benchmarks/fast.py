"""Exact shortcuts and batched networks: whole ``poise.measure`` calls over the plain loop.

    OMP_NUM_THREADS=1 python benchmarks/fast.py [--rounds 5] [--only Ridge] [--small] [--cpu]

The plain loop clones, fits and predicts with scikit-learn, twice per trial, on
the same trials. It is timed on a part of the trials (the cost per trial is
constant) and both sides take turns in one run, on one core. Rows are taken in
their order; "shuffled" is the same ratio where both read them in random order, as poise
does by default (a loop of hundreds of microseconds a fit hardly notices, a shortcut of
two does). Beside it the machine's own limit, measured in the same run: the ratio of a
call that adds to the one in order nothing but numpy's ``take`` of the same rows in the same random
order, and numpy's ``sort`` of as many 64-bit numbers. Beside each ratio: how far the
two disagree, relative to the size of the predictions, and what share of the
machine's own limit, measured in the same run, the whole call reaches: its rate of
matrix products, or of reading memory (every row is read once), whichever is nearer.
"All removals" is the time of a trial with each of its n rows removed in turn, over the time
of one pair; in brackets, how much faster that is than n + 1 fits of the plain loop.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
if hasattr(os, "sched_setaffinity"):  # XLA starts as many threads as there are cores, all the same
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse
import time
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

import poise
from overhead import bare_loop
from side_by_side import Race, race, table

SHAPES = {(50, 5): 20_000, (200, 20): 5_000, (1000, 50): 1_000}
WIDE = {(50, 200): 2_000}  # more columns than rows: Ridge alone has a way for them, the dual
TARGETS = {
    "Ridge": (500, 70, 7, 10),
    "LinearRegression": (300, 60, 6),
    "KNeighborsRegressor": (600, 90, 12),
    "KernelRidge": (45, 8, 2.5),
    "GaussianProcess": (45, 8, 2.5),
}
SHUFFLED_TARGETS = {"Ridge": (450, 60, 8), "KNeighborsRegressor": (500, 75, 12)}
LINEAR = ("Ridge", "LinearRegression", "RidgeClassifier", "LinearDiscriminantAnalysis")
CLASSIFIERS = ("RidgeClassifier", "LinearDiscriminantAnalysis", "GaussianNB", "DummyClassifier")
CHEAP = ("Ridge", "LinearRegression", "KNeighborsRegressor")
ESTIMATORS = {
    "Ridge": Ridge(),
    "LinearRegression": LinearRegression(),
    "KNeighborsRegressor": KNeighborsRegressor(),
    "KernelRidge": KernelRidge(alpha=1.0, kernel="rbf", gamma=0.1),
    "GaussianProcess": GaussianProcessRegressor(RBF(3.0) + WhiteKernel(1.0), optimizer=None),
    "RidgeClassifier": RidgeClassifier(),
    "DummyRegressor": DummyRegressor(),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "GaussianNB": GaussianNB(),
    "DummyClassifier": DummyClassifier(),
}
CPU_TIME = False
BLOCK_BYTES = 4 << 20  # rows that are taken together: what a shortcut reads stays in the cache


def problem(n: int, d: int, trials: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (n + 1), d))
    return X, X[:, 0] + rng.normal(size=len(X))


def reading_rate() -> float:
    """Bytes a second of adding up an array larger than any cache, on this core, now."""
    a = np.ones(1 << 25)
    return a.nbytes / min(_seconds(a.sum) for _ in range(5))


def matrix_rate(dtype: type[np.floating] = np.float64) -> float:
    """Floating-point operations a second of one large matrix product, on this core, now."""
    a = np.random.default_rng(0).normal(size=(1000, 1000)).astype(dtype)
    best = min(_seconds(lambda: a @ a) for _ in range(5))
    return 2e9 / best


def clock() -> float:
    """Return seconds by the clock, or with ``--cpu`` those that the processor worked for us."""
    return time.process_time() if CPU_TIME else time.perf_counter()


def _seconds(work) -> float:
    began = clock()
    work()
    return clock() - began


def flops(name: str, n: int, d: int) -> float:
    """Leading-order operations of one trial: Gram matrix, distances or kernel factor."""
    if name.startswith("Dummy"):
        return n
    if name in LINEAR:
        small, large = sorted((n, d))
        return large * small**2 + small**3 / 3
    if name in ("KNeighborsRegressor", "GaussianNB"):
        return 3 * n * d
    return n * n * d + n**3 / 3


def sort_and_take(X: np.ndarray, y: np.ndarray, order: np.ndarray, keys: np.ndarray) -> None:
    """Sort keys, and copy rows and responses in a random order, in blocks; nothing else."""
    np.sort(keys)
    step = BLOCK_BYTES // (8 * X.shape[1])
    rows, responses = np.empty((step, X.shape[1])), np.empty(step, dtype=y.dtype)
    for start in range(0, len(order) - step, step):
        some = order[start : start + step]
        X.take(some, axis=0, out=rows, mode="clip")
        y.take(some, out=responses, mode="clip")


def of_limit(operations: float, numbers_read: float, seconds: float, dtype=np.float64) -> str:
    """Say how near the work comes to what the machine can do at most."""
    arithmetic = operations / seconds / matrix_rate(dtype)
    reading = 8 * numbers_read / seconds / reading_rate()
    if reading > arithmetic:
        return f"{reading:.0%} of memory bandwidth"
    return f"{arithmetic:.0%} of matrix products"


def compare(name: str, n: int, d: int, trials: int, rounds: int) -> list[str]:
    X, y = problem(n, d, trials)
    y = np.where(y > 0, 1, 0) if name in CLASSIFIERS else y
    slow_trials = max(5, min(trials, int(2e4 / n)))
    # The loop's first trials are those of a split with as many rows in front.
    seeds = [0] * slow_trials
    points = trials * n

    first = np.r_[0 : slow_trials * n, points : points + slow_trials]
    order = np.random.default_rng(1).permutation(len(X))
    random = order[: len(first)]
    front = X[first], y[first]

    def loop() -> np.ndarray:
        return bare_loop(ESTIMATORS[name], *front, n, slow_trials, seeds)

    def shuffled_loop() -> np.ndarray:
        return bare_loop(ESTIMATORS[name], X[random], y[random], n, slow_trials, seeds)

    def fast(shuffle: bool = False, removals: int | str = 1) -> poise.Trials:
        how = {"shuffle": shuffle, "removals": removals, "random_state": 0}
        return poise.measure(ESTIMATORS[name], X, y, n=n, **how)

    contestants = {"loop": loop, "poise": fast}
    if name in CHEAP:  # elsewhere the order of the rows costs nothing beside the fits
        contestants |= {"shuffled loop": shuffled_loop, "shuffled": lambda: fast(shuffle=True)}
        keys = np.random.default_rng(2).integers(0, 2**64 - 1, len(X), dtype=np.uint64)
        contestants |= {"take": lambda: sort_and_take(X, y, order, keys)}
    if d < n or name not in LINEAR:
        contestants |= {"all removals": lambda: fast(removals="all")}
    result = race(contestants, rounds, clock)
    trials_done = result.results["poise"]
    ratios = result.ratios
    share = trials / slow_trials
    apart = np.abs(trials_done.changes[:slow_trials] - result.results["loop"]).max()
    return [
        name,
        f"({n}, {d})",
        f"{1e6 * result.seconds['loop'] / slow_trials:,.0f} us",
        f"{1e6 * result.seconds['poise'] / trials:,.1f} us",
        f"{share / ratios['poise']:,.1f}x",
        asked(TARGETS, name, n, d),
        *in_random_order(result, share),
        asked(SHUFFLED_TARGETS, name, n, d),
        all_removals(result, n, share),
        f"{apart / np.abs(y).max():.0e}",
        of_limit(flops(name, n, d) * trials, X.size, result.seconds["poise"]),
        trials_done.design.path,
    ]


def asked(targets: dict[str, tuple[float, ...]], name: str, n: int, d: int) -> str:
    """Return the ratio that was asked for at this size, if one was."""
    by_size = dict(zip(SHAPES | WIDE, targets.get(name, ()), strict=False))
    return f"{by_size[n, d]}x" if (n, d) in by_size else "-"


def in_random_order(result: Race, share: float) -> list[str]:
    """Return the ratio where rows come from random places, and the most that the machine allows."""
    ratios = result.ratios
    if "shuffled" not in ratios:
        return ["-", "-"]
    loop = share * ratios["shuffled loop"]
    limit = loop / (ratios["poise"] + ratios["take"])
    return [f"{loop / ratios['shuffled']:,.1f}x", f"{limit:,.1f}x"]


def all_removals(result: Race, n: int, share: float) -> str:
    """Return the price of all removals over that of one; and over n + 1 fits of the loop."""
    if "all removals" not in result.ratios:  # no formula for these
        return "-"
    price = result.ratios["all removals"] / result.ratios["poise"]
    loop = share * (n + 1) / 2 / result.ratios["all removals"]  # the loop fits twice a trial
    return f"{price:.2f} ({loop:,.0f}x)"


HEADERS = [
    "algorithm",
    "(n, d)",
    "loop",
    "poise",
    "faster",
    "asked",
    "shuffled",
    "limit",
    "asked",
    "all removals",
    "apart",
    "of limit",
    "path",
]


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

    result = race({"loop": loop, "poise": fast}, rounds, clock)
    ratio = (1 / result.ratios["poise"]) * trials / slow_trials
    # Forward and backward products of the first layer, those of the second, both fits.
    operations = 2 * 100 * (4 * n * d + 6 * n) * 64
    target = {50: 30, 200: 10, 1000: 3}[n]
    return [
        "MLP (JAX float32)",
        f"({n}, {d})",
        f"{1e6 * result.seconds['loop'] / slow_trials:,.0f} us",
        f"{1e6 * result.seconds['poise'] / trials:,.1f} us",
        f"{ratio:,.1f}x",
        f"{target}x",
        "-",
        "-",
        "-",
        "-",
        "-",
        of_limit(operations * trials, X.size, result.seconds["poise"], np.float32),
        result.results["poise"].design.path,
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--small", action="store_true", help="a tenth of the trials, so that the start counts more"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="processor time, where a machine has other work too"
    )
    arguments = parser.parse_args()
    CPU_TIME = arguments.cpu
    rows = []
    for (n, d), trials in SHAPES.items():
        count = trials // 10 if arguments.small else trials
        for name in ESTIMATORS:
            if arguments.only in ("", name):
                # What takes seconds a round needs fewer of them.
                rounds = arguments.rounds if name in CHEAP else min(2, arguments.rounds)
                rows.append(compare(name, n, d, count, rounds))
                print("  ".join(rows[-1]), flush=True)
        if arguments.only in ("", "MLP"):
            rows.append(compare_network(n, d, max(20, count // 50), min(3, arguments.rounds)))
            print("  ".join(rows[-1]), flush=True)
    for (n, d), trials in WIDE.items():
        if arguments.only in ("", "Ridge"):
            rows.append(compare("Ridge", n, d, trials, arguments.rounds))
            print("  ".join(rows[-1]), flush=True)
    print()
    print(table(HEADERS, rows))
