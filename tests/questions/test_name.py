"""A short name for the algorithm in headlines, titles and errors; the record keeps the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import poise
from poise.errors import ArgumentError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 2)), RNG.normal(size=200)
LONG = make_pipeline(*["passthrough"] * 20, Ridge(alpha=7.0))
ASKED = {"n": 10, "epsilon": 9.0, "delta": 0.3, "random_state": 0}


def test_headlines_use_the_name_and_the_record_keeps_the_description() -> None:
    result = poise.stability_test(LONG, X, Y, **ASKED, name="my pipeline")
    assert result.summary().startswith("STABLE: my pipeline is declared (9, 0.3)-stable")
    assert "Ridge(alpha=7.0)" in result.design.algorithm
    with pytest.raises(AssertionError, match=r"^(INCONCLUSIVE|UNSTABLE): .*my pipeline"):
        poise.testing.assert_stable(LONG, X, Y, **{**ASKED, "epsilon": 0}, name="my pipeline")


def test_without_a_name_the_middle_is_left_out() -> None:
    headline = poise.stability_test(LONG, X, Y, **ASKED).summary().splitlines()[0]
    assert len(headline) < 160
    assert "STABLE: Pipeline(" in headline
    assert "Ridge(alpha=7.0)" in headline


def test_a_journal_goes_on_under_another_name(tmp_path: Path) -> None:
    journal = tmp_path / "run.journal"
    first = poise.measure(Ridge(), X, Y, n=10, random_state=0, journal=journal, name="a")
    again = poise.measure(Ridge(), X, Y, n=10, random_state=0, journal=journal, name="b")
    assert np.array_equal(first.changes, again.changes)
    assert (first.design.name, again.design.name) == ("a", "b")


def test_compare_has_its_own_names() -> None:
    compared = poise.compare({"one": LONG, "two": Ridge()}, X, Y, **ASKED)
    assert compared.trials[0].design.title == "one"
    assert len(poise.compare([LONG], X, Y, **ASKED).table().rows[0][0]) <= 80
    with pytest.raises(ArgumentError, match="give a dict from names to algorithms"):
        poise.compare([Ridge()], X, Y, **ASKED, name="x")
    with pytest.raises(ArgumentError, match="name must be text, got ''"):
        poise.stability_test(Ridge(), X, Y, **ASKED, name="")
