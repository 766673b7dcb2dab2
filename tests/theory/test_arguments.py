"""Wrong arguments are named, and no floating-point error reaches users who raise them."""

from __future__ import annotations

import numpy as np
import pytest

from poise import theory
from poise.errors import ArgumentError

NAMES = {name: getattr(theory, name) for name in dir(theory)} | {"nan": np.nan}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("critical_count(2.5, 0.1, 0.05)", "n_trials must be a whole number >= 0, got 2.5"),
        ("pvalue([1, 5], [4, 4], 0.1)", "exceedances must be at most n_trials = 4, got 5"),
        ("epsilon_hat([0.1, nan], 0.1, 0.1)", "^changes must be a list of numbers >= 0, got nan"),
        ("verdict([0.1, 1.2], 0.1, 0.05)", r"^S must be a list of numbers in \[0, 1\], got 1.2"),
        ("hedge([0.1], 0.1, 0.05, n_trials=0)", "n_trials must be at least .* got 0"),
        ("averaged_epsilon_hat([[0.1], []], 0.1, 0.05)", "changes must hold at least one"),
        ("e_bh([nan], 0.1)", "values must be a list of numbers >= 0, got nan"),
        ("repeated_looks([5, 5], 0.1, 0.05)", "sizes must increase"),
        ("restricted_band(5, 0.1, 6)", "J must be at most m = 5, got 6"),
        ("trials(2, 10**19)", r"n_labeled must be below 2\*\*63"),
        ("trials(2, 10**400)", r"n_labeled must be below 2\*\*63"),
        ("power_bound(9, 9, delta=0.1, alpha=0.1, n_feature_values=0)", "n_feature_values must"),
        ("jackknife_plus_ends([[1.0]], [1.0, 2.0], 0.5)", "predictions must have one column"),
        ("bag_delta(9, 9, 0.1)", "b must be at most n - 1"),
        ("bag_reach(9, 3, 10)", "k must be at most n, got 10"),
        ("inflated_top([0.1, 0.2], 3, 0.1)", "k must be at most .* 2, got 3"),
        ("inflated_top([0.1, nan], 1, 0.1)", "w must hold finite scores"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        eval(call, dict(NAMES))


@pytest.mark.parametrize(
    "call",
    [
        "bag_count(1000, [1, 500, 999], 1e-9)",
        "choose_bags(400, epsilon=0.2, delta=0.1)",
        "menu(10**9, delta=1e-9)",
        "profile_band(3000, 1e-9)",
        "averaged_delta_hat([0.0, 1.0] * 400, 1e-9)",
        "averaged_epsilon_hat([[0.0, 1e-300, 1.0, 1e300]] * 600, 0.4, 0.05)",
        "open_ended([0.0, 1.0] * 900, 1e-9, 0.05)",
    ],
)
def test_no_floating_point_error_reaches_users_who_raise_them(call):
    with np.errstate(all="raise"):
        eval(call, dict(NAMES))
