"""Ten thousand pairs of networks and a million pairs of ridge fits on one accelerator.

    PYTHONPATH=src python benchmarks/gpu.py [--small] [--sweep] [--cpu-seconds 20]

Networks: n = 200, d = 20, 64 hidden units, 500 full-batch Adam steps, float32; at
most 0.5 s for 10,000 pairs once compiled. Ridge: n = 50, d = 5, float64, one row
removed by formula; at most 0.1 s of device time for 1,000,000 pairs. The same networks in
PyTorch, at most 1.5 s, and a small CNN on images of 16 × 16. Beside them
the same work done by scikit-learn on all cores of the machine, timed on a part of
it. ``--small`` is for machines without an accelerator; ``--sweep`` also tries
other block sizes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch needs memory too

import jax
import numpy as np

import poise
from device import ceilings, describe, seconds
from gpu_torch import torch_rows
from poise.algorithms.jax.compiled_jax import key_data
from poise.networks import mlp_regressor
from poise.protocol.randomness import Randomness
from poise.shortcuts.centred_moments import Moments
from poise.shortcuts.linear_narrow import narrow_pairs, remove_row
from side_by_side import table

N, D, HIDDEN, STEPS = 200, 20, 64, 500
RIDGE_N, RIDGE_D, PENALTY = 50, 5, 1.0

Stack = tuple[np.ndarray, np.ndarray, np.ndarray]


class Work(NamedTuple):
    """Something that scikit-learn could have done too."""

    kind: str
    what: str
    pairs: int
    target: float
    seconds: float


def stack(pairs: int, n: int, d: int, dtype: Any) -> Stack:
    """Rows, responses and test points of many trials."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((pairs, n, d), dtype)
    y = X[:, :, 0] + rng.standard_normal((pairs, n), dtype)
    return X, y, rng.standard_normal((pairs, d), dtype)


def slices(total: int, size: int) -> Iterator[slice]:
    return (slice(first, first + size) for first in range(0, total, size))


# Networks


def network_operations(pairs: int) -> float:
    """Floating-point operations of the matrix products of both fits of all pairs."""
    forward = 2 * D * HIDDEN + 2 * HIDDEN
    backward = forward + 2 * HIDDEN  # weights of both layers, and one layer of errors
    return pairs * STEPS * (2 * N - 1) * float(forward + backward)


def network_seconds(data: Stack, size: int, precision: str) -> float:
    """Both fits of all pairs, rows and keys already on the device, ``size`` pairs at a time."""
    algorithm = mlp_regressor(HIDDEN, steps=STEPS, standardize=False, precision=precision)
    pairs = len(data[0])
    keys = key_data(Randomness(0).block("xi", 0, pairs)[:, 0])
    blocks = [jax.device_put([part[k] for part in (*data, keys)]) for k in slices(pairs, size)]

    def run() -> list[Any]:
        both = (algorithm.compiled.full, algorithm.compiled.reduced)
        return [fit(*block) for block in blocks for fit in both]

    return seconds(run, repeats=3)


def network_call_seconds(pairs: int) -> tuple[float, int]:
    """One whole ``poise.measure`` after compilation: gather rows, send, train, compare."""
    X, y, x = stack(pairs, N, D, np.float64)
    rows = np.concatenate([X.reshape(-1, D), x])
    responses = np.concatenate([y.ravel(), np.zeros(pairs)])
    algorithm = mlp_regressor(HIDDEN, steps=STEPS, standardize=False)
    ask = partial(poise.measure, algorithm, rows, responses, n=N, shuffle=False, random_state=0)
    trials = ask()
    assert np.isfinite(trials.changes).all()
    return seconds(lambda: ask().changes, repeats=3), trials.n_trials


