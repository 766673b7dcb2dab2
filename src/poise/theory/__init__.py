"""Pure mathematics of black-box stability tests: numbers in, numbers out.

Nothing here fits a model or draws a random number.  Names are loaded when they
are first used, so that importing the package stays cheap.

::

    alpha_investing_levels   levels of successive tests on fresh rows; verdicts pay for later ones
    anytime_limits           limits for δ* that hold at all times together, for a growing record
    averaged_design          the averaged test's design: which rows and fits each trial gets
    averaged_estimates       estimates δ̂ and ε̂ by the averaged test, and its profile
    averaged_limits          upper limits δ̂ and ε̂ that go with the averaged test's verdict
    averaged_lower_limits    lower limits of the averaged test for the probability of a change
    averaged_planning        planning the averaged test: when it helps, and how many trials it needs
    averaged_power_estimate  the averaged test's power, estimated before anything is measured
    averaged_test            the averaged test: trials that answer with a share instead of yes or no
    bag_choice               the size and number of bags that make an algorithm (ε, δ)-stable
    bag_deviation            how far some rows can move an average over bags
    bags_by_chernoff         how many random bags are enough, by Theorem L and Chernoff's inequality
    bands                    simultaneous bands for the whole curve ε ↦ δ̂_ε (beyond the paper)
    betting_fraction         how much the averaged test bets at each trial
    betting_process          the averaged test's two betting processes: hedge and mirror
    binomial_law             the Binomial distribution, accurate to ten digits also in its tails
    binomial_test            the Binomial test: p-values and power (section 3.1, Theorem 1)
    bounded_outputs          ceilings on power where the outputs are bounded (Theorem H)
    clean_trials             the trials that certify δ if none of them shows a large change
    critical_values          critical counts of one-sided Binomial tests, for whole arrays at once
    decimals                 floors and ceilings of decimal numbers that doubles represent inexactly
    decision                 the decision rule: which verdict follows from which count
    e_process                E-processes: evidence that may be examined after every trial
    e_values                 several tests at once by their e-values
    early_stopping           early stopping that keeps the guarantee (curtailment)
    estimates                estimates δ̂ for a given ε and ε̂ for a given δ (section 4.1)
    evidence_portfolio       a mixture of the hedge with a fixed horizon and an open-ended process
    exceedance_shares        shares of changes beyond ε: what the averaged test reads off each trial
    finite_responses         finite responses: training rows may lack their response (Theorem G)
    holm_correction          several tests at once: Holm's adjusted p-values
    inflated_argmax          the inflated argmax: sets of labels that change little with the scores
    jackknife_coverage       the coverage of jackknife intervals of a stable algorithm (Theorem J)
    lower_limits             lower and two-sided limits for δ and ε
    many_hedges              many hedges side by side: the averaged test at many δ or many ε at once
    near_ties                critical values where the level almost equals a value of the cdf
    number_of_bags           how many random bags are enough, by Theorem K
    number_of_trials         how many independent trials the data hold
    online_levels            levels of tests that are made one after the other, without a last one
    open_ended_process       evidence without a horizon: the open-ended process on shares
    open_ended_test          a three-way verdict without a horizon, however often one looks
    order_statistics         order statistics of very many changes, without a copy of them
    plan_request             the arguments of a plan, checked, and what follows from them
    plan_side_by_side        the Binomial and the averaged test side by side: what each needs
    planned_test             a test that was planned: what was given, the answer, and what follows
    planning                 planning a test: solve for the one quantity that is not given
    poisson_binomial         the Binomial test averaged over its randomness: a sum of unequal coins
    power_bounds             ceilings on the power of all valid tests (Theorems 2 to 5, section 4.2)
    power_curve              the plain test's power as a function of the number of trials
    question_menu            which questions a number of rows can answer, at many training sizes
    random_splits            several random splits of the same rows, and one verdict
    repeated_testing         the true level of a fixed-size test that is repeated
    restricted_profile       a band for the curve ε ↦ δ̂_ε that is computed only where δ̂ is small
    rounding                 how much rounding comparisons grant, and when it decides nothing
    rows_per_trial           how many rows one trial uses, also in variants of the paper's setting
    scalars                  functions that take scalars or arrays, and treat long arrays in pieces
    subbagging               how stable an average over bags is, whatever is bagged (Theorems K, L)
    tolerated_share          trials that may exceed ε in a tolerated share γ of their changes
    trials_for_power         numbers of trials at which the power of a test meets a requirement
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.arguments.lazy_names import imported_name

_HOME = {
    "AveragedProfile": "averaged_estimates",
    "AveragedTest": "averaged_test",
    "BagChoice": "bag_choice",
    "BettingPath": "betting_process",
    "Curtailment": "early_stopping",
    "DecisionRule": "decision",
    "Hedge": "betting_process",
    "LimitsOverTime": "anytime_limits",
    "Mirror": "betting_process",
    "OpenEnded": "open_ended_process",
    "OpenEndedTest": "open_ended_test",
    "Portfolio": "evidence_portfolio",
    "RestrictedBand": "restricted_profile",
    "RuleMiss": "jackknife_coverage",
    "StoppedVerdict": "averaged_test",
    "acceptance_martingale": "e_process",
    "acceptance_probability": "binomial_test",
    "all_in": "betting_process",
    "all_in_delta_hat": "averaged_limits",
    "alpha_investing": "alpha_investing_levels",
    "average_e_values": "e_values",
    "averaged_power": "averaged_power_estimate",
    "averaged_profile": "averaged_estimates",
    "bag_count": "subbagging",
    "bag_delta": "subbagging",
    "bag_mad": "bag_deviation",
    "bag_reach": "bag_deviation",
    "bag_trade_off": "bag_choice",
    "bags_needed": "number_of_bags",
    "bags_needed_chernoff": "bags_by_chernoff",
    "ceiling_large_epsilon": "bounded_outputs",
    "certified_miss": "jackknife_coverage",
    "certified_miss_given_data": "jackknife_coverage",
    "choose_bags": "bag_choice",
    "clipped_delta": "subbagging",
    "confidence_sequence": "e_process",
    "critical_count": "binomial_test",
    "critical_count_unstable": "binomial_test",
    "critical_share": "averaged_planning",
    "critical_value": "binomial_test",
    "cut_offs": "decision",
    "delta_hat": "estimates",
    "delta_hat_common": "averaged_limits",
    "delta_hat_grid": "averaged_estimates",
    "delta_interval": "lower_limits",
    "delta_interval_common": "averaged_lower_limits",
    "delta_lower": "lower_limits",
    "delta_lower_common": "averaged_lower_limits",
    "delta_lower_grid": "averaged_lower_limits",
    "delta_hat_to_print": "averaged_limits",
    "distance_to_winner": "inflated_argmax",
    "e_bh": "e_values",
    "e_value": "e_process",
    "epsilon_hat": "estimates",
    "epsilon_hat_common": "averaged_limits",
    "epsilon_hat_scan": "averaged_estimates",
    "epsilon_lower": "lower_limits",
    "epsilon_lower_common": "averaged_lower_limits",
    "epsilon_lower_scan": "averaged_lower_limits",
    "expected_fraction": "early_stopping",
    "expected_trials": "early_stopping",
    "exponent": "power_bounds",
    "finite_bag_delta": "number_of_bags",
    "fits_per_trial": "averaged_design",
    "forced_after": "early_stopping",
    "fraction": "betting_fraction",
    "hedge": "betting_process",
    "holm": "holm_correction",
    "holm_e_values": "e_values",
    "in_fixed_order": "e_values",
    "inflated_mask": "inflated_argmax",
    "inflated_top": "inflated_argmax",
    "is_forced": "early_stopping",
    "jackknife_delta": "jackknife_coverage",
    "jackknife_miss": "jackknife_coverage",
    "jackknife_plus_ends": "jackknife_coverage",
    "kappa": "number_of_trials",
    "labelling_fits": "finite_responses",
    "largest_admissible_bag": "subbagging",
    "largest_bag": "subbagging",
    "largest_change_over_labels": "finite_responses",
    "limits_over_time": "anytime_limits",
    "local_level": "bands",
    "log_e_value": "e_process",
    "mirror": "betting_process",
    "mirror_fraction": "betting_fraction",
    "mirror_mixture": "open_ended_test",
    "mixture": "open_ended_process",
    "mixture_delta_hat": "open_ended_process",
    "multiply_e_values": "e_values",
    "n_trials": "number_of_trials",
    "online_fallback": "online_levels",
    "open_ended_verdict": "open_ended_test",
    "order_cover": "restricted_profile",
    "portfolio": "evidence_portfolio",
    "power": "binomial_test",
    "power_bound": "power_bounds",
    "probability_width": "subbagging",
    "profile_band": "bands",
    "pvalue": "binomial_test",
    "pvalue_unstable": "binomial_test",
    "rao_blackwell": "poisson_binomial",
    "repeated_looks": "repeated_testing",
    "residual_quantile": "jackknife_coverage",
    "residual_rank": "jackknife_coverage",
    "restricted_band": "restricted_profile",
    "restricted_limits": "restricted_profile",
    "restricted_size": "restricted_profile",
    "rule_miss": "jackknife_coverage",
    "share_ceiling": "averaged_planning",
    "shares": "exceedance_shares",
    "spare_points": "averaged_design",
    "spread": "averaged_planning",
    "stable_on_all": "e_values",
    "test_row": "averaged_design",
    "trials_for_averaging": "averaged_planning",
    "trials_missing": "finite_responses",
    "trials_with_spread": "averaged_planning",
    "verdict": "averaged_test",
    "vote": "random_splits",
    "which_ceiling": "bounded_outputs",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from poise.theory.alpha_investing_levels import alpha_investing as alpha_investing
    from poise.theory.anytime_limits import (
        LimitsOverTime as LimitsOverTime,
        limits_over_time as limits_over_time,
    )
    from poise.theory.averaged_design import (
        fits_per_trial as fits_per_trial,
        spare_points as spare_points,
        test_row as test_row,
    )
    from poise.theory.averaged_estimates import (
        AveragedProfile as AveragedProfile,
        averaged_profile as averaged_profile,
        delta_hat_grid as delta_hat_grid,
        epsilon_hat_scan as epsilon_hat_scan,
    )
    from poise.theory.averaged_limits import (
        all_in_delta_hat as all_in_delta_hat,
        delta_hat_common as delta_hat_common,
        delta_hat_to_print as delta_hat_to_print,
        epsilon_hat_common as epsilon_hat_common,
    )
    from poise.theory.averaged_lower_limits import (
        delta_interval_common as delta_interval_common,
        delta_lower_common as delta_lower_common,
        delta_lower_grid as delta_lower_grid,
        epsilon_lower_common as epsilon_lower_common,
        epsilon_lower_scan as epsilon_lower_scan,
    )
    from poise.theory.averaged_planning import (
        critical_share as critical_share,
        share_ceiling as share_ceiling,
        spread as spread,
        trials_for_averaging as trials_for_averaging,
        trials_with_spread as trials_with_spread,
    )
    from poise.theory.averaged_power_estimate import averaged_power as averaged_power
    from poise.theory.averaged_test import (
        AveragedTest as AveragedTest,
        StoppedVerdict as StoppedVerdict,
        verdict as verdict,
    )
    from poise.theory.bag_choice import (
        BagChoice as BagChoice,
        bag_trade_off as bag_trade_off,
        choose_bags as choose_bags,
    )
    from poise.theory.bag_deviation import bag_mad as bag_mad, bag_reach as bag_reach
    from poise.theory.bags_by_chernoff import bags_needed_chernoff as bags_needed_chernoff
    from poise.theory.bands import local_level as local_level, profile_band as profile_band
    from poise.theory.betting_fraction import (
        fraction as fraction,
        mirror_fraction as mirror_fraction,
    )
    from poise.theory.betting_process import (
        BettingPath as BettingPath,
        Hedge as Hedge,
        Mirror as Mirror,
        all_in as all_in,
        hedge as hedge,
        mirror as mirror,
    )
    from poise.theory.binomial_test import (
        acceptance_probability as acceptance_probability,
        critical_count as critical_count,
        critical_count_unstable as critical_count_unstable,
        critical_value as critical_value,
        power as power,
        pvalue as pvalue,
        pvalue_unstable as pvalue_unstable,
    )
    from poise.theory.bounded_outputs import (
        ceiling_large_epsilon as ceiling_large_epsilon,
        which_ceiling as which_ceiling,
    )
    from poise.theory.decision import DecisionRule as DecisionRule, cut_offs as cut_offs
    from poise.theory.e_process import (
        acceptance_martingale as acceptance_martingale,
        confidence_sequence as confidence_sequence,
        e_value as e_value,
        log_e_value as log_e_value,
    )
    from poise.theory.e_values import (
        average_e_values as average_e_values,
        e_bh as e_bh,
        holm_e_values as holm_e_values,
        in_fixed_order as in_fixed_order,
        multiply_e_values as multiply_e_values,
        stable_on_all as stable_on_all,
    )
    from poise.theory.early_stopping import (
        Curtailment as Curtailment,
        expected_fraction as expected_fraction,
        expected_trials as expected_trials,
        forced_after as forced_after,
        is_forced as is_forced,
    )
    from poise.theory.estimates import delta_hat as delta_hat, epsilon_hat as epsilon_hat
    from poise.theory.evidence_portfolio import Portfolio as Portfolio, portfolio as portfolio
    from poise.theory.exceedance_shares import shares as shares
    from poise.theory.finite_responses import (
        labelling_fits as labelling_fits,
        largest_change_over_labels as largest_change_over_labels,
        trials_missing as trials_missing,
    )
    from poise.theory.holm_correction import holm as holm
    from poise.theory.inflated_argmax import (
        distance_to_winner as distance_to_winner,
        inflated_mask as inflated_mask,
        inflated_top as inflated_top,
    )
    from poise.theory.jackknife_coverage import (
        RuleMiss as RuleMiss,
        certified_miss as certified_miss,
        certified_miss_given_data as certified_miss_given_data,
        jackknife_delta as jackknife_delta,
        jackknife_miss as jackknife_miss,
        jackknife_plus_ends as jackknife_plus_ends,
        residual_quantile as residual_quantile,
        residual_rank as residual_rank,
        rule_miss as rule_miss,
    )
    from poise.theory.lower_limits import (
        delta_interval as delta_interval,
        delta_lower as delta_lower,
        epsilon_lower as epsilon_lower,
    )
    from poise.theory.number_of_bags import (
        bags_needed as bags_needed,
        finite_bag_delta as finite_bag_delta,
    )
    from poise.theory.online_levels import online_fallback as online_fallback
    from poise.theory.open_ended_process import (
        OpenEnded as OpenEnded,
        mixture as mixture,
        mixture_delta_hat as mixture_delta_hat,
    )
    from poise.theory.open_ended_test import (
        OpenEndedTest as OpenEndedTest,
        mirror_mixture as mirror_mixture,
        open_ended_verdict as open_ended_verdict,
    )
    from poise.theory.poisson_binomial import rao_blackwell as rao_blackwell
    from poise.theory.power_bounds import exponent as exponent, power_bound as power_bound
    from poise.theory.random_splits import vote as vote
    from poise.theory.repeated_testing import repeated_looks as repeated_looks
    from poise.theory.restricted_profile import (
        RestrictedBand as RestrictedBand,
        order_cover as order_cover,
        restricted_band as restricted_band,
        restricted_limits as restricted_limits,
        restricted_size as restricted_size,
    )
    from poise.theory.subbagging import (
        bag_count as bag_count,
        bag_delta as bag_delta,
        clipped_delta as clipped_delta,
        largest_admissible_bag as largest_admissible_bag,
        largest_bag as largest_bag,
        probability_width as probability_width,
    )
    from poise.theory.number_of_trials import kappa as kappa, n_trials as n_trials


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    return imported_name(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
