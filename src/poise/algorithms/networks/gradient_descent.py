"""Minimise a smooth convex function, by Newton's rule or by L-BFGS.

Newton's rule solves with the Hessian; L-BFGS (Liu & Nocedal, 1989) estimates it from
the last few steps. Both halve a step until the function decreases enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

__all__ = ["RULES", "lbfgs", "minimum", "newton"]

_HALVINGS = 20
_SUFFICIENT = 1e-4  # the share of the decrease predicted by the gradient that a step must reach
_REMEMBERED = 10  # steps from which L-BFGS estimates the curvature

Objective: TypeAlias = Callable[[Array], Array]
Memory: TypeAlias = tuple[Array, ...]
Rule: TypeAlias = Callable[[Array, Array, Memory], tuple[Array, Memory]]
"""(point, gradient, memory) -> (step, memory)"""

MakeRule: TypeAlias = Callable[[Objective, Array], tuple[Rule, Memory]]
State: TypeAlias = tuple[Array, Memory, Array, Array, Array]
"""Point, memory of the rule, steps done, decrease promised by the last one, value."""


def minimum(objective: Objective, start: Array, make_rule: MakeRule, steps: int) -> Array:
    """Return the minimiser of a convex function, to rounding or after ``steps`` steps.

    Examples
    --------
    >>> bowl = lambda p: jnp.sum(jnp.array([1.0, 10.0]) * (p - 2.0) ** 2)
    >>> minimum(bowl, jnp.zeros(2), newton, steps=20).round(4).tolist()
    [2.0, 2.0]
    >>> minimum(bowl, jnp.zeros(2), lbfgs, steps=50).round(3).tolist()
    [2.0, 2.0]
    """
    rule, memory = make_rule(objective, start)
    rounding = np.finfo(start.dtype).eps

    def going(state: State) -> Array:
        _, _, done, promised, value = state
        smallest = rounding * jnp.maximum(1.0, jnp.abs(value))
        return jnp.logical_and(done < steps, promised > smallest)

    def advance(state: State) -> State:
        point, memory, done, _, _ = state
        value, gradient = jax.value_and_grad(objective)(point)
        step, memory = rule(point, gradient, memory)
        promised = -gradient @ step
        point = point + _step_length(objective, point, step, value, promised) * step
        return point, memory, done + 1, promised, value

    state = (start, memory, jnp.asarray(0), jnp.asarray(jnp.inf, start.dtype), objective(start))
    return jax.lax.while_loop(going, advance, state)[0]


def _step_length(
    objective: Objective, point: Array, step: Array, value: Array, promised: Array
) -> Array:
    """Return the first of 1, ½, ¼, … that decreases enough (Armijo), up to rounding."""
    lengths = 0.5 ** jnp.arange(_HALVINGS, dtype=point.dtype)
    values = jax.vmap(lambda length: objective(point + length * step))(lengths)
    forgiven = 10 * np.finfo(point.dtype).eps * jnp.maximum(1.0, jnp.abs(value))
    enough = values <= value - _SUFFICIENT * lengths * promised + forgiven
    return lengths[jnp.argmax(enough.at[-1].set(True))]


def newton(objective: Objective, start: Array) -> tuple[Rule, Memory]:
    """Step to the minimum of the local quadratic approximation."""
    hessian = jax.hessian(objective)

    def rule(point: Array, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        factor = jax.scipy.linalg.cho_factor(hessian(point))
        return -jax.scipy.linalg.cho_solve(factor, gradient), memory

    return rule, ()


def lbfgs(objective: Objective, start: Array) -> tuple[Rule, Memory]:
    """Step against the gradient, corrected by the curvature of the last few steps."""
    nothing = jnp.zeros((_REMEMBERED, len(start)), start.dtype)

    def rule(point: Array, gradient: Array, memory: Memory) -> tuple[Array, Memory]:
        moves, turns, last_point, last_gradient = memory
        moves = jnp.roll(moves, 1, axis=0).at[0].set(point - last_point)
        turns = jnp.roll(turns, 1, axis=0).at[0].set(gradient - last_gradient)
        step = -_bent(gradient, moves, turns)
        return step, (moves, turns, point, gradient)

    return rule, (nothing, nothing, start, jax.grad(objective)(start))


def _bent(gradient: Array, moves: Array, turns: Array) -> Array:
    """Multiply by the estimated inverse Hessian: the two-loop recursion, newest step first."""
    curvature = jnp.sum(moves * turns, axis=1)
    known = curvature > 0
    weights = jnp.where(known, 1 / jnp.where(known, curvature, 1.0), 0.0)

    def backward(vector: Array, pair: Memory) -> tuple[Array, Array]:
        move, turn, weight = pair
        share = weight * (move @ vector)
        return vector - share * turn, share

    def forward(vector: Array, pair: Memory) -> tuple[Array, None]:
        move, turn, weight, share = pair
        return vector + (share - weight * (turn @ vector)) * move, None

    vector, shares = jax.lax.scan(backward, gradient, (moves, turns, weights))
    size = turns[0] @ turns[0]
    # Before any curvature is known, the first step has length one.
    plain = 1 / jnp.maximum(1.0, jnp.linalg.norm(gradient))
    vector = vector * jnp.where(known[0], curvature[0] / jnp.where(size > 0, size, 1.0), plain)
    return jax.lax.scan(forward, vector, (moves, turns, weights, shares), reverse=True)[0]


RULES: dict[str, MakeRule] = {"newton": newton, "lbfgs": lbfgs}
