"""Every reference value, computed elsewhere at 60 digits, to a relative error of 1e-10."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import theory

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "exact.json").read_text()
)

# The smallest normal double: below it ten digits cannot be held.
SMALLEST = 2.3e-308


def every(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "row", VECTORS[kind], ids=lambda row: str(list(row.values())[:4])
    )


def agrees(got: float, exact: str) -> bool:
    return got == pytest.approx(float(exact), rel=1e-10, abs=SMALLEST)


@every("n_trials")
def test_n_trials_and_kappa(row):
    size = row["n"], row["n_labeled"], row["n_unlabeled"]
    assert theory.n_trials(*size) == row["n_trials"]
    kappa = theory.kappa(*size)
    assert [kappa.numerator, kappa.denominator] == row["kappa"]


@every("critical_value")
def test_critical_value(row):
    count, tie = theory.critical_value(row["n_trials"], row["delta"], row["alpha"])
    assert count == row["count"]
    assert agrees(tie, row["tie_probability"])


@every("power")
def test_power(row):
    got = theory.power(row["n_trials"], row["delta"], row["delta_star"], row["alpha"], True)
    assert agrees(got, row["power"])


@every("pvalue")
def test_pvalue(row):
    got = theory.pvalue(row["exceedances"], row["n_trials"], row["delta"], row["zeta"])
    assert agrees(got, row["pvalue"])


@every("delta_hat")
def test_delta_hat(row):
    got = theory.delta_hat(row["exceedances"], row["n_trials"], row["alpha"], row["zeta"])
    assert agrees(got, row["delta_hat"])


@every("epsilon_hat")
def test_epsilon_hat(row):
    got = theory.epsilon_hat(row["changes"], row["delta"], row["alpha"], row["zeta"])
    assert got == float(row["epsilon_hat"])


@every("power_bound")
@pytest.mark.parametrize(
    ("knowledge", "ceiling"),
    [
        ({}, "black_box"),
        ({"features": "unknown-support", "response": "unknown-support"}, "black_box"),
        ({"features": "countable"}, "response_only"),
        ({"models": "transparent"}, "response_only"),
        ({"models": "linear"}, "response_only"),
        ({"response": "countable"}, "features_only"),
    ],
)
def test_power_bound(row, knowledge, ceiling):
    got = theory.power_bound(
        row["n"],
        row["n_labeled"],
        row["n_unlabeled"],
        delta=row["delta"],
        delta_star=row["delta_star"],
        alpha=row["alpha"],
        **knowledge,
    )
    assert agrees(got, row[ceiling])


def column(kind: str, *names: str) -> list[np.ndarray]:
    return [np.array([float(row[name]) for row in VECTORS[kind]]) for name in names]


def test_arrays_give_what_scalars_give():
    m, delta, alpha, exact = column(
        "critical_value", "n_trials", "delta", "alpha", "tie_probability"
    )
    count, tie = theory.critical_value(m, delta, alpha)
    np.testing.assert_array_equal(count, column("critical_value", "count")[0])
    np.testing.assert_allclose(tie, exact, rtol=1e-10)

    b, m, alpha, zeta, exact = column(
        "delta_hat", "exceedances", "n_trials", "alpha", "zeta", "delta_hat"
    )
    np.testing.assert_allclose(theory.delta_hat(b, m, alpha, zeta), exact, rtol=1e-10)

    b, m, delta, zeta, exact = column(
        "pvalue", "exceedances", "n_trials", "delta", "zeta", "pvalue"
    )
    np.testing.assert_allclose(theory.pvalue(b, m, delta, zeta), exact, rtol=1e-10, atol=SMALLEST)
