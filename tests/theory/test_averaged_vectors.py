"""Reference values of the averaged test and what belongs to it, computed elsewhere at 50 digits.

Values agree to a relative error of 1e-9, decisions exactly. Each function is called with
the names of the vectors.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "beyond.json").read_text())[
    "cases"
]

HOME = {
    "trials": "averaged_design",
    "test_row": "averaged_design",
    "fits_per_trial": "averaged_design",
    "fraction": "betting_fraction",
    "hedge": "betting_process",
    "mirror": "betting_process",
    "all_in": "betting_process",
    "verdict": "averaged_test",
    "all_in_delta_hat": "averaged_limits",
    "delta_hat_common": "averaged_limits",
    "delta_hat_grid": "averaged_estimates",
    "epsilon_hat_scan": "averaged_estimates",
    "rao_blackwell": "poisson_binomial",
    "critical_share": "averaged_planning",
    "trials_for_averaging": "averaged_planning",
    "spread": "averaged_planning",
    "trials_with_spread": "averaged_planning",
    "mixture": "open_ended_process",
    "mixture_delta_hat": "open_ended_process",
    "repeated_looks": "repeated_testing",
    "e_bh": "e_values",
    "holm": "e_values",
    "trials_missing": "finite_responses",
    "ceiling_large_epsilon": "bounded_outputs",
    "restricted_band": "restricted_profile",
    "vote": "random_splits",
}

RENAMED = {"holm": "rejected_by_holm"}  # what a vector calls otherwise than the module

SECTIONS = {"1.1", "1.3", "1.4", "1.5", "1.6", "1.7", "2", "3", "7", "8"}

# These two hold only the trials up to the stop of a longer plan: trials given -> planned.
CUT_AT_THE_STOP = {("delta_hat_common", 19): 20, ("delta_hat_common", 29): 35}


def call(function: str, given: dict[str, Any]) -> Any:
    module = importlib.import_module(f"poise.theory.{HOME[function]}")
    planned = CUT_AT_THE_STOP.get((function, len(given.get("S", ()))))
    extra = {} if planned is None else {"n_trials": planned}
    return getattr(module, RENAMED.get(function, function))(**given, **extra)


def agrees(got: Any, exact: Any) -> bool:
    """Compare numbers given as text to nine digits, anything else exactly."""
    if isinstance(exact, dict):
        return all(agrees(getattr(got, name), value) for name, value in exact.items())
    if isinstance(exact, list) and exact and isinstance(exact[0], str):
        return agrees_as_a_path(np.asarray(got, dtype=float), np.array(exact, dtype=float))
    if isinstance(exact, str) and exact not in ("stable", "unstable", "inconclusive"):
        return bool(got == pytest.approx(float(exact), rel=1e-9, abs=0))
    if isinstance(exact, list):
        return list(got) == exact
    return type(got) is type(exact) and got == exact


def agrees_as_a_path(got: np.ndarray, exact: np.ndarray) -> bool:
    """What was left at 1e-50 by rounding at 50 digits is 0; a process at 0 has stopped."""
    exact = np.where(np.abs(exact) < 1e-50, 0.0, exact)
    if got.size < exact.size:
        return dead_from(exact, got.size - 1) and agrees_as_a_path(got, exact[: got.size])
    return got.size == exact.size and np.allclose(got, exact, rtol=1e-9, atol=0)


def dead_from(values: np.ndarray, trial: int) -> bool:
    """Whether a path is 0 from a trial on; its fractions are then 1."""
    return bool((values[trial:] == 0).all() or (values[trial:] == 1).all())


def name_of(case: dict[str, Any]) -> str:
    return f"{case['section']}-{case['function']}"


@pytest.mark.parametrize("case", [c for c in CASES if c["section"] in SECTIONS], ids=name_of)
def test_reference_value(case) -> None:
    assert agrees(call(case["function"], case["given"]), case["value"])


def test_nothing_is_left_out() -> None:
    tested = [case for case in CASES if case["section"] in SECTIONS]
    assert {case["function"] for case in tested} == set(HOME)
    assert len(tested) == 407


def test_many_fractions_at_once_are_the_same() -> None:
    from poise.theory import fraction

    cases = [case for case in CASES if case["function"] == "fraction"]
    columns = {name: [case["given"][name] for case in cases] for name in cases[0]["given"]}
    exact = [float(case["value"]) for case in cases]
    np.testing.assert_allclose(fraction(**columns), exact, rtol=1e-9)
