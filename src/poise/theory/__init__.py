"""Pure mathematics of black-box stability tests: numbers in, numbers out.

Nothing here fits a model or draws a random number.  Names are loaded when they
are first used, so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Curtailment": "sequential",
    "acceptance_martingale": "sequential",
    "acceptance_probability": "binomial",
    "confidence_sequence": "sequential",
    "critical_count": "binomial",
    "critical_count_unstable": "binomial",
    "critical_value": "binomial",
    "cut_offs": "sequential",
    "delta_hat": "estimates",
    "e_value": "sequential",
    "epsilon_hat": "estimates",
    "expected_fraction": "sequential",
    "expected_trials": "sequential",
    "exponent": "bounds",
    "forced_after": "sequential",
    "holm": "multiple",
    "is_forced": "sequential",
    "kappa": "trials",
    "local_level": "bands",
    "log_e_value": "sequential",
    "n_trials": "trials",
    "power": "binomial",
    "power_bound": "bounds",
    "profile_band": "bands",
    "pvalue": "binomial",
    "pvalue_unstable": "binomial",
}

__all__ = [
    "Curtailment",
    "acceptance_martingale",
    "acceptance_probability",
    "confidence_sequence",
    "critical_count",
    "critical_count_unstable",
    "critical_value",
    "cut_offs",
    "delta_hat",
    "e_value",
    "epsilon_hat",
    "expected_fraction",
    "expected_trials",
    "exponent",
    "forced_after",
    "holm",
    "is_forced",
    "kappa",
    "local_level",
    "log_e_value",
    "n_trials",
    "power",
    "power_bound",
    "profile_band",
    "pvalue",
    "pvalue_unstable",
]

if TYPE_CHECKING:
    from poise.theory.bands import local_level, profile_band
    from poise.theory.binomial import (
        acceptance_probability,
        critical_count,
        critical_count_unstable,
        critical_value,
        power,
        pvalue,
        pvalue_unstable,
    )
    from poise.theory.bounds import exponent, power_bound
    from poise.theory.estimates import delta_hat, epsilon_hat
    from poise.theory.multiple import holm
    from poise.theory.sequential import (
        Curtailment,
        acceptance_martingale,
        confidence_sequence,
        cut_offs,
        e_value,
        expected_fraction,
        expected_trials,
        forced_after,
        is_forced,
        log_e_value,
    )
    from poise.theory.trials import kappa, n_trials


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
