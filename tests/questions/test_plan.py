"""The planner against brute force, on small cases and at both ends of the scale."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import poise
from poise.arguments.printed_numbers import at_most
from poise.errors import ArgumentError
from poise.questions.plan import plan
from poise.results.plan_result import Plan
from poise.theory import n_trials, power, power_bound

MANY = 3000  # brute force looks at every number of trials below


@cache
def powers(delta, delta_star, alpha, randomized):
    return np.asarray(power(np.arange(MANY), delta, delta_star, alpha, randomized=randomized))


def question_of(rng):
    """A question with round numbers or any."""
    delta = rng.choice([0.02, 0.1, 0.3, 0.5, 0.9, rng.uniform(0.01, 0.97)])
    delta_star = delta * rng.choice([0.0, 0.2, 0.5, 0.8, 0.95, rng.uniform(0, 0.97)])
    wanted = rng.choice([0.5, 0.8, 0.9, 0.99, rng.uniform(0.02, 0.995)])
    return {
        "delta": float(delta),
        "delta_star": float(delta_star),
        "alpha": float(rng.choice([0.05, 0.1, 0.5, 1e-6, rng.uniform(0.001, 0.95)])),
        "power": 1.0 if delta_star == 0 and rng.random() < 0.5 else float(wanted),
        "randomized": bool(rng.random() < 0.5),
    }


# The powers of a question are slow to compute: both searches below ask the same questions.
QUESTIONS = [question_of(np.random.default_rng([1414, number])) for number in range(250)]


def met(question):
    """Whether each number of trials meets the requirement; skip if 3000 do not settle it."""
    found = powers(*(question[k] for k in ("delta", "delta_star", "alpha", "randomized")))
    good = found >= question["power"] - 1e-12  # a power of exactly 0.9 may round to less
    assume(good[-1100:].all())  # with n = 2 the rows looked at hold two thirds of them
    return good


def steep(delta, delta_star, wanted):
    """Close to 1 the power changes much from one trial to the next."""
    found = {"delta": delta, "delta_star": delta_star, "alpha": 0.05, "power": wanted}
    return {**found, "randomized": False}


@example(steep(0.9375, 0.87890625, 0.9375), 2, 0)
@example(steep(0.953125, 0.92333984375, 0.953125), 2, 0)
@given(st.sampled_from(QUESTIONS), st.integers(2, 12), st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_n_labeled_by_brute_force(question, n, n_unlabeled):
    good = met(question)
    rows = np.arange(MANY * n)
    meets = good[n_trials(n, rows, n_unlabeled)]
    answer = int(np.argmax(meets))
    later = np.flatnonzero(~meets[answer:]) + answer
    found = plan(n=n, n_unlabeled=n_unlabeled, **question)
    assert found.n_labeled == answer
    assert found.dips_at == (int(later[0]) if later.size else None)
    assert found.holds_from == (int(later[-1]) + 1 if later.size else answer)
    assert found.dips == bool(later.size)
    assert found.achieved_power >= question["power"]


@given(st.sampled_from(QUESTIONS), st.integers(0, 5000), st.integers(0, 500))
@settings(max_examples=250, deadline=None)
def test_n_by_brute_force(question, n_labeled, n_unlabeled):
    good = met(question)
    assume(n_labeled // 2 < MANY)
    sizes = np.arange(2, max(n_labeled, 2) + 2)
    meets = good[n_trials(sizes, n_labeled, n_unlabeled)]
    arguments = {"n_labeled": n_labeled, "n_unlabeled": n_unlabeled, **question}
    if good[0]:
        with pytest.raises(ArgumentError, match="n has no largest value"):
            plan(**arguments)
    elif not meets.any():
        with pytest.raises(ArgumentError, match="no n reaches power"):
            plan(**arguments)
    else:
        answer = int(sizes[meets].max())
        missed = sizes[~meets & (sizes < answer)]
        found = plan(**arguments)
        assert found.n == answer
        assert found.dips_at == (int(missed.max()) if missed.size else None)
        steady = int(missed.min()) - 1 if missed.size else answer
        assert found.holds_from == (steady if steady >= 2 else None)
        assert found.achieved_power >= question["power"]


def exact_power_with(question, m, name, value):
    """Power in m trials, in rational arithmetic, after one change to the question."""
    changed = {**question, name: value}
    d, s, a = (Fraction(changed[key]) for key in ("delta", "delta_star", "alpha"))
    mass, declared = Fraction(0), Fraction(0)
    for k in range(m + 1):
        atom, truth = (comb(m, k) * p**k * (1 - p) ** (m - k) for p in (d, s))
        if mass + atom > a:
            return declared + (truth * (a - mass) / atom if changed["randomized"] else 0)
        mass, declared = mass + atom, declared + truth
    return declared


@given(st.sampled_from(QUESTIONS), st.integers(0, 25), st.sampled_from(["delta", "alpha"]))
@settings(max_examples=200, deadline=None)
def test_smallest_delta_and_alpha_in_rational_arithmetic(question, m, unknown):
    arguments = {**question, "n": 2, "n_labeled": 2 * m, "n_unlabeled": m, unknown: None}
    wanted = Fraction(question["power"])
    if exact_power_with(question, m, unknown, 1 - 1e-13) < wanted:
        with pytest.raises(ArgumentError, match=f"no {unknown} below 1 reaches power"):
            plan(**arguments)
        return
    found = plan(**arguments)
    value = getattr(found, unknown)
    if value * (1 + 1e-9) < 1:
        above = exact_power_with(question, m, unknown, value * (1 + 1e-9))
        assert above >= wanted * (1 - Fraction(1, 10**12))
    if unknown == "alpha" or value > question["delta_star"]:
        assert exact_power_with(question, m, unknown, value * (1 - 1e-9)) < wanted
    assert found.achieved_power >= question["power"]


@given(st.sampled_from(QUESTIONS), st.integers(2, 50), st.integers(0, 3000), st.integers(0, 100))
@settings(max_examples=100, deadline=None)
def test_power_and_ceiling(question, n, n_labeled, n_unlabeled):
    found = plan(n=n, n_labeled=n_labeled, n_unlabeled=n_unlabeled, **{**question, "power": None})
    m = n_trials(n, n_labeled, n_unlabeled)
    rule = question["randomized"]
    expected = power(m, found.delta, found.delta_star, found.alpha, randomized=rule)
    assert found.power == found.achieved_power == expected
    assert found.n_trials == m
    assert found.n_fits == 2 * m
    assert found.power <= found.ceiling * (1 + 1e-9)
    assert (found.dips_at, found.holds_from) == (None, None)


@pytest.mark.parametrize(
    ("delta", "alpha", "trials"),
    [
        (0.1, 0.1, 22),
        (0.05, 0.1, 45),
        (0.01, 0.1, 230),
        (0.1, 0.05, 29),
        (0.05, 0.05, 59),
        (0.01, 0.05, 299),
    ],
)
def test_rules_of_thumb(delta, alpha, trials):
    found = plan(n=50, n_unlabeled=10**6, delta=delta, alpha=alpha, power=1.0)
    assert found.n_trials == trials
    assert found.n_labeled == 50 * trials
    assert not found.dips
    assert (1 - delta) ** trials <= alpha < (1 - delta) ** (trials - 1)


def test_unlabelled_rows_spare_labelled_ones():
    asked = {"n": 50, "delta": 0.1, "alpha": 0.05, "power": 1.0}
    assert plan(**asked).n_labeled == 29 * 51
    assert plan(**asked, n_unlabeled=10).n_labeled == 29 * 51 - 10
    assert plan(**asked, n_unlabeled=29).n_labeled == 29 * 50


def test_a_known_power_that_rises_and_falls():
    found = plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    # c = 1 from 46 trials on, c = 2 from 61: P(Bin(46, .01) <= 1) = .922, (53: .902, 54: .899)
    assert (found.n_trials, found.n_labeled) == (46, 4646)
    assert (found.dips_at, found.holds_from) == (5454, 6161)
    assert found.achieved_power == pytest.approx(0.99**46 + 46 * 0.01 * 0.99**45, rel=1e-12)
    assert "with 5,454 labelled rows" in found.note
    assert "from 6,161 rows on" in found.note
    reverse = plan(n_labeled=5454, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    assert reverse.n_trials < 54
    assert (reverse.n, reverse.dips_at) == (117, 100)


def test_impossible_requests_say_why():
    full = {"n_labeled": 1000, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 0.9}

    def asked(**changes):
        return plan(**{**full, **changes})

    with pytest.raises(
        ArgumentError, match=r"delta_star = 0, got 0: .* above its level alpha = 0.05"
    ):
        asked(n_labeled=None, delta=0.0)
    with pytest.raises(ArgumentError, match=r"delta must be above delta_star = 0\.2, got 0\.1"):
        asked(n=None, delta_star=0.2)
    with pytest.raises(ArgumentError, match=r"stable with probability above its level alpha$"):
        asked(alpha=None, delta_star=0.1)
    with pytest.raises(ArgumentError, match=r"power must be below 1 for delta_star = 0\.05"):
        asked(n_labeled=None, power=1.0, delta_star=0.05)
    ceiling = power_bound(2, 50, delta=0.1, alpha=0.05)
    needs = (
        f"16 trials, power 0 and a ceiling of {at_most(ceiling)} .* n = 2 needs 87 labelled rows"
    )
    with pytest.raises(ArgumentError, match=needs):
        asked(n=None, n_labeled=50)
    with pytest.raises(
        ArgumentError, match=r"hold no trial at n = 2,000 \(kappa = 0\.4997\).*2,001"
    ):
        asked(delta=None, n=2000)
    with pytest.raises(ArgumentError, match=r"with 9 trials.*so the power is at most 1 - 0\.1342"):
        asked(delta=None, delta_star=0.8)
    with pytest.raises(ArgumentError, match="needs more than 9e15 trials"):
        asked(n_labeled=None, delta=0.1, delta_star=0.1 - 1e-10)


def test_malformed_requests_say_why():
    full = {"n_labeled": 1000, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 0.9}
    with pytest.raises(
        ArgumentError, match="leave exactly one of n_labeled, n, delta, alpha, power"
    ):
        plan(**full)
    with pytest.raises(ArgumentError, match="None now: n_labeled, n"):
        plan(**{**full, "n_labeled": None, "n": None})
    with pytest.raises(ArgumentError, match=r"power must be in \(0, 1\], got 0"):
        plan(**{**full, "n": None, "power": 0})
    with pytest.raises(ArgumentError, match=r"delta_star must be in \[0, 1\), got 1"):
        plan(**{**full, "n": None, "delta_star": 1.0})
    with pytest.raises(ArgumentError, match="n must be a whole number >= 2"):
        plan(**{**full, "alpha": None, "n": 1})


def test_alpha_below_what_floats_hold():
    found = plan(n_labeled=10**9, n=100, delta=0.1, power=1.0)
    assert 0 < found.alpha < 1e-300
    assert found.achieved_power == 1


def test_a_coin_needs_no_rows():
    found = plan(n=10, delta=0.1, alpha=0.05, power=0.05, delta_star=0.05, randomized=True)
    assert (found.n_labeled, found.n_trials) == (0, 0)
    assert found.achieved_power == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("unknown", "words"),
    [
        ("n_labeled", "Answer: 2,929 labelled rows."),
        ("n", "Answer: n = 33."),
        ("delta", "Answer: delta = 0.2832."),  # rounded up: 0.2831 would not do
        ("alpha", "Answer: alpha = 0.3875."),
        ("power", "Answer: probability 0."),
    ],
)
def test_summary(unknown, words):
    full = {"n_labeled": 1000, "n": 100, "delta": 0.1, "alpha": 0.05, "power": 1.0}
    found = plan(**{**full, unknown: None})
    assert found.solved_for == unknown
    assert words in found.summary()
    assert f"{found.n_trials} independent trials ({found.n_fits} fits)" in found.summary()
    assert str(found) == found.summary()


def test_what_was_asked_has_all_its_digits() -> None:
    """The answer is rounded up instead; in the picture both are written alike."""
    asked = plan(n=100, n_labeled=5000, delta=0.123456, alpha=0.0234567)
    assert "for delta = 0.123456 at level 0.0234567 then has" in asked.summary()
    several = plan(n=100, n_labeled=5000, delta=0.1, alpha=0.0234567, algorithms=3)
    assert "at level 0.007819 (= 0.0234567 / 3 algorithms) then has" in several.summary()
    names = {text.get_text() for text in asked.plot().axes[0].get_legend().get_texts()}
    assert {"delta = 0.123456", "level 0.0234567"} <= names
    solved = plan(n=100, n_labeled=5000, power=0.9)
    assert "for delta = 0.05931 at level 0.05 then has" in solved.summary()
    names = {text.get_text() for text in solved.plot().axes[0].get_legend().get_texts()}
    assert {"delta = 0.05931", "level 0.05"} <= names


def test_summary_names_an_error_probability_as_such():
    found = plan(n_labeled=100, n=10, delta=0.1, alpha=0.05, delta_star=0.2, randomized=True)
    assert "not stable" in found.note
    assert found.power < 0.05


def test_json_round_trip():
    found = plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    data = json.loads(found.to_json())
    assert data == found.to_dict()
    assert (data["n_trials"], data["kappa"], data["n_fits"], data["dips"]) == (46, 46.0, 92, True)
    assert Plan.from_json(found.to_json()) == found
    with pytest.raises(AttributeError):
        found.n = 3  # type: ignore[misc]


def test_a_delta_that_no_data_set_can_certify() -> None:
    assert plan(n=2, delta=1e-13, power=1.0).n_trials == 29957322735539
    with pytest.raises(ArgumentError, match="delta must be at least 1e-13 to plan for it"):
        plan(n=2, delta=1e-14, power=1.0)
    result = poise.Trials.from_changes([0.1] * 5, n=5).test(0.2, 1e-17)
    assert "a larger delta: no amount of data can certify that a change is so rare" in str(result)
    assert "that a change never occurs" in str(poise.Trials.from_changes([0.1], n=5).test(0.2, 0))
