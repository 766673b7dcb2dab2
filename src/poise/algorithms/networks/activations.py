"""Activation functions, and their derivatives as functions of their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["ACTIVATIONS", "SLOPES"]

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "logistic": jax.nn.sigmoid,
}

SLOPES: dict[str, Callable[[Any], Any]] = {
    "relu": lambda value: jnp.where(value > 0, 1.0, 0.0),
    "tanh": lambda value: 1 - value * value,
    "logistic": lambda value: value * (1 - value),
}
