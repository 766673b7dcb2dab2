"""Activation functions, and their derivatives as functions of their values."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

__all__ = ["ACTIVATIONS", "SLOPES"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "logistic": jax.nn.sigmoid,
}

SLOPES: dict[str, Callable[[Array], Array]] = {
    "relu": lambda value: jnp.where(value > 0, 1.0, 0.0),
    "tanh": lambda value: 1 - value * value,
    "logistic": lambda value: value * (1 - value),
}
