"""The mathematics of poise, as functions of numbers and arrays; nothing here fits a model."""

from importlib import import_module
from typing import Any

_NAMES = {
    "binomial": "acceptance_probability critical_count critical_count_unstable critical_value "
    "power pvalue pvalue_unstable",
    "limits": "delta_hat delta_lower epsilon_hat epsilon_lower",
    "martingales": "all_in fraction hedge mirror",
    "averaged": "averaged_delta_hat averaged_delta_lower averaged_epsilon_hat "
    "averaged_pvalue averaged_pvalue_unstable verdict",
    "bands": "profile_band restricted_band restricted_limits",
    "anytime": "e_bh holm mixture mixture_delta_hat open_ended rejected_by_holm repeated_looks",
    "counts": "clean_trials fits_per_trial kappa n_trials rows_for size_for "
    "spare_points test_row trials trials_for_averaging trials_missing",
    "planning": "menu",
    "ceilings": "averaged_power ceiling_large_epsilon critical_share power_bound share_ceiling "
    "spread trials_with_spread",
    "jackknife": "certified_miss jackknife_miss jackknife_plus_ends residual_quantile",
    "bagging": "bag_count bag_delta bag_reach distance_to_winner inflated_mask inflated_top "
    "largest_bag",
    "random_bags": "bags_needed choose_bags",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'poise.theory' has no attribute {name!r}")
    return getattr(import_module(f"poise.theory.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
