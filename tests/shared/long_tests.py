"""What ``make test-long`` runs and ``make test`` does not, and which test makes the same claim."""

from __future__ import annotations

import pytest

# The names of all tests in the files that were collected as a whole.
COLLECTED = pytest.StashKey[frozenset[str]]()

_AUDIT = "tests/simulation/audit/test_audit.py::test_"
_CLUSTERS = "tests/running/shuffle/test_clusters.py::test_"
_DEATHS = "tests/running/faults/test_worker_death.py::test_"
_FAILURES = "tests/questions/test_failures.py::test_"
_DIGITS = "tests/shortcuts/test_last_digits.py::test_"
_KERNEL = "tests/algorithms/networks/test_networks.py::test_a_kernel_trains_as_the_compiler_does"
_LATE = "tests/algorithms/test_global_state.py::test_a_fit_that_imports_pytorch_finds_its_"
_LATE += "generator_set_and_its_threads_limited"
_LIMITS = "tests/theory/test_averaged_limits.py::test_stable_is_what_the_limits_say_at_any_stopping"
_NETWORKS = "src/poise/algorithms/networks/networks.py::poise.algorithms.networks.networks"
_PROCESSES = "tests/cli/test_processes.py::test_"

# How the names of long tests begin, and the test of `make test` that makes the same claim. A long
# test makes it once more: for a longer run, or in one more place.
_SAME_CLAIM = {
    # One more example of measuring with a network; what it computes is compared with scikit-learn.
    f"{_NETWORKS}.logistic_regression": (
        "tests/algorithms/networks/test_networks.py::test_logistic_regression_is_that_of"
    ),
    # A larger network: sizes that are padded in every direction, and all functions, are in others.
    f"{_KERNEL}[33-": f"{_KERNEL}[37-",
    # The same in two workers, which take four seconds to import PyTorch.
    f"{_LATE}[2": f"{_LATE}[1",
    # With workers; what these import is looked at by itself.
    f"{_PROCESSES}modules_beside_the_data_are_not_run[2": (
        "tests/running/workers/test_module_search.py::test_a_script_elsewhere_with_workers_here"
    ),
    # Another cluster: what follows a death does not depend on it, and how one is noticed is there.
    f"{_DEATHS}a_trial_that_kills_its_worker_is_a_failure[dask": (
        f"{_DEATHS}a_worker_killed_from_outside_costs_nothing[dask"
    ),
    f"{_DEATHS}a_worker_killed_from_outside_costs_nothing[ray": (
        f"{_DEATHS}a_trial_that_kills_its_worker_is_a_failure[ray"
    ),
    # Without journal and early stopping, which can only keep more.
    "tests/running/workers/test_memory_growth.py::test_a_trial_leaves_nothing_in_memory[False": (
        "tests/running/workers/test_memory_growth.py::test_a_trial_leaves_nothing_in_memory[True"
    ),
    # On the other cluster; that Dask ends a late fit at all is shown with rows that are here.
    f"{_CLUSTERS}a_fit_beyond_its_time[dask": f"{_CLUSTERS}a_fit_beyond_its_time[ray",
    # More data whose last digits decide in the same way.
    f"{_DIGITS}digits_that_a_scaler_loses_decide_between_classes[1": (
        f"{_DIGITS}digits_that_a_scaler_loses_decide_between_classes[0"
    ),
    # More worlds, tests and notions that are valid, as others are.
    f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[feature trap": (
        f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[label trap"
    ),
    f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[memorising rows of rarity 0.02": (
        f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[memorising rows of rarity 1"
    ),
    f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[memorising rows of rarity 0.9": (
        f"{_AUDIT}the_whole_test_is_what_it_claims_to_be[memorising rows of rarity 0.1"
    ),
    f"{_AUDIT}heuristics_are_caught_by_the_traps[SimulationTest1": (
        f"{_AUDIT}heuristics_are_caught_by_the_traps[SimulationTest0"
    ),
    f"{_AUDIT}valid_tests_survive_the_traps[BinomialTest1": (
        f"{_AUDIT}valid_tests_survive_the_traps[BinomialTest0"
    ),
    # More random cases.
    **{f"{_LIMITS}_time[{seed}": f"{_LIMITS}_time[0" for seed in (2, 3, 4, 5)},
}

# The names of long tests, each with the tests of `make test` that make its claims.
LONG: dict[str, tuple[str, ...]] = {
    **{name: (test,) for name, test in _SAME_CLAIM.items()},
    # All that can go wrong in one run: each fault by itself, and what the failures count as.
    "tests/running/test_soak.py": (
        f"{_FAILURES}unstable_counts_a_failed_trial_as_an_infinite_change[2-raises",
        f"{_DEATHS}a_fit_beyond_its_time[loky",
        f"{_DEATHS}every_trial_kills_its_worker",  # by os._exit
        f"{_DEATHS}a_trial_that_kills_its_worker_is_a_failure[loky",
        f"{_DEATHS}a_segfault_is_a_failure_too",
        f"{_DEATHS}more_memory_than_there_is[loky",
        f"{_FAILURES}failures_count_against_stable_and_never_for_unstable",
    ),
}
