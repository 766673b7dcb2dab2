"""Fits per second of networks in JAX and PyTorch, and of ridge in float64, on the device at hand.

    python benchmarks/networks.py [--fits 8192] [--steps 500] [--only JAX eager]

"trained" is a stack whose rows and first weights are on the device already; "whole" also makes the
weights, and moves rows and predictions. With a GPU, another process repeats trials on the CPU.
"""

import argparse
import os
import subprocess
import sys
import time
from statistics import median
from tempfile import TemporaryDirectory

import jax
import numpy as np
import torch

import poise
from side_by_side import table

torch.set_num_threads(1)  # the threads of two programs on one core wait for each other
N, D, UNITS = 200, 20, 64


def perceptron():
    layers = torch.nn.Linear(D, UNITS), torch.nn.ReLU(), torch.nn.Linear(UNITS, 1)
    return torch.nn.Sequential(*layers)


def ridge(X, y, x, key):
    return x @ jax.numpy.linalg.solve(X.T @ X + jax.numpy.eye(X.shape[1]), X.T @ y)


def contestants(steps, only, at_once=None):
    given = {"loss": "mse", "steps": steps, "at_once": at_once}
    every = {
        "JAX": poise.networks.mlp(UNITS, steps=steps, at_once=at_once),
        "eager": poise.torch_algorithm(perceptron, **given),
        "compiled": poise.torch_algorithm(perceptron, **given, compile=True),
        "ridge": poise.jax_algorithm(ridge, float64=True, at_once=at_once),
    }
    return {name: algorithm for name, algorithm in every.items() if name in only}


def rows(fits, n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(fits, n, d))
    return X, X[:, :, 0] + rng.normal(size=(fits, n)), X[:, :1], rng.integers(1 << 63, size=fits)


def seconds(run):
    times = [-time.perf_counter()] + [run() or time.perf_counter() for _ in range(4)]
    return times[1] + times[0], median(np.diff(times[1:]))


def speed(name, algorithm, fits):
    *given, xi = rows(fits, *((50, 5) if name == "ridge" else (N, D)))
    xi, kind = xi.astype(np.uint64), np.float64 if name == "ridge" else np.float32
    with jax.enable_x64(name == "ridge"):
        put = algorithm._tensor if algorithm.library == "PyTorch" else jax.device_put
        there = [put(part.astype(kind)) for part in given]

    def whole():  # both fits of each trial
        fresh = xi ^ np.uint64(time.time_ns())
        for last in (None, -1):
            algorithm.many(given[0][:, :last], given[1][:, :last], given[2], fresh)

    first, trained = seconds(lambda: algorithm.outputs(*there, xi) is None)
    rates = fits / trained, 2 * fits / seconds(whole)[1]
    return [name, f"{first:.1f}", *(f"{rate:,.0f}" for rate in rates)]


def changes(steps, only):
    """Return the changes of 32 trials of each algorithm."""
    X, y = (part[0] for part in rows(1, 32 * (N + 1), D)[:2])
    return {
        f"{name} after {some} steps": poise.measure(algorithm, X, y, n=N).changes[:, 0, 0]
        for some in (50, steps)
        for name, algorithm in contestants(some, only, 32).items()
    }


def main():
    parser, gpu = argparse.ArgumentParser(), torch.cuda.is_available()
    parser.add_argument("--fits", type=int, default=8192 if gpu else 64)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--only", nargs="+", default=["JAX", "eager", "compiled", "ridge"])
    parser.add_argument("--changes", metavar="FILE", help="only write changes to FILE")
    given = parser.parse_args()
    if given.changes:
        np.savez(given.changes, **changes(given.steps, given.only))
        return
    print(torch.cuda.get_device_name() if gpu else "CPU", jax.devices()[0].device_kind, given.fits)
    chosen = contestants(given.steps, given.only).items()
    shown = [speed(name, algorithm, given.fits) for name, algorithm in chosen]
    print(table(["fits", "first call s", "trained fits/s", "whole fits/s"], shown))
    if gpu:
        with TemporaryDirectory() as folder:
            cpu = os.environ | {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
            options = ["--steps", str(given.steps), "--only", *given.only]
            command = [sys.executable, __file__, "--changes", f"{folder}/cpu.npz", *options]
            subprocess.run(command, env=cpu, check=True)
            there = dict(np.load(f"{folder}/cpu.npz"))
        for name, found in changes(given.steps, given.only).items():
            worst = np.abs(found - there[name]).max()
            print(f"{name}: {found.mean():.2g} on average, at most {worst:.1g} from the CPU's")


if __name__ == "__main__":
    main()
