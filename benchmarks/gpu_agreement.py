"""The same trials on the accelerator and on the CPU: how far apart are the changes?

    PYTHONPATH=src python benchmarks/gpu_agreement.py

Both compute in float32, but add up in another order, and hundreds of steps of training
enlarge what rounding has begun.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import poise
from gpu_torch import CLASSES, CNN_N, SIDE, D, N, cnn_algorithm, perceptron
from side_by_side import table

__all__ = ["agreement"]

TRIALS = 64
NO_ACCELERATOR = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


def algorithms(steps: int) -> dict[str, Any]:
    network = poise.networks.mlp_regressor(64, steps=steps, standardize=False)
    in_torch = poise.torch_algorithm(perceptron, loss="mse", steps=steps)
    return {f"JAX, {steps} steps": network, f"PyTorch, {steps} steps": in_torch}


def all_changes() -> dict[str, NDArray[np.float64]]:
    """Return the changes of some trials, by algorithm."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((TRIALS * (N + 1), D))
    y = X[:, 0] + rng.standard_normal(len(X))
    found = {
        name: poise.measure(algorithm, X, y, n=N, random_state=0).changes
        for steps in (50, 500)
        for name, algorithm in algorithms(steps).items()
    }
    images = rng.standard_normal((TRIALS * (CNN_N + 1), SIDE**2))
    labels = rng.integers(0, CLASSES, len(images))
    found["CNN, labels"] = poise.measure(
        cnn_algorithm(), images, labels, n=CNN_N, random_state=0
    ).changes
    return found


def on_the_cpu() -> dict[str, NDArray[np.float64]]:
    """Compute the same in a process that sees no accelerator."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "changes.npz")
        command = [sys.executable, __file__, "--write", str(path)]
        subprocess.run(command, env={**os.environ, **NO_ACCELERATOR}, check=True)
        with np.load(path) as archive:
            return dict(archive)


def agreement() -> None:
    """Print how far apart the changes are; a prediction has a spread of about 1."""
    here, there = all_changes(), on_the_cpu()
    rows = []
    for name, changes in here.items():
        apart = np.abs(changes - there[name])
        figures = [f"{value:.1e}" for value in (np.median(changes), np.median(apart), apart.max())]
        rows.append([name, *figures])
    print(f"\nThe same {TRIALS} trials on the accelerator and on the CPU, float32")
    print(table(["algorithm", "median change", "median apart", "largest apart"], rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        np.savez(sys.argv[2], **all_changes())
    else:
        agreement()
