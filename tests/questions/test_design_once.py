"""The design of a question is computed once: it reads the rows, and all checks rest on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.procedures.checked_question import StabilityQuestion
from poise.procedures.disjoint_trials import DisjointTrials
from poise.protocol.randomness import Randomness
from poise.questions.measurement import Measurement
from poise.running.oracle import Oracle

QUESTION = {"epsilon": 0.5, "delta": 0.2}


@pytest.fixture
def rows() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"X": rng.normal(size=(1200, 2)), "y": rng.normal(size=1200), "random_state": 0}


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the training size of every design that is computed."""
    seen: list[int] = []
    design = DisjointTrials.design

    def counted(self: DisjointTrials, *about: Any) -> Any:
        seen.append(self.n)
        return design(self, *about)

    monkeypatch.setattr(DisjointTrials, "design", counted)
    return seen


@pytest.mark.parametrize("more", [{}, {"test": "binomial"}, {"removals": "all"}])
@pytest.mark.parametrize("epsilon", [0.5, "50% of spread"])
def test_one_design_for_a_test(
    rows: dict[str, Any], sizes: list[int], epsilon: Any, more: dict[str, Any]
) -> None:
    poise.stability_test(Ridge(), **rows, n=20, **(QUESTION | {"epsilon": epsilon}), **more)
    assert sizes == [20]


def test_one_design_for_a_test_with_journal_and_ledger(
    rows: dict[str, Any], sizes: list[int], tmp_path: Path
) -> None:
    files = {"journal": tmp_path / "run.journal", "ledger": tmp_path / "rows.ledger"}
    poise.stability_test(Ridge(), **rows, n=20, **QUESTION, **files)
    assert sizes == [20]


@pytest.mark.parametrize("removals", [1, "all"])
def test_one_design_for_a_measurement(
    rows: dict[str, Any], sizes: list[int], removals: Any
) -> None:
    poise.measure(Ridge(), **rows, n=20, removals=removals)
    assert sizes == [20]


@pytest.mark.parametrize("epsilon", [0.5, "50% of spread"])
def test_algorithms_that_are_compared_share_one_design(
    rows: dict[str, Any], sizes: list[int], epsilon: Any
) -> None:
    algorithms = [Ridge(), LinearRegression(), KNeighborsRegressor()]
    poise.compare(algorithms, **rows, n=20, **(QUESTION | {"epsilon": epsilon}))
    assert sizes == [20]


@pytest.mark.parametrize("epsilon", [0.5, "50% of spread"])
def test_a_curve_has_one_design_for_each_size(
    rows: dict[str, Any], sizes: list[int], epsilon: Any
) -> None:
    poise.stability_curve(Ridge(), **rows, n=[5, 10, 20], **(QUESTION | {"epsilon": epsilon}))
    assert sorted(sizes) == [5, 10, 20]


def test_one_design_for_rows_that_are_added_to_a_record(
    rows: dict[str, Any], sizes: list[int], tmp_path: Path
) -> None:
    monitor = poise.Monitor(tmp_path / "record.poise", Ridge(), n=20, **QUESTION, random_state=0)
    monitor.add(rows["X"], rows["y"])
    assert sizes == [20]


def test_each_algorithm_that_is_compared_is_checked_once(
    rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    about = Oracle.about

    def counted(algorithm: Any, *more: Any) -> Oracle:
        seen.append(type(algorithm).__name__)
        return about(algorithm, *more)

    monkeypatch.setattr(Oracle, "about", counted)
    poise.compare([Ridge(), LinearRegression()], **rows, n=20, **QUESTION)
    assert sorted(seen) == ["LinearRegression", "Ridge"]


def test_a_generator_gives_one_seed_for_a_question(rows: dict[str, Any]) -> None:
    given, once = np.random.default_rng(5), np.random.default_rng(5)
    result = poise.stability_test(Ridge(), **(rows | {"random_state": given}), n=20, **QUESTION)
    assert result.design.seed == Randomness.from_state(once).root
    assert given.bit_generator.state == once.bit_generator.state


def test_nothing_known_of_a_measurement_is_handed_on_to_another(rows: dict[str, Any]) -> None:
    measurement = Measurement.of({"algorithm": Ridge(), "n": 20, **rows})
    chosen = measurement.for_question(StabilityQuestion(20, **QUESTION))
    setup = replace(chosen.setup, n=30)
    other = replace(chosen, algorithm=LinearRegression(), setup=setup)
    assert (chosen.design.n, chosen.design.algorithm) == (20, "Ridge()")
    assert (other.design.n, other.design.algorithm) == (30, "LinearRegression()")
