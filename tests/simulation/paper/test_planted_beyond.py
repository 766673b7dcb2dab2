"""The rows beyond the paper can fail: each is shown a library with an error in one place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from poise import theory
from poise.procedures import LinearSmootherTest, WorstLabellingTest
from poise.results import ProcedureResult
from poise.simulation.paper import beyond_averaged as averaged
from poise.simulation.paper import beyond_finite_responses as finite
from poise.simulation.paper.claim import Claim
from poise.simulation.paper.effort import Effort
from poise.theory import binomial_test, open_ended_process, repeated_testing
from poise.theory.betting_process import Hedge, Mirror

SMALL, SOME = Effort(share=0.02), Effort(share=0.2)
Row = Callable[[], Claim | list[Claim]]


def failed(row: Row) -> list[str]:
    found = row()
    claims = found if isinstance(found, list) else [found]
    return [claim.text for claim in claims if not claim.passed]


def cautious(self: Hedge, c: float, share: float) -> float:
    return 1 + c * (self.delta - share) / (1 - self.delta) * 0.9


def cautious_mirror(self: Hedge, c: float, share: float) -> float:
    return 1 + c * (share - self.delta) / self.delta * 0.9


def eager(shares: Any, delta: float, alpha: float) -> Any:
    return _right_hedges(shares, delta, 10 * alpha)


def timid(shares: Any, delta: float, alpha: float) -> Any:
    return _right_hedges(shares, delta, alpha / 1e6)


_right_hedges = averaged.hedge_side_by_side


def one_label(self: WorstLabellingTest, trial: Any, stage: int) -> Any:
    return _right_queries(self, trial, 0)[:2]


_right_queries = WorstLabellingTest._queries


def halved(self: LinearSmootherTest, trial: Any, said: Any, check: Any) -> float:
    return _right_change(self, trial, said, check) / 2


_right_change = LinearSmootherTest._change


def all_accepted(size: int, delta: float, alpha: float, randomized: bool) -> Any:
    return np.r_[np.ones(theory.critical_value(size, delta, alpha)[0] + 1), np.zeros(size)][
        : size + 1
    ]


def growing(self: Any, delta: float) -> float:
    return _right_evidence(self, delta) + 0.1 * self.trials * delta


_right_evidence = open_ended_process.OpenEnded.log_e_value


ERRORS: dict[str, tuple[Any, str, Any, Row, str]] = {
    "a hedge that bets too little": (
        Hedge, "_growth", cautious, averaged._reduction, "the hedge is the Binomial test"
    ),
    "a mirror that bets too little": (
        Mirror, "_growth", cautious_mirror, averaged._reduction, "the mirror is its mirror test"
    ),
    "a level ten times too large": (
        averaged, "hedge_side_by_side", eager, partial(averaged._level, SMALL), "Theorem A: level"
    ),
    "a level a million times too small": (
        averaged, "hedge_side_by_side", timid, partial(averaged._power, SMALL), "power beyond"
    ),
    "more power than there is": (
        averaged, "hedge_side_by_side", eager, partial(averaged._power, SMALL), "Theorem B: power"
    ),
    "a ceiling for twice as many trials": (
        theory, "share_ceiling", lambda m, *asked: 0.05 * (0.95 / 0.9) ** (3 * m),
        partial(averaged._ceiling_attained, Effort(share=0.1)), "all-in with the coin attains it"
    ),
    "ties that are accepted": (
        repeated_testing, "_acceptance", all_accepted, averaged._repeated_looks, "five doublings"
    ),
    "counts one too large": (
        theory, "critical_count", lambda *asked: binomial_test.critical_count(*asked) + 2,
        partial(averaged._one_process, SMALL), "six looks at the Binomial test"
    ),
    "evidence that grows by itself": (
        open_ended_process.OpenEnded, "log_e_value", growing,
        partial(averaged._one_process, SMALL), "six looks at one e-process"
    ),
    "one trial too many": (
        theory, "trials_missing", lambda n, lab, unl, missing: (lab + unl) // n, finite._trials,
        "as many trials as fit"
    ),
    "a labelling left out": (
        WorstLabellingTest, "_queries", one_label, partial(finite._labels_matter, SOME),
        "power where labels matter"
    ),
    "a proxy that may say unstable": (
        ProcedureResult, "never_unstable", lambda self: self, partial(finite._no_mirror, SMALL),
        "never 'unstable'"
    ),
    "a supremum halved": (
        LinearSmootherTest, "_change", halved, partial(finite._white_box, SMALL),
        "linear smoothers are worst"
    ),
    "a ceiling with another root": (
        theory, "ceiling_large_epsilon", lambda n, rows, delta, star, alpha: alpha, finite._root,
        "its root found on a grid"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_a_planted_error_is_caught(name: str, monkeypatch) -> None:
    home, attribute, wrong, row, caught_by = ERRORS[name]
    monkeypatch.setattr(home, attribute, wrong)
    assert any(caught_by in text for text in failed(row))


def test_positions_that_do_not_shift_are_noticed(monkeypatch) -> None:
    """Were it always the last row that goes, one full fit would do, and the row fails."""
    monkeypatch.setattr(averaged.np, "delete", lambda rows, row: rows[:-1])
    assert failed(partial(averaged._one_full_fit_of_a_forest, SMALL))


def test_a_trap_of_the_other_kind_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(finite, "_two_labels", finite._three_labels)
    assert any("two labels" in text for text in failed(partial(finite._traps, SMALL)))
