"""Timing work on a device, and what the device itself can do in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["ceilings", "describe", "seconds"]


def seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of a call whose results are on the device when the clock stops."""
    jax.block_until_ready(run())
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def describe() -> str:
    device = jax.devices()[0]
    return f"JAX {jax.__version__} on {device.platform}: {device.device_kind}"


def ceilings(size: int) -> dict[str, float]:
    """Bytes a second of a copy, and operations a second of products of size³, on random data."""
    numbers = jax.random.normal(jax.random.key(0), (size, size), jnp.float32)
    longer = jnp.tile(numbers.ravel(), 8)
    copy = jax.jit(lambda values: -values)
    rates = {"copy": 2 * longer.nbytes / seconds(lambda: copy(longer))}
    for precision in ("float32", "tensorfloat32"):
        product = jax.jit(lambda a, p=precision: jnp.matmul(a, a, precision=p))
        rates[precision] = 2 * size**3 / seconds(lambda product=product: product(numbers))
    return rates
