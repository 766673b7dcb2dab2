"""The networks of ``gpu.py`` in PyTorch, and a small CNN on images of 16 × 16."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

import poise
from poise.algorithms.algorithm import Stack
from poise.protocol.randomness import Randomness
from side_by_side import table

__all__ = ["torch_rows"]

N, D, HIDDEN, STEPS = 200, 20, 64, 500
CNN_N, CNN_STEPS, CNN_BATCH, SIDE, CLASSES = 100, 200, 32, 16, 10


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(D, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))


def small_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, CLASSES),
    )  # fmt: skip


def cnn_algorithm() -> Any:
    return poise.torch_algorithm(
        small_cnn, loss="cross_entropy", classes=CLASSES, steps=CNN_STEPS, batch_size=CNN_BATCH,
        input_shape=(1, SIDE, SIDE), response="predict",
    )  # fmt: skip


def perceptron_operations(pairs: int) -> float:
    """Floating-point operations of the matrix products of both fits of all pairs."""
    forward = 2 * D * HIDDEN + 2 * HIDDEN
    return pairs * STEPS * (2 * N - 1) * float(2 * forward + 2 * HIDDEN)


def cnn_operations(pairs: int) -> float:
    """The same for the CNN: three products of the forward pass in each step."""
    forward = 2 * (14 * 14 * 8 * 9 + 5 * 5 * 16 * 72 + 64 * CLASSES)
    return pairs * 2 * CNN_STEPS * CNN_BATCH * 3.0 * forward


def median_seconds(run: Callable[[], Any], repeats: int = 3) -> tuple[float, float]:
    """Return the seconds of the first call, which compiles, and the median of the others."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return times[0], statistics.median(times[1:])


def device_seconds(algorithm: Any, stack: Stack) -> tuple[float, float]:
    """Both trainings of all pairs; rows and initial weights are on the device before."""
    fits = algorithm.fits
    X, y = fits.tensor(stack.X), fits.tensor(stack.y)
    start = fits.start(stack.xi)
    fewer = X[:, :-1].contiguous(), y[:, :-1].contiguous()

    def run() -> None:
        for rows in ((X, y), fewer):
            fits.trained(start, rows, stack.xi)
        if X.is_cuda:
            torch.cuda.synchronize()

    return median_seconds(run)


def stack_of(pairs: int, n: int, d: int, classes: int | None = None) -> Stack:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((pairs, n, d))
    y = X[:, :, 0] + rng.standard_normal((pairs, n))
    terms = Randomness(0).block("xi", 0, pairs)[:, 0]
    responses = y if classes is None else rng.integers(0, classes, (pairs, n))
    return Stack(X, responses, rng.standard_normal((pairs, d)), terms, terms)


def call_seconds(algorithm: Any, stack: Stack) -> tuple[float, float]:
    """One whole ``poise.measure``: gather rows, initialise, send, train, compare."""
    pairs, n, d = stack.X.shape
    rows = np.concatenate([stack.X.reshape(-1, d), stack.x])
    responses = np.concatenate([stack.y.ravel(), stack.y[:, 0]])

    def run() -> None:
        trials = poise.measure(algorithm, rows, responses, n=n, shuffle=False, random_state=0)
        assert trials.n_trials == pairs
        assert np.isfinite(trials.changes).all()

    return median_seconds(run)


def torch_rows(pairs: int, rate: float) -> list[tuple[str, int, float, float]]:
    """Print the table; return (what, pairs, target, seconds) for what scikit-learn can do too."""
    mlp = poise.torch_algorithm(perceptron, loss="mse", steps=STEPS)
    many, images = stack_of(pairs, N, D), stack_of(max(4, pairs // 10), CNN_N, SIDE**2, CLASSES)
    cnn = cnn_algorithm()
    measured = [
        ("perceptron, on the device", pairs, *device_seconds(mlp, many)),
        ("perceptron, whole call", pairs, *call_seconds(mlp, many)),
        ("CNN, on the device", len(images.X), *device_seconds(cnn, images)),
        ("CNN, whole call", len(images.X), *call_seconds(cnn, images)),
    ]
    rows = []
    for what, count, first, took in measured:
        work = (cnn_operations if what.startswith("CNN") else perceptron_operations)(count) / took
        share = f"{work / rate:.1%} of {rate / 1e12:.3g}"
        fits = f"{2 * count / took:,.0f}"
        rows.append([what, f"{count:,}", f"{first:.1f}", f"{took:.3f}", fits, share])
    print(f"\nPyTorch {torch.__version__}, float32")
    heads = ["network", "pairs", "first call s", "then s", "fits/s", "TFLOP/s of this machine's"]
    print(table(heads, rows))
    return [(f"in PyTorch, {what.split(', ')[1]}", count, 1.5, took)
            for what, count, _, took in measured if what.startswith("perceptron")]  # fmt: skip
