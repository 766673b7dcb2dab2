"""What an audit says, from which verdicts, for which question."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from poise.adversary import linear_trap
from poise.errors import ArgumentError
from poise.procedures import BinomialTest
from poise.simulation.audit import AuditResult, audit
from poise.simulation.worlds import zoo
from poise.simulation.worlds.simple_algorithms import MeanResponse
from poise.theory import power_bound
from poise.world import GaussianRows, Proportion, World

# A valid procedure is found invalid, or a true claim refuted, with probability at most
# 1e-7 per audit; there are about thirty of them on fixed seeds.
SURE = 1 - 1e-7


@dataclass(frozen=True)
class Says:
    """Says the same of everything."""

    answer: Any
    n: int = 3
    epsilon: float = 0.5
    delta: float = 0.1
    alpha: float = 0.05

    def ask(self, sample: Any, randomness: Any) -> Generator[Any, Any, Any]:
        yield from ()
        return self.answer


@pytest.mark.parametrize(("stable", "said"), [(90, " > 0.1234 "), (1, " against 0.1235 ")])
def test_a_limit_is_rounded_so_that_the_comparison_stays_true(stable: int, said: str) -> None:
    made = audit(Says(True), zoo.constant(3), n_labeled=9, replications=5)
    rate = Proportion(stable, 100, SURE)
    result = replace(made, accepted=rate, measures="level", limit=0.123456, claim=None)
    assert said in str(result)


@pytest.mark.parametrize(
    ("answer", "stable"),
    [(True, 5), (False, 0), (np.True_, 5), ("stable", 5), ("unstable", 0), ("inconclusive", 0)],
)
def test_any_kind_of_verdict_is_understood(answer: Any, stable: int) -> None:
    result = audit(Says(answer), zoo.constant(3), n_labeled=9, replications=5)
    assert result.accepted == Proportion(stable, 5, 0.99)


@pytest.mark.parametrize("answer", [None, 1.0, "yes"])
def test_what_is_no_verdict_is_refused(answer: Any) -> None:
    with pytest.raises(ArgumentError, match="must return True or False"):
        audit(Says(answer), zoo.constant(3), n_labeled=9, replications=1)


def test_the_summary_names_the_numbers_that_decide() -> None:
    level = audit(Says(True), zoo.memorising(3, rarity=0.3), n_labeled=9, replications=50)
    assert str(level).startswith("invalid: measured level 1 [0.8994, 1] of Says > 0.05 on ")
    power_ = audit(Says(True), zoo.constant(3), n_labeled=9, replications=50)
    assert "an unstable world must exist" in str(power_)
    fine = audit(Says(False), zoo.constant(3), n_labeled=9, replications=50)
    assert str(fine).startswith("no violation found: measured power 0 [0, 0.1006] of Says against")
    claimed = audit(Says(False), zoo.constant(3), n_labeled=9, replications=50, claim=0.9)
    assert "is not the claimed 0.9" in str(claimed)
    content = json.loads(json.dumps(fine.to_dict()))
    assert content["finding"] == "no violation found"
    assert content["accepted"]["high"] == pytest.approx(1 - 0.005 ** (1 / 50))


def test_the_ceiling_is_that_of_the_setting() -> None:
    world, test = zoo.memorising(3, rarity=0.04), Says(False)
    rows = {"n_labeled": 11, "n_unlabeled": 2, "replications": 1}
    for setting in (
        {},
        {"models": "transparent"},
        {"features": "countable"},
        {"response": "countable"},
        {"features": "countable", "response": "countable"},
    ):
        expected = power_bound(3, 11, 2, delta=0.1, delta_star=0.04, alpha=0.05, **setting)
        assert audit(test, world, **rows, **setting).limit == pytest.approx(float(expected))
    # Theorem 3 by hand: exponent N_l / n.
    by_hand = 0.05 * (0.96 / 0.9) ** (11 / 3)
    assert audit(test, world, **rows, models="transparent").limit == pytest.approx(by_hand)
    known = audit(Says(True), world, **rows, features="countable", response="countable")
    assert known.finding == "no violation found"  # nothing limits a test that can try everything


def test_a_simulated_delta_star_is_taken_at_its_most_lenient() -> None:
    world = World(MeanResponse(), GaussianRows(), 3)
    with pytest.raises(ArgumentError, match=r"no closed form .* estimate_delta_star"):
        audit(Says(True), world, n_labeled=9)

    def measured(low_count: int) -> AuditResult:
        share = Proportion(low_count, 1000)
        return audit(Says(True), world, n_labeled=9, replications=1, delta_star=share)

    assert [measured(count).measures for count in (10, 100, 300)] == ["power", "either", "level"]
    unsure = measured(100)
    assert unsure.delta_star == Proportion(100, 1000).low
    assert unsure.limit == pytest.approx(0.05 * ((1 - unsure.delta_star) / 0.9) ** (9 / 4))
    exact = audit(Says(True), world, n_labeled=9, replications=1, delta_star=0.02)
    assert (exact.measures, exact.delta_star) == ("power", 0.02)


def test_workers_and_chunks_do_not_matter() -> None:
    test = BinomialTest(n=3, epsilon=0.5, delta=0.3, alpha=0.2, randomized=True)
    world = zoo.memorising(3, rarity=0.2)
    settings = {"n_labeled": 30, "replications": 70, "random_state": 5}
    alone = audit(test, world, **settings)
    assert alone == audit(test, world, n_jobs=2, **settings)
    assert 0 < alone.accepted.value < 1
    other = audit(test, world, **(settings | {"random_state": 7}))
    assert other.accepted != alone.accepted


def test_replications_are_fresh() -> None:
    seen: list[str] = []

    @dataclass(frozen=True)
    class Notes(Says):
        answer: Any = True
        roots: list[int] = field(default_factory=list)

        def ask(self, sample: Any, randomness: Any) -> Generator[Any, Any, Any]:
            seen.append(sample.digest())
            self.roots.append(randomness.root)
            yield from ()
            return True

    notes = Notes()
    audit(notes, zoo.constant(3), n_labeled=9, replications=20, random_state=0)
    assert len(set(seen)) == len(set(notes.roots)) == 20


def test_the_question_may_be_given_by_hand() -> None:
    class Bare:
        def ask(self, sample: Any, randomness: Any) -> Generator[Any, Any, Any]:
            yield from ()
            return False

    with pytest.raises(ArgumentError, match="epsilon must be given: Bare has no attribute"):
        audit(Bare(), zoo.constant(3), n_labeled=9)
    result = audit(
        Bare(), zoo.constant(3), n_labeled=9, replications=2, epsilon=0.1, delta=0.2, alpha=0.3
    )
    assert (result.epsilon, result.delta, result.alpha) == (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replications": 0}, "replications"),
        ({"confidence": 1.0}, "confidence"),
        ({"claim": 1.5}, "claim"),
        ({"notion": "any"}, "notion"),
        ({"delta_star": 2.0}, "delta_star"),
        ({"models": "visible"}, "models"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        audit(Says(True), zoo.constant(3), **({"n_labeled": 9, "replications": 1} | change))


def test_sizes_must_agree() -> None:
    with pytest.raises(ArgumentError, match="n = 3 and the world has n = 4"):
        audit(Says(True), zoo.constant(4), n_labeled=9)


def test_a_linear_trap_can_be_audited_with_transparent_models() -> None:
    trap = linear_trap(zoo.mean_response(3), epsilon=2.0, delta=0.3)
    test = BinomialTest(n=3, epsilon=2.0, delta=0.3, alpha=0.2)
    result = audit(
        test, trap, n_labeled=30, replications=150, models="linear", confidence=SURE,
        random_state=0,
    )  # fmt: skip
    assert (result.measures, result.finding) == ("level", "no violation found")
