"""Pure mathematics of black-box stability tests: numbers in, numbers out.

Nothing here fits a model or draws a random number.  Names are loaded when they
are first used, so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "acceptance_probability": "binomial",
    "critical_count": "binomial",
    "critical_count_unstable": "binomial",
    "critical_value": "binomial",
    "delta_hat": "estimates",
    "epsilon_hat": "estimates",
    "exponent": "bounds",
    "kappa": "trials",
    "n_trials": "trials",
    "power": "binomial",
    "power_bound": "bounds",
    "profile_band": "bands",
    "pvalue": "binomial",
    "pvalue_unstable": "binomial",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
