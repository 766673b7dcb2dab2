"""Pure mathematics of black-box stability tests: numbers in, numbers out.

Nothing here fits a model or draws a random number.  Names are loaded when they
are first used, so that importing the package stays cheap.

::

    bag_choice          bag size and number of bags that make an algorithm stable, chosen together
    bag_deviation       how far a set of rows can pull an average over bags (for Theorem L)
    bands               simultaneous bands for the whole curve ε ↦ δ̂_ε (beyond the paper)
    binomial_law        the Binomial law itself, good to ten digits where the usual formulas are not
    binomial_test       the Binomial test: critical values, p-values and power (paper §3.1, Theorem
    critical_values     critical counts of one-sided Binomial tests, for whole arrays at once
    curtailment         stopping early without losing the guarantee
    decimals            floors and ceilings of decimal expressions that doubles hold only nearly
    e_process           evidence that may be looked at after every trial
    estimates           inverting the family of tests: δ̂ for a given ε, ε̂ for a given δ (paper §4.
    holm_correction     several tests at once: p-values adjusted so that one error level holds for a
    inflated_argmax     sets of labels that survive small changes of the scores (Theorem M)
    jackknife_coverage  how often jackknife intervals miss if the algorithm is stable (Theorem J)
    near_ties           critical values where the level all but equals a value of the cdf
    number_of_bags      how many random bags are enough: the price of not fitting every bag
    order_statistics    order statistics of very many changes, without a copy of them
    plan_result         what a planned test needs and can do, in numbers and in words
    planning            planning a test before anything is fitted: solve for the one quantity left o
    power_bounds        ceilings on power: what no valid black-box test can exceed (Theorems 2-5, §4
    power_curve         the teeth of the plain test's power, seen as a function of the number of tri
    scalars             scalars in, scalars out; and long arrays a piece at a time
    subbagging          how stable an average over bags is, whatever is bagged (Theorems K and L)
    trials              how many independent trials the data hold
    trials_for_power    numbers of trials at which the power of a test meets a requirement
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "BagChoice": "bag_choice",
    "Curtailment": "curtailment",
    "RuleMiss": "jackknife_coverage",
    "acceptance_martingale": "e_process",
    "acceptance_probability": "binomial_test",
    "bag_count": "subbagging",
    "bag_delta": "subbagging",
    "bag_mad": "bag_deviation",
    "bag_reach": "bag_deviation",
    "bag_trade_off": "bag_choice",
    "bags_needed": "number_of_bags",
    "bags_needed_hoeffding": "number_of_bags",
    "certified_miss": "jackknife_coverage",
    "certified_miss_given_data": "jackknife_coverage",
    "choose_bags": "bag_choice",
    "clipped_delta": "subbagging",
    "confidence_sequence": "e_process",
    "critical_count": "binomial_test",
    "critical_count_unstable": "binomial_test",
    "critical_value": "binomial_test",
    "cut_offs": "curtailment",
    "delta_hat": "estimates",
    "distance_to_winner": "inflated_argmax",
    "e_value": "e_process",
    "epsilon_hat": "estimates",
    "expected_fraction": "curtailment",
    "expected_trials": "curtailment",
    "exponent": "power_bounds",
    "finite_bag_delta": "number_of_bags",
    "forced_after": "curtailment",
    "holm": "holm_correction",
    "inflated_mask": "inflated_argmax",
    "inflated_top": "inflated_argmax",
    "is_forced": "curtailment",
    "jackknife_miss": "jackknife_coverage",
    "kappa": "trials",
    "largest_admissible_bag": "subbagging",
    "largest_bag": "subbagging",
    "local_level": "bands",
    "log_e_value": "e_process",
    "n_trials": "trials",
    "power": "binomial_test",
    "power_bound": "power_bounds",
    "probability_width": "subbagging",
    "profile_band": "bands",
    "pvalue": "binomial_test",
    "pvalue_unstable": "binomial_test",
    "residual_quantile": "jackknife_coverage",
    "residual_rank": "jackknife_coverage",
    "rule_miss": "jackknife_coverage",
}

__all__ = [
    "BagChoice",
    "Curtailment",
    "RuleMiss",
    "acceptance_martingale",
    "acceptance_probability",
    "bag_count",
    "bag_delta",
    "bag_mad",
    "bag_reach",
    "bag_trade_off",
    "bags_needed",
    "bags_needed_hoeffding",
    "certified_miss",
    "certified_miss_given_data",
    "choose_bags",
    "clipped_delta",
    "confidence_sequence",
    "critical_count",
    "critical_count_unstable",
    "critical_value",
    "cut_offs",
    "delta_hat",
    "distance_to_winner",
    "e_value",
    "epsilon_hat",
    "expected_fraction",
    "expected_trials",
    "exponent",
    "finite_bag_delta",
    "forced_after",
    "holm",
    "inflated_mask",
    "inflated_top",
    "is_forced",
    "jackknife_miss",
    "kappa",
    "largest_admissible_bag",
    "largest_bag",
    "local_level",
    "log_e_value",
    "n_trials",
    "power",
    "power_bound",
    "probability_width",
    "profile_band",
    "pvalue",
    "pvalue_unstable",
    "residual_quantile",
    "residual_rank",
    "rule_miss",
]

if TYPE_CHECKING:
    from poise.theory.bag_choice import BagChoice, bag_trade_off, choose_bags
    from poise.theory.bag_deviation import bag_mad, bag_reach
    from poise.theory.bands import local_level, profile_band
    from poise.theory.binomial_test import (
        acceptance_probability,
        critical_count,
        critical_count_unstable,
        critical_value,
        power,
        pvalue,
        pvalue_unstable,
    )
    from poise.theory.curtailment import (
        Curtailment,
        cut_offs,
        expected_fraction,
        expected_trials,
        forced_after,
        is_forced,
    )
    from poise.theory.e_process import (
        acceptance_martingale,
        confidence_sequence,
        e_value,
        log_e_value,
    )
    from poise.theory.estimates import delta_hat, epsilon_hat
    from poise.theory.holm_correction import holm
    from poise.theory.inflated_argmax import distance_to_winner, inflated_mask, inflated_top
    from poise.theory.jackknife_coverage import (
        RuleMiss,
        certified_miss,
        certified_miss_given_data,
        jackknife_miss,
        residual_quantile,
        residual_rank,
        rule_miss,
    )
    from poise.theory.number_of_bags import bags_needed, bags_needed_hoeffding, finite_bag_delta
    from poise.theory.power_bounds import exponent, power_bound
    from poise.theory.subbagging import (
        bag_count,
        bag_delta,
        clipped_delta,
        largest_admissible_bag,
        largest_bag,
        probability_width,
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
