"""Section 4.2, Theorem 2: the ceiling on the power of all valid tests."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from poise import theory
from poise.simulation.paper.claim import Claim, computed, equal, holds
from poise.simulation.paper.effort import Effort
from poise.theory.power_bounds import exponent

__all__ = ["claims"]

_SIZES = list(product((2, 5, 10), (10, 20, 33, 60), (0, 1, 4, 30)))  # (n, N_l, N_u)


def claims(effort: Effort) -> list[Claim]:
    """Check the ceiling, where the Binomial test attains it, and every exponent."""
    return computed(
        "4.2",
        _attained,
        _gaps,
        _exponents,
        _no_ceiling,
        _transparent_gain,
    )


def _attained() -> Claim:
    wrong = cases = 0
    for m, delta, alpha, share in product(range(1, 22), (0.02, 0.1), (0.05, 0.1), (0.0, 0.5, 1.0)):
        if delta <= 1 - alpha ** (1 / m):
            bound = theory.power_bound(
                10, 10 * m, m, delta=delta, delta_star=share * delta, alpha=alpha
            )
            cases += 1
            got = theory.power(m, delta, share * delta, alpha, randomized=True)
            wrong += not np.isclose(got, bound, rtol=1e-9)
    text = "integer kappa, first regime: the Binomial test attains the ceiling"
    return holds("Theorem 2", text, cases, wrong)


def _gaps() -> list[Claim]:
    rows = []
    for m, reached, ceiling in ((22, 0.6430, 0.6511), (30, 0.6816, 1.0)):
        power = theory.power(m, 0.1, 0.02, 0.1, randomized=True)
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
        "4.2, (4.4): only Y uncountable, N_l/n": (
            {"features": "countable"},
            lambda n, lab, unl: Fraction(lab, n),
        ),
        "4.2, (4.5): only X uncountable, (N_l+N_u)/(n+1)": (
            {"response": "countable"},
            lambda n, lab, unl: Fraction(lab + unl, n + 1),
        ),
        "5.1: discrete with unknown support, kappa": (
            {"features": "unknown-support", "response": "unknown-support"},
            lambda n, lab, unl: min(Fraction(lab, n), Fraction(lab + unl, n + 1)),
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
    wrong = 0
    for size in _SIZES:
        seen_through = exponent(size[0], size[1], size[2], models="transparent")
        assert seen_through is not None
        wrong += seen_through > theory.kappa(*size) * Fraction(size[0] + 1, size[0])
    return holds("4.3.1", "kappa_l <= kappa (n+1)/n", len(_SIZES), wrong)