def networks(pairs: int, sweep: bool, rates: dict[str, float]) -> list[Work]:
    data = stack(pairs, N, D, np.float32)
    sizes = [math.ceil(pairs / k) for k in ((1, 2, 4, 8, 16, 32) if sweep else (1,))]
    rows, best = [], math.inf
    for precision, size in itertools.product(("float32", "tensorfloat32"), sizes):
        took = network_seconds(data, size, precision)
        best = min(best, took) if precision == "float32" else best
        rate = network_operations(pairs) / took
        share = f"{rate / rates[precision]:.1%} of {rates[precision] / 1e12:.3g}"
        fits = f"{2 * pairs / took:,.0f}"
        rows.append([precision, f"{size:,}", f"{took:.3f}", fits, f"{rate / 1e12:.2f}", share])
        print(f"networks, {precision}, {size:,} at once: {took:.3f} s", flush=True)
    print(f"\n{pairs:,} pairs of networks: n = {N}, d = {D}, {HIDDEN} units, {STEPS} steps")
    heads = ["products in", "pairs at once", "device s", "fits/s", "TFLOP/s", "of this machine's"]
    print(table(heads, rows))
    took, trials = network_call_seconds(pairs)
    print(f"whole poise.measure call, float32, {trials:,} trials: {took:.3f} s")
    return [
        Work("networks", "on the device", pairs, 0.5, best),
        Work("networks", "whole call", pairs, 1.0, took),
    ]


# Ridge


@jax.jit
def ridge_pairs(X: Any, y: Any, x: Any) -> tuple[Any, Any]:
    found = remove_row(Moments.of(X, y[:, None, :], True), x, PENALTY)
    return found.full[:, 0], found.reduced[:, 0]


def ridge_agreement(data: Stack) -> float:
    """Largest disagreement with the NumPy shortcut, relative to the predictions."""
    X, y, x = (part[:1000] for part in data)
    full, reduced = (np.asarray(part) for part in ridge_pairs(X, y, x))
    exact = narrow_pairs(X, y[:, None, :], x, PENALTY, True)
    scale = np.abs(exact.full).max()
    return float(
        max(np.abs(full - exact.full[:, 0]).max(), np.abs(reduced - exact.reduced[:, 0]).max())
        / scale
    )


def one_after_the_other(blocks: list[Stack], send: Callable[[Stack], Any]) -> list[np.ndarray]:
    """Send a block, compute, fetch the changes; then the next block."""
    results = []
    for block in blocks:
        full, reduced = ridge_pairs(*send(block))
        results.append(np.asarray(abs(full - reduced)))
    return results


def overlapped(blocks: list[Stack], send: Callable[[Stack], Any]) -> list[np.ndarray]:
    """Send the next block while this one is computed; fetch the changes at the end."""
    results, ahead = [], send(blocks[0])
    for following in [*blocks[1:], None]:
        current, ahead = ahead, None if following is None else send(following)
        full, reduced = ridge_pairs(*current)
        results.append(abs(full - reduced))
    return [np.asarray(part) for part in results]


def pinned(blocks: list[Stack]) -> list[Any]:
    """Copy the rows to memory that the device can read by itself."""
    device = jax.devices()[0]
    home = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
    return jax.block_until_ready([jax.device_put(block, home) for block in blocks])


def ridge(pairs: int) -> Work:
    data = stack(pairs, RIDGE_N, RIDGE_D, np.float64)
    size = math.ceil(pairs / 16)
    blocks = [tuple(part[k] for part in data) for k in slices(pairs, size)]
    volume = sum(part.nbytes for part in data)
    print(f"\n{pairs:,} ridge pairs: n = {RIDGE_N}, d = {RIDGE_D}, float64, {volume / 1e9:.2f} GB")
    print(f"largest disagreement with the NumPy shortcut: {ridge_agreement(data):.1e}")
    rows = resident_rows([data], "all at once") + resident_rows(blocks, "in 16 blocks")
    device_seconds = min(took for _, took in rows)
    onto = partial(jax.device_put, device=jax.devices()[0])
    rows += [
        ["transfer alone", seconds(lambda: [onto(b) for b in blocks], 3)],
        ["transfer, compute, fetch in turn", seconds(lambda: one_after_the_other(blocks, onto), 3)],
        ["transfer overlapped with computing", seconds(lambda: overlapped(blocks, onto), 3)],
        *pinned_rows(blocks),
    ]
    print(
        table(
            ["what", "s", "million pairs/s", "GB/s"],
            [[what, f"{t:.4f}", f"{pairs / t / 1e6:.1f}", f"{volume / t / 1e9:.1f}"]
             for what, t in rows],
        )
    )  # fmt: skip
    return Work("ridge", "on the device", pairs, 0.1, device_seconds)


