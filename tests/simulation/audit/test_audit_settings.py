"""Audits of procedures that read models, of worlds without a law, and their tables."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from poise.errors import ArgumentError
from poise.procedures import BinomialTest, TransparentLinearTest
from poise.protocol.messages import Answers, Batch, Query
from poise.simulation.audit import audit, audit_with_traps
from poise.simulation.traps import TRAPS, Trap
from poise.simulation.worlds import GaussianRows, Proportion, UniformRows, World, zoo
from poise.theory import power_bound


class ReadsModels:
    """Declares stable if it could read the model it asked for."""

    n, epsilon, delta, alpha = 4, 9.0, 0.2, 0.05

    def ask(self, sample: Any, randomness: Any) -> Generator[Batch, Answers, bool]:
        answers = yield Batch([Query(np.arange(4), None, 0)], models=True)
        return hasattr(answers.models[0], "coef_")


LINEAR = World(Ridge(), GaussianRows(2), n=4)


@pytest.mark.parametrize("models", ["transparent", "constrained", "linear"])
def test_a_procedure_that_reads_models_is_shown_them(models: str) -> None:
    result = audit(
        ReadsModels(), LINEAR, n_labeled=12, n_unlabeled=0, replications=5, delta_star=0.0,
        models=models, random_state=0,
    )  # fmt: skip
    assert result.accepted.successes == 5
    # Theorems 3 and 4: no test point is needed, so the exponent is 12/4 and not 12/5.
    assert result.limit == pytest.approx(0.05 / 0.8**3)
    assert result.limit == power_bound(4, 12, delta=0.2, alpha=0.05, models=models)


def test_models_stay_hidden_unless_it_is_said() -> None:
    with pytest.raises(ArgumentError, match="run it with models='transparent'"):
        audit(ReadsModels(), LINEAR, n_labeled=12, replications=2, delta_star=0.0, random_state=0)


def test_a_transparent_test_is_audited_with_its_traps() -> None:
    world = World(Ridge(alpha=100.0), UniformRows(2, sigma=0.1), n=5)
    test = TransparentLinearTest(n=5, epsilon=0.5, delta=0.3, radius=1.5)
    suite = audit_with_traps(
        test, world, traps=["linear"], n_labeled=60, replications=30, delta_star=0.0,
        models="linear", random_state=0,
    )  # fmt: skip
    honest, trapped = suite.results
    assert (honest.measures, trapped.measures) == ("power", "level")
    assert honest.accepted.value > 0.5
    assert not suite.invalid


@pytest.mark.parametrize("known", [0.05, Proportion(5, 100)])
def test_where_no_law_is_known_the_traps_build_on_what_is_said(
    known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """c = 1 − ((1−δ)/(1−δ*))^(1/n) depends on δ*: at least what the world was said to have."""
    built = []

    def label_trap(*given: Any, **settings: Any) -> Trap:
        built.append(TRAPS["feature"](*given, **settings))
        return built[-1]

    monkeypatch.setitem(TRAPS, "label", label_trap)
    world = World(zoo.mean_response(4).algorithm, GaussianRows(), n=4)
    test = BinomialTest(n=4, epsilon=0.6, delta=0.3, alpha=0.2)
    suite = audit_with_traps(
        test, world, n_labeled=40, replications=20, delta_star=known, random_state=0
    )
    least = known if isinstance(known, float) else known.low
    assert suite.results[0].delta_star == pytest.approx(least)
    assert suite.results[0].measures == "power"
    for trapped in suite.results[1:]:
        assert trapped.measures == "level"
        assert trapped.delta_star == pytest.approx(0.3, abs=1e-5)
    [trap] = built
    assert trap.c == pytest.approx(1 - (0.7 / (1 - least)) ** (1 / 5), rel=1e-4)
    with pytest.raises(ArgumentError, match="no closed form is known"):
        audit_with_traps(test, world, n_labeled=40, replications=2)


def test_the_table_of_a_suite_has_headings() -> None:
    suite = audit_with_traps(
        BinomialTest(n=3, epsilon=0.5, delta=0.3), zoo.constant(3), traps=["label"],
        n_labeled=20, replications=20, random_state=0,
    )  # fmt: skip
    assert suite.table().splitlines()[0].split() == [
        "world", "measures", "delta*", "measured", "limit", "finding"
    ]  # fmt: skip
    assert list(suite.to_frame()) == [
        "world", "measures", "delta_star", "claimed level", "measured", "low", "high", "limit",
        "finding",
    ]  # fmt: skip
    for heading in ("world", "measures", "delta*", "measured", "limit", "finding"):
        assert f">{heading}</th>" in suite._repr_html_()
