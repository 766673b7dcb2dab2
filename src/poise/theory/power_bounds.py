"""Ceilings on the power of all valid tests (Theorems 2 to 5, section 4.2).

The proofs set traps: a value y* (or x*) that the data never showed makes the
algorithm unstable.  A test that never tries the value cannot tell the trapped
algorithm from the real one, so its power on the real one is limited by its level
on the trapped one:

    power <= α ((1 - δ*) / (1 - δ))^e  (+ the chance that the test does try the value).

Each trap brings its own exponent e, and the ceiling is the lowest that applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.bounded_outputs import ceiling_large_epsilon
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray, IntOrArray

__all__ = ["exponent", "power_bound"]

_SPACES = ("uncountable", "continuous", "countable", "unknown-support")
_MODELS = ("black-box", "transparent", "constrained", "linear")


@dataclass(frozen=True)
class _Trap:
    """One trap for a test: e = rows / size, and the chance that the test finds it."""

    rows: IntOrArray  # of the data, each of which could spring the trap
    size: IntOrArray  # rows of one trial, each of which springs it
    leak: float = 0.0
    spared: bool = False  # whether one more row of a trial may be x* and spring nothing


def power_bound(
    n: ArrayLike,
    n_labeled: ArrayLike,
    n_unlabeled: ArrayLike = 0,
    *,
    delta: ArrayLike,
    delta_star: ArrayLike = 0.0,
    alpha: ArrayLike,
    features: str = "uncountable",
    response: str = "uncountable",
    models: str = "black-box",
    n_feature_values: float | None = None,
    n_response_values: float | None = None,
    train_budget: float | None = None,
    eval_budget: float | None = None,
) -> FloatOrArray:
    """Compute the ceiling on the power of every valid black-box test of stability.

    P(declares stable) <= min{1, α ((1 - δ*) / (1 - δ))^e} for every (ε, δ)-stable triple;
    e is κ in general (Theorem 2; Theorem 5 for independent and coupled randomness, with
    their own δ*), N_ℓ/n if only Y is uncountable or the models are transparent or
    confined to a class (Theorems 3 and 4), (N_ℓ + N_u)/(n + 1) if only X is uncountable,
    and (N_ℓ + N_u)/n if moreover the models are transparent (the proof of Theorem 2 with
    x* among the training rows only, because a test that reads the model would find an x* at
    the test point).  In that last case the exponent is proved for δ* = 0, or if no value of
    X has positive probability (``features="continuous"``); otherwise the test point may be
    x* too, where nothing is known to change, and the ceiling is α x^-(N_ℓ + N_u),
    x^n (1 - x δ*) = 1 - δ.  If δ* > δ the triple is not stable, and the ceiling is α, because the
    test is valid.

    All this is about predictions that can be raised without bound; for labels, probabilities
    and intervals see :func:`poise.theory.which_ceiling`.

    The ceiling is not a promise: the randomised Binomial test reaches it when κ is an integer
    and δ <= 1 - α^(1/κ) or δ* = 0, and may fall short of it elsewhere.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int or array of int, at least 0
        Rows with and without a response.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float or array in [0, 1], default 0
        True probability of a change beyond ε; 0 gives the highest ceiling.
    alpha : float or array in (0, 1)
        Level of the test.
    features, response : {"uncountable", "continuous", "countable", "unknown-support"}
        The spaces of X and Y.  "continuous" is uncountable, with no value of positive
        probability; "countable" means that the support is *known*, so that a
        test could try every value; a discrete variable with unknown support is no easier
        than an uncountable one.
    models : {"black-box", "transparent", "constrained", "linear"}
        What a test sees of a fitted model: its predictions at chosen points, or the
        model itself, possibly known to lie in a class that holds arbitrarily raised
        functions, as linear models do.
    n_feature_values, n_response_values : int or inf, optional
        Sizes ``|X|`` and ``|Y|`` of countable spaces, for a test under a computational budget.
    train_budget, eval_budget : int, optional
        Most rows that the test submits for training and for evaluation, over all calls.
        They add train_budget / ``|Y|``, or (train_budget + eval_budget) / ``|X|``, to a ceiling
        that countable spaces would not have at all without a budget (the paper's own
        coupling argument with a pigeonhole choice of y* or x*).

    Returns
    -------
    float or ndarray of float
        The ceiling, in [0, 1]; 1 if nothing limits the power.

    Examples
    --------
    >>> power_bound(100, 1000, 10, delta=0.1, alpha=0.05)
    0.143398...
    >>> power_bound(100, 1000, delta=0.1, alpha=0.05, features="countable", response="countable")
    1.0
    >>> power_bound(
    ...     100, 1000, delta=0.1, alpha=0.05, features="countable", response="countable",
    ...     n_response_values=2**32, train_budget=10**8,
    ... )
    0.166681...
    """
    arguments.choice("models", models, _MODELS)
    evaluated = eval_budget if models == "black-box" else 0
    traps = _traps(
        arguments.count("n", n, minimum=2),
        arguments.count("n_labeled", n_labeled),
        arguments.count("n_unlabeled", n_unlabeled),
        models,
        _leak("features", features, n_feature_values, train_budget, evaluated),
        _leak("response", response, n_response_values, train_budget, 0),
        features == "continuous",
    )
    allowed, level = arguments.delta(delta), arguments.alpha(alpha)
    truth = arguments.probability("delta_star", delta_star)
    ceiling = np.where(truth <= allowed, 1.0, level)
    for trap in traps:
        ceiling = np.minimum(ceiling, _ceiling(trap, allowed, truth, level))
    shape = np.broadcast_shapes(
        ceiling.shape, np.shape(n), np.shape(n_labeled), np.shape(n_unlabeled)
    )
    return plain(np.broadcast_to(ceiling, shape).copy())


@np.errstate(under="ignore")
def _ceiling(trap: _Trap, allowed: Floats, truth: Floats, level: Floats) -> Floats:
    """Compute α ((1 - δ*) / (1 - δ))^e + leak for a stable triple, α for any other."""
    if trap.spared:
        bound = np.vectorize(ceiling_large_epsilon, otypes=[np.float64])(
            trap.size + 1, trap.rows, allowed, truth, level
        )
        return np.asarray(bound + np.where(truth <= allowed, trap.leak, 0.0))
    with np.errstate(divide="ignore"):
        gain = np.maximum(np.log1p(-truth) - np.log1p(-allowed), 0.0)
    # Beyond the cap only the fact that it is reached matters: exactly 1, and exp would overflow.
    cap = -np.log(level)
    growth = np.minimum(gain * (trap.rows / trap.size), cap)
    bound = np.where(growth < cap, level * np.exp(growth), 1.0)
    ceiling: Floats = bound + np.where(truth <= allowed, trap.leak, 0.0)
    return ceiling


def exponent(
    n: int,
    n_labeled: int,
    n_unlabeled: int = 0,
    *,
    features: str = "uncountable",
    response: str = "uncountable",
    models: str = "black-box",
) -> Fraction | None:
    """Compute the exponent e of the ceiling α ((1 - δ*) / (1 - δ))^e, exactly.

    It says how many trials the data are worth to the best possible test: κ in general
    (Theorem 2), and never less than the number the Binomial test can run.  Where
    ``power_bound`` has no single exponent for all δ*, it is that of δ* = 0.

    Parameters
    ----------
    n : int, at least 2
        Training size whose stability is asked.
    n_labeled, n_unlabeled : int, at least 0
        Rows with and without a response.
    features, response : {"uncountable", "continuous", "countable", "unknown-support"}
        The spaces of X and Y, as for ``power_bound``.
    models : {"black-box", "transparent", "constrained", "linear"}
        What a test sees of a fitted model, as for ``power_bound``.

    Returns
    -------
    fractions.Fraction or None
        e; None if X and Y are countable with known support: nothing limits the power.

    Examples
    --------
    >>> exponent(100, 1000, 5)
    Fraction(1005, 101)
    >>> exponent(100, 1000, 5, models="transparent")
    Fraction(10, 1)
    """
    traps = _traps(
        arguments.training_size(n),
        int(arguments.count("n_labeled", n_labeled)),
        int(arguments.count("n_unlabeled", n_unlabeled)),
        arguments.choice("models", models, _MODELS),
        _leak("features", features, None, None, None),
        _leak("response", response, None, None, None),
        features == "continuous",
    )
    return min((Fraction(trap.rows, trap.size) for trap in traps), default=None)


def _traps(
    n: IntOrArray,
    labeled: IntOrArray,
    unlabeled: IntOrArray,
    models: str,
    x_leak: float | None,
    y_leak: float | None,
    continuous: bool,
) -> list[_Trap]:
    """List the traps that can be set; a leak of None says that there is no place for one."""
    traps = []
    if y_leak is not None:
        traps.append(_Trap(labeled, n, y_leak))
    if x_leak is not None:
        # Sprung by evaluation too, unless the models can be read: then x* would show.
        hidden = models == "black-box"
        size = n + 1 if hidden else n
        traps.append(_Trap(labeled + unlabeled, size, x_leak, not (hidden or continuous)))
    return traps


def _leak(
    name: str, space: str, size: float | None, trained: float | None, evaluated: float | None
) -> float | None:
    """Bound the chance that a test tries the best hidden value; None if it can try them all."""
    arguments.choice(name, space, _SPACES)
    values = "n_feature_values" if name == "features" else "n_response_values"
    if size is None:
        return None if space == "countable" else 0.0
    if space != "countable":
        raise ArgumentError(f"{values} needs {name}='countable', got {name}={space!r}")
    if trained is None or evaluated is None:
        missing = "train_budget" if trained is None else "eval_budget"
        raise ArgumentError(
            f"{values} limits power only with a budget: {missing} must be given, got None"
        )
    tried = int(arguments.count("train_budget", trained)) + int(
        arguments.count("eval_budget", evaluated)
    )
    if not size >= 1:
        raise ArgumentError(f"{values} must be at least 1, got {size}")
    return tried / size
