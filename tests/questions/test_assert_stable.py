"""assert_stable: passes, fails with everything a reader needs, and hides its own frames."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

import poise
from poise.errors import ArgumentError, PowerWarning
from poise.testing import assert_stable
from shared.processes import python

X, y = load_diabetes(return_X_y=True)


def test_passes_and_returns_the_result() -> None:
    result = assert_stable(Ridge(), X, y, n=10, epsilon=25, delta=0.2)
    expected = poise.stability_test(Ridge(), X, y, n=10, epsilon=25, delta=0.2, random_state=0)
    assert result == expected


def test_fails_with_the_full_summary() -> None:
    expected = poise.stability_test(
        LinearRegression(), X, y, n=12, epsilon=25, delta=0.2, random_state=0
    )
    with pytest.raises(AssertionError) as caught:
        assert_stable(LinearRegression(), X, y, n=12, epsilon=25, delta=0.2)
    assert str(caught.value) == expected.summary()
    assert str(caught.value).startswith("UNSTABLE")


def test_inconclusive_fails_too() -> None:
    with (
        pytest.warns(PowerWarning, match="cannot certify"),
        pytest.raises(AssertionError, match=r"^INCONCLUSIVE"),
    ):
        assert_stable(Ridge(), X, y, n=200, epsilon=25, delta=0.2)


def test_the_seed_is_fixed_unless_given() -> None:
    assert assert_stable(Ridge(), X, y, n=10, epsilon=25, delta=0.2).design.seed == 0
    other = assert_stable(Ridge(), X, y, n=10, epsilon=25, delta=0.2, random_state=3)
    assert other.design.seed == 3


def test_settings_reach_the_test_and_mistakes_are_no_failures() -> None:
    result = assert_stable(
        Ridge(), X, y, n=10, epsilon=25, delta=0.2, coupling="independent", shuffle=False
    )
    assert result.coupling == "independent"
    with pytest.raises(ArgumentError, match="delta must be in"):
        assert_stable(Ridge(), X, y, n=10, epsilon=25, delta=1.2)


def test_pytest_points_at_the_line_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_gate.py").write_text(
        "import numpy as np\n"
        "from poise.testing import assert_stable\n\n"
        "def rows_seen(X, y, seed):\n"
        "    return lambda rows: [float(len(y))] * len(rows)\n\n"
        "def test_gate():\n"
        "    X, y = np.arange(200.0).reshape(100, 2), np.arange(100.0)\n"
        "    assert_stable(rows_seen, X, y, n=4, epsilon=0.5, delta=0.2)\n"
    )
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # a plugin takes a second to load
    command = "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_gate.py"
    done = python(*command, cwd=tmp_path, env=alone)
    assert done.returncode == 1
    assert ">       assert_stable(rows_seen, X, y, n=4, epsilon=0.5, delta=0.2)" in done.stdout
    assert "UNSTABLE: rows_seen" in done.stdout
    assert "raise AssertionError(result.summary())" not in done.stdout


def test_the_warning_and_the_summary_name_the_smaller_n_once() -> None:
    """The warning says that a smaller n would do; the summary says which one."""
    with pytest.warns(PowerWarning, match="a smaller n") as caught:
        result = poise.stability_test(Ridge(), X, y, n=40, epsilon=5, delta=0.1, random_state=0)
    assert "or n = 14, the largest that these rows can answer" in result.summary()
    assert "the largest" not in str(caught[0].message)


def test_an_averaged_run_passes_and_fails_with_its_summary() -> None:
    asked = {"n": 5, "delta": 0.3, "points": 3, "test": "averaged"}
    assert assert_stable(Ridge(), X, y, epsilon=60, **asked).test == "averaged"
    with pytest.raises(AssertionError, match="A trial answers with a fraction"):
        assert_stable(LinearRegression(), X, y, epsilon=1, **asked)
