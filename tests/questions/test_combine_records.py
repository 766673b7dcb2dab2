"""Evidence from several records: multiplied, or the smallest, or refused."""

from __future__ import annotations

from typing import Any

import pytest

import poise
from poise.errors import ArgumentError, RecordError
from shared.monitors import last_row, other, rows

KEY = "a secret of both sites"


@pytest.fixture
def site(tmp_path):
    def make(name: str, given: Any = None, algorithm: Any = last_row, **changed: Any) -> Any:
        asked = {"n": 4, "epsilon": 1.5, "delta": 0.2, "random_state": 7, "key": KEY}
        settings = asked | {"progress": False} | changed
        monitor = poise.Monitor(tmp_path / f"{name}.record", algorithm, **settings)
        if given is not None:
            monitor.add(*given)
        return monitor

    return make


def test_e_values_of_disjoint_rows_multiply(site) -> None:
    a, b = site("a", rows(100, 1)), site("b", rows(100, 2), points=3, removals=2)
    both = poise.combine([a, b.path])
    assert both.e_value == pytest.approx(a.e_value * b.e_value)
    assert both.e_value_unstable == pytest.approx(
        a.status.e_value_unstable * b.status.e_value_unstable
    )
    assert both.compared
    assert sum(both.n_trials) == a.status.n_trials + b.status.n_trials
    assert "e-values are multiplied" in both.summary()
    assert '"stable on at least one of them"' in both.summary()
    assert both.to_dict()["e_values"] == [a.e_value, b.e_value]
    assert "product, stable" in both.facts()
    assert "product, stable" in both._repr_html_()
    assert str(both) == both.summary()


def test_two_weak_records_are_a_verdict_together(site) -> None:
    quiet = [(X, y * 0.1) for X, y in (rows(80, 1), rows(80, 2))]
    a, b = site("a", quiet[0]), site("b", quiet[1])
    assert (a.verdict, b.verdict) == ("inconclusive", "inconclusive")
    assert poise.combine([a, b]).verdict == "stable"
    both = poise.combine([a, b], different=True)
    assert (both.verdict, both.e_value) == ("inconclusive", min(a.e_value, b.e_value))
    assert "holds for every one of them" in both.summary()
    loud = [(X, y * 100) for X, y in (rows(15, 3), rows(15, 4))]
    c, d = site("c", loud[0]), site("d", loud[1])
    assert poise.combine([c, d]).verdict == "unstable"
    assert poise.combine([a, c], different=True).verdict == "inconclusive"


def test_different_distributions_need_each_certificate(site) -> None:
    quiet = [(X, y * 0.1) for X, y in (rows(200, 1), rows(200, 2))]
    a, b = site("a", quiet[0]), site("b", quiet[1])
    assert poise.combine([a, b], different=True).stable
    c = site("c")
    c.add(*rows(10, 9))
    assert not poise.combine([a, b, c], different=True).stable


def test_shared_rows_are_refused(site) -> None:
    X, y = rows(30)
    a, b = site("a", (X[:20], y[:20])), site("b", (X[10:], y[10:]))
    with pytest.raises(
        RecordError, match=r"share 10 rows; only e-values of disjoint rows multiply"
    ):
        poise.combine([a, b], disjoint=True)
    assert poise.combine([a, b], different=True).e_value == min(a.e_value, b.e_value)
    with pytest.raises(RecordError, match="share 20 rows"):
        poise.combine([a, a])


def test_without_a_shared_key_it_must_be_declared(site) -> None:
    a, b = site("a", rows(30, 1), key=None), site("b", rows(30, 2), key=None)
    with pytest.raises(
        RecordError, match=r"cannot be checked: rows are hashed with different keys"
    ):
        poise.combine([a, b])
    declared = poise.combine([a, b], disjoint=True)
    assert not declared.compared
    assert "was declared and not checked" in declared.summary()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"algorithm": other}, r"algorithm: last_row and other"),
        ({"n": 5}, "n: 4 and 5"),
        ({"epsilon": 1.0}, r"epsilon: 1.5 and 1.0"),
        ({"delta": 0.3}, r"delta: 0.2 and 0.3"),
        ({"coupling": "independent"}, "coupling: shared and independent"),
        ({"distance": "absolute"}, "distance: euclidean and absolute"),
    ],
)
@pytest.mark.parametrize("different", [False, True])
def test_another_question_is_refused(site, changed, said, different) -> None:
    a, b = site("a", rows(30, 1)), site("b", rows(30, 2), **changed)
    with pytest.raises(RecordError, match=rf"do not ask the same question \({said}"):
        poise.combine([a, b], different=different)


def test_levels_and_other_arguments(site) -> None:
    a, b = site("a", rows(30, 1)), site("b", rows(30, 2), alpha=0.1)
    with pytest.raises(ArgumentError, match=r"alpha must be given: the records have 0.05.*0.1"):
        poise.combine([a, b])
    assert poise.combine([a, b], alpha=0.01).alpha == 0.01
    with pytest.raises(ArgumentError, match="at least two records, got 1"):
        poise.combine([a])
    with pytest.raises(ArgumentError, match="records must be paths of records or Monitors, got 3"):
        poise.combine([a, 3])


def test_only_the_present_epoch_counts(site) -> None:
    a, b = site("a", rows(30, 1)), site("b", rows(30, 1), random_state=9)
    with pytest.raises(RecordError, match="share 30 rows"):
        poise.combine([a, b])
    b.restart()
    assert poise.combine([a, b]).e_value == a.e_value


def test_evidence_against_each_other_is_inconclusive() -> None:
    from poise import CombinedEvidence, Design

    design = Design("Ridge()", n=20, n_labeled=100)
    torn = CombinedEvidence(("a", "b"), (900.0, 1.0), (1.0, 900.0), (9, 9), design, 1, 0.1, 0.05)
    assert torn.verdict == "inconclusive"
    assert "have both reached the threshold" in torn.summary()


def test_the_words_grant_the_rounding_that_the_verdict_grants() -> None:
    from poise import CombinedEvidence, Design

    design = Design("Ridge()", n=20, n_labeled=100)
    almost = 20 * (1 - 1e-10)  # 1/alpha, apart from rounding
    assert almost * 0.05 < 1
    torn = CombinedEvidence(("a",), (almost,), (900.0,), (9,), design, 1, 0.1, 0.05)
    assert torn.verdict == "inconclusive"
    assert torn.contradicted
    assert "have both reached the threshold" in torn.summary()