def resident_rows(blocks: list[Stack], how: str) -> list[list[Any]]:
    """Time the computation alone: rows are on the device before, predictions stay there."""
    resident = [jax.device_put(block) for block in blocks]
    return [[f"on the device, {how}", seconds(lambda: [ridge_pairs(*b) for b in resident])]]


def pinned_rows(blocks: list[Stack]) -> list[list[Any]]:
    try:
        fixed = pinned(blocks)
    except (ValueError, RuntimeError) as error:
        print(f"no pinned memory here: {str(error).splitlines()[0]}")
        return []
    device = jax.devices()[0]
    onto = partial(
        jax.device_put, device=jax.sharding.SingleDeviceSharding(device, memory_kind="device")
    )
    return [
        ["transfer alone, from pinned memory", seconds(lambda: [onto(b) for b in fixed], 3)],
        ["overlapped, from pinned memory", seconds(lambda: overlapped(fixed, onto), 3)],
    ]


# The same work by scikit-learn


def sklearn_pairs(kind: str, count: int) -> None:
    from sklearn.linear_model import Ridge
    from sklearn.neural_network import MLPRegressor

    n, d = (N, D) if kind == "networks" else (RIDGE_N, RIDGE_D)
    for X, y, x in zip(*stack(count, n, d, np.float64), strict=True):
        for rows in (slice(None), slice(-1)):
            model = Ridge(alpha=PENALTY)
            if kind == "networks":
                model = MLPRegressor(
                    hidden_layer_sizes=(HIDDEN,), max_iter=STEPS, batch_size=len(X[rows]),
                    tol=0.0, n_iter_no_change=STEPS, random_state=0,
                )  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[rows], y[rows]).predict(x[None])


def sklearn_pairs_per_second(kind: str, at_least: float) -> tuple[float, int]:
    """Pairs a second on all cores, one process and one thread each."""
    from joblib import Parallel, delayed

    cores = len(os.sched_getaffinity(0))
    workers = Parallel(n_jobs=cores)
    workers(delayed(sklearn_pairs)(kind, 1) for _ in range(cores))
    count, took = 1, 0.0
    while took < at_least:
        count *= 2
        began = time.perf_counter()
        workers(delayed(sklearn_pairs)(kind, count) for _ in range(cores))
        took = time.perf_counter() - began
    return cores * count / took, cores


def compare_with_scikit_learn(done: list[Work], at_least: float) -> None:
    try:
        rates = {kind: sklearn_pairs_per_second(kind, at_least) for kind in ("networks", "ridge")}
    except ImportError as error:
        print(f"\nno comparison: {error}")
        return
    rows = []
    for work in done:
        rate, cores = rates[work.kind]
        slow = work.pairs / rate
        times = [f"{work.seconds:.4f}", f"{work.target:g}", f"{slow:,.1f}"]
        label = f"{work.pairs:,} pairs of {work.kind}, {work.what}"
        rows.append([label, *times, f"{slow / work.seconds:,.0f}×"])
    print(f"\nscikit-learn on {cores} cores, from at least {at_least:g} s of it")
    print(table(["work", "poise s", "target s", "scikit-learn s", "ratio"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="counts for a CPU")
    parser.add_argument("--sweep", action="store_true", help="try several block sizes")
    parser.add_argument("--cpu-seconds", type=float, default=20.0, help="scikit-learn's share")
    options = parser.parse_args()
    pairs, ridge_count = (32, 20_000) if options.small else (10_000, 1_000_000)
    print(describe())
    rates = ceilings(1024 if options.small else 8192)
    print(", ".join(f"{name} {rate / 1e12:.3g} T/s" for name, rate in rates.items()))
    done = networks(pairs, options.sweep, rates)
    done += [Work("networks", *row) for row in torch_rows(pairs, rates["float32"])]
    with jax.enable_x64(True):
        done.append(ridge(ridge_count))
    compare_with_scikit_learn(done, options.cpu_seconds)


if __name__ == "__main__":
    main()
