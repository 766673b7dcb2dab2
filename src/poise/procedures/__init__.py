"""Black-box tests (Definition 2), each a generator that yields questions.

Names are loaded when they are first used, so that importing one procedure does
not pay for the others.

::

    adaptive             a test that learns from earlier stages where the algorithm is least stable
    averaged             the averaged test as a black-box procedure: trials that answer with a share
    binomial             the Binomial test (Example 1, Theorem 1) as a black-box procedure
    bootstrap            the bootstrapped-sample test (Example 2)
    checked_question     the question of a test of stability: n, ε, δ, α, checked when it is made
    compare_predictions  the change between the predictions of two queries
    conditional_changes  the fits of data-conditional stability: one training set, and fresh rows
    disjoint_trials      trials that share no row, in one batch, to test or to measure
    estimated_laws       estimates P̂ of the law of a row, from which rows are drawn (Example 3)
    exhaustive           exhaustive search of a finite, known support (sections 4.2 and 5.1)
    exploration          random comparisons that find the rows and regions of large changes
    explore_then_test    explore some of the data, test on the rest: adaptive and still valid
    linear_smoother      a test with unlabelled training rows, if predictions are linear in Y
    missing_responses    the split into trials whose training rows may lack their response
    part_of_sample       run a procedure on some of the rows, and keep the others for other uses
    search_space         every training set that a finite, known support allows, as queries
    simulated_sample     the simulated-sample test (Example 3)
    split_of_blocks      the split of the averaged test for groups, blocks of rows, and replacement
    split_of_groups      the split for groups, for the removal of several rows, and for replacement
    split_of_removals    the split of the averaged test: several removals and test points per trial
    split_of_rows        the paper's split: as many trials as possible that share no row
    transparent          a test that reads the fitted models, for linear models (Definition 3)
    trial_setup          what one trial is: how many rows it trains on, and how its two fits differ
    worst_labelling      a test with unlabelled training rows, if Y is finite and known
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.arguments.lazy_names import imported_name

_HOME = {
    "AdaptiveTest": "adaptive",
    "AveragedTest": "averaged",
    "BinomialTest": "binomial",
    "BootstrapTest": "bootstrap",
    "ExhaustiveTest": "exhaustive",
    "ExploreThenTest": "explore_then_test",
    "LinearSmootherTest": "linear_smoother",
    "MeasureChanges": "binomial",
    "SimulationTest": "simulated_sample",
    "TransparentLinearTest": "transparent",
    "WorstLabellingTest": "worst_labelling",
}

__all__ = [
    "AdaptiveTest",
    "AveragedTest",
    "BinomialTest",
    "BootstrapTest",
    "ExhaustiveTest",
    "ExploreThenTest",
    "LinearSmootherTest",
    "MeasureChanges",
    "SimulationTest",
    "TransparentLinearTest",
    "WorstLabellingTest",
]

if TYPE_CHECKING:
    from poise.procedures.adaptive import AdaptiveTest
    from poise.procedures.averaged import AveragedTest
    from poise.procedures.binomial import BinomialTest, MeasureChanges
    from poise.procedures.bootstrap import BootstrapTest
    from poise.procedures.exhaustive import ExhaustiveTest
    from poise.procedures.explore_then_test import ExploreThenTest
    from poise.procedures.linear_smoother import LinearSmootherTest
    from poise.procedures.simulated_sample import SimulationTest
    from poise.procedures.transparent import TransparentLinearTest
    from poise.procedures.worst_labelling import WorstLabellingTest


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    return imported_name(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
