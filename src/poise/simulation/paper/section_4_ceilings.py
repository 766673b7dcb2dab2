"""Theorems 2 to 4 and section 4.2: what no valid black-box test can exceed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from poise import theory
from poise.simulation.paper.claim import Claim, equal, holds
from poise.simulation.traps import linear_trap
from poise.simulation.traps.linear_models import LinearModel, RaiseConstant, read_linear
from poise.simulation.worlds import GaussianRows, World
from poise.theory.power_bounds import exponent

__all__ = ["claims"]

_SIZES = list(product((2, 5, 10), (10, 20, 33, 60), (0, 1, 4, 30)))  # (n, N_l, N_u)


def claims() -> list[Claim]:
    """Check the ceiling, where the Binomial test attains it, and every exponent."""
    return [
        _attained(),
        *_gaps(),
        *_exponents(),
        _no_ceiling(),
        _transparent_gain(),
        _raised_stays_linear(),
        _trap_stays_linear(),
    ]


def _attained() -> Claim:
    wrong = cases = 0
    for m, delta, alpha, share in product(range(1, 22), (0.02, 0.1), (0.05, 0.1), (0.0, 0.5, 1.0)):
        if delta <= 1 - alpha ** (1 / m):
            bound = theory.power_bound(
                10, 10 * m, m, delta=delta, delta_star=share * delta, alpha=alpha
            )
            cases += 1
            wrong += not np.isclose(theory.power(m, delta, share * delta, alpha), bound, rtol=1e-9)
    text = "integer kappa, first regime: the Binomial test attains the ceiling"
    return holds("Theorem 2", text, cases, wrong)


def _gaps() -> list[Claim]:
    rows = []
    for m, reached, ceiling in ((22, 0.6430, 0.6511), (30, 0.6816, 1.0)):
        power = theory.power(m, 0.1, 0.02, 0.1)
        bound = theory.power_bound(10, 10 * m, m, delta=0.1, delta_star=0.02, alpha=0.1)
        setting = f"delta = alpha = .1, delta* = .02, kappa = {m}"
        rows += [
            equal("3.2", f"{setting}: power of the Binomial test", reached, round(power, 4)),
            equal("3.2", f"{setting}: ceiling", ceiling, round(bound, 4)),
        ]
    return rows


def _exponents() -> list[Claim]:
    """Compare the exponent for each combination of spaces and models."""
    settings: dict[str, tuple[dict[str, str], Callable[[int, int, int], Fraction]]] = {
        "Theorem 2: X and Y uncountable, kappa": (
            {},
            lambda n, lab, unl: min(Fraction(lab, n), Fraction(lab + unl, n + 1)),
        ),
        "4.2: only Y uncountable, N_l/n": (
            {"features": "countable"},
            lambda n, lab, unl: Fraction(lab, n),
        ),
        "4.2: only X uncountable, (N_l+N_u)/(n+1)": (
            {"response": "countable"},
            lambda n, lab, unl: Fraction(lab + unl, n + 1),
        ),
        "Theorem 3: transparent models, N_l/n": (
            {"models": "transparent"},
            lambda n, lab, unl: Fraction(lab, n),
        ),
        "Theorem 4: linear models, N_l/n": (
            {"models": "linear"},
            lambda n, lab, unl: Fraction(lab, n),
        ),
    }
    rows = []
    for name, (setting, formula) in settings.items():
        section, text = name.split(": ")
        wrong = sum(
            exponent(size[0], size[1], size[2], **setting) != formula(*size) for size in _SIZES
        )
        rows.append(holds(section, f"exponent, {text}", len(_SIZES), wrong))
    return rows


def _no_ceiling() -> Claim:
    bound = theory.power_bound(
        10, 10, 1, delta=0.1, alpha=0.05, features="countable", response="countable"
    )
    return equal("4.2", "X and Y countable with known support: no ceiling", 1.0, bound)


def _transparent_gain() -> Claim:
    wrong = sum(
        Fraction(labeled, n) > theory.kappa(n, labeled, unlabeled) * Fraction(n + 1, n)
        for n, labeled, unlabeled in _SIZES
    )
    return holds("4.3", "kappa_l <= kappa (n+1)/n", len(_SIZES), wrong)


def _raised_stays_linear() -> Claim:
    """M(mu_1, ..., mu_m) is linear and exceeds every mu_i by more than t on the ball."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        lines = [LinearModel(rng.normal(size=3), float(rng.normal())) for _ in range(4)]
        if rng.integers(2):  # constant models are linear models too
            lines = [LinearModel(np.zeros(3), line.intercept_) for line in lines]
        raised = _raised(lines, epsilon=0.5, radius=2.0)
        points = rng.normal(size=(500, 3))
        points *= 2.0 * rng.random((500, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
        gap = raised.predict(points) - np.max([line.predict(points) for line in lines], axis=0)
        wrong += bool((gap <= 0.5).any() or np.any(raised.coef_ != 0))
    text = "the class condition: a linear model above every given one by more than t on a ball"
    return holds("Theorem 4", text, 200, wrong)


def _raised(lines: list[LinearModel], epsilon: float, radius: float) -> LinearModel:
    """Raise models exactly as the trap does."""

    class LeftOut:
        models = tuple(line.predict for line in lines)

        class X:
            native = np.zeros((1, 3))

    return read_linear(RaiseConstant(epsilon, radius).over(LeftOut()), 3)  # type: ignore[arg-type]


def _trap_stays_linear() -> Claim:
    from sklearn.linear_model import LinearRegression

    honest = World(LinearRegression(), GaussianRows(n_features=2, slope=1.0), n=6)
    trap = linear_trap(honest, epsilon=0.1, delta=0.95, delta_star=0.5)
    rng = np.random.default_rng(1)
    wrong = 0
    for k in range(20):
        sample = trap.world.draw(rng, 6)
        predict = trap.world.algorithm.fit(sample.X.native, sample.y.native, k)
        try:
            read_linear(predict, 2)
        except Exception:
            wrong += 1
    text = "the perturbed algorithm still returns linear models, sprung or not"
    return holds("Theorem 4, D", text, 20, wrong)
