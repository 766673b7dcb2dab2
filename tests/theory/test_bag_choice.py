"""Bag size and number of bags chosen together: enough, no larger than promised, and in order."""

from __future__ import annotations

import re

import pytest

from poise import theory
from poise.errors import ArgumentError

QUESTIONS = [
    {"n": 100, "epsilon": 0.1, "delta": 0.1},
    {"n": 60, "epsilon": 5.0, "delta": 0.05, "width": 20.0},
    {"n": 1000, "epsilon": 0.05, "delta": 0.1},
    {"n": 5000, "epsilon": 0.05, "delta": 0.01},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "n_classes": 3},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "n_classes": 2},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "coupled": True},
]


def enough(choice):
    """Whether the guarantee holds, worked out anew from the two theorems."""
    given = (choice.n, choice.bag_size, choice.epsilon, choice.delta, choice.width)
    if choice.theorem == "K":
        return 0 < theory.bags_needed(*given, coupled=choice.coupled) <= choice.n_bags
    return 0 < theory.bags_needed_hoeffding(*given) <= choice.n_bags


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_every_choice_is_enough_and_the_list_is_in_order(question):
    listed = theory.bag_trade_off(**question)
    default = theory.choose_bags(**question)
    assert all(enough(choice) for choice in [*listed, default])
    assert default in listed
    assert [c.n_bags for c in listed] == sorted({c.n_bags for c in listed})
    assert [c.bag_size for c in listed] == sorted({c.bag_size for c in listed})
    for choice in listed:
        fixed = theory.choose_bags(**question, bag_size=choice.bag_size)
        assert fixed == choice
        largest = theory.choose_bags(**question, n_bags=choice.n_bags)
        assert largest.bag_size >= choice.bag_size
        assert enough(largest)


def test_equally_many_bags_are_listed_once_with_the_largest_size():
    listed = theory.bag_trade_off(20, epsilon=0.8, delta=0.3)
    assert [(c.bag_size, c.n_bags) for c in listed[:2]] == [(11, 6), (15, 7)]


def test_the_default_leaves_half_of_delta_to_the_bags():
    choice = theory.choose_bags(1000, epsilon=0.05, delta=0.1)
    assert choice.bag_size == theory.largest_bag(1000, 0.05, 0.05)
    assert choice.n_bags == theory.bags_needed(1000, choice.bag_size, 0.05, 0.1)
    assert choice.rows_fitted == choice.bag_size * choice.n_bags


def test_the_largest_bag_for_a_number_of_bags_is_the_largest():
    choice = theory.choose_bags(100, epsilon=0.1, delta=0.1, n_bags=2000)
    needed = [theory.bags_needed(100, b, 0.1, 0.1) for b in (choice.bag_size, choice.bag_size + 1)]
    assert needed[0] <= choice.n_bags == 2000 < needed[1]


def test_theorem_l_counts_where_it_needs_fewer_bags():
    tiny = theory.choose_bags(100, epsilon=0.1, delta=0.1, bag_size=1)
    assert (tiny.theorem, tiny.n_bags) == ("L", 911)
    beyond = theory.choose_bags(100, epsilon=0.1, delta=0.1, bag_size=33)
    assert beyond.theorem == "L"
    assert theory.bags_needed(100, 33, 0.1, 0.1) == 0
    # Three classes are no number, so that only Theorem K applies.
    with pytest.raises(ArgumentError, match="no bags of 33 rows"):
        theory.choose_bags(100, epsilon=0.1, delta=0.1, bag_size=33, n_classes=3)


def test_classes_replace_the_width():
    three = theory.choose_bags(400, epsilon=0.2, delta=0.1, n_classes=3)
    assert three.width == theory.probability_width(3)
    same = theory.choose_bags(400, epsilon=0.2, delta=0.1, width=three.width)
    assert (same.bag_size, same.n_bags) == (three.bag_size, three.n_bags)


def test_coupled_bags_are_fewer_and_say_what_they_need():
    free = theory.choose_bags(1000, epsilon=0.05, delta=0.1)
    coupled = theory.choose_bags(1000, epsilon=0.05, delta=0.1, coupled=True)
    assert coupled.bag_size == free.bag_size
    assert coupled.n_bags == pytest.approx(free.n_bags * free.bag_size / 1000, abs=1)
    assert "share their seed" in coupled.sentence
    assert "share their seed" not in free.sentence


def test_the_sentence_holds_the_numbers():
    sentence = theory.choose_bags(1000, epsilon=0.05, delta=0.1).sentence
    for part in ("7,997 fits", "333 of 1,000 rows", "(0.05, 0.1)-stable", "Theorem K", "width 1"):
        assert part in sentence


def impossible(**question):
    with pytest.raises(ArgumentError) as caught:
        theory.choose_bags(**question)
    return str(caught.value)


@pytest.mark.parametrize("wish", [(20, 0.01, 0.05), (100, 0.004, 0.1), (1500, 1e-4, 0.05)])
def test_an_impossible_wish_says_what_would_be_possible(wish):
    n, epsilon, delta = wish
    message = impossible(n=n, epsilon=epsilon, delta=delta)
    better = float(re.search(r"epsilon above ([\d.e-]+)", message)[1])
    assert theory.choose_bags(n, epsilon=better * 1.001, delta=delta).bag_size >= 1
    impossible(n=n, epsilon=better * 0.97, delta=delta)
    rows = int(re.search(r"n of at least ([\d,]+)", message)[1].replace(",", ""))
    assert theory.choose_bags(rows, epsilon=epsilon, delta=delta).bag_size >= 1


def test_a_bag_that_is_too_large_says_which_would_do():
    question = {"n": 100, "epsilon": 0.1, "delta": 0.1}
    message = impossible(**question, bag_size=60)
    size = int(re.search(r"bags of at most (\d+) rows", message)[1])
    assert theory.choose_bags(**question, bag_size=size).n_bags > 0
    impossible(**question, bag_size=size + 1)
    delta = float(re.search(r"delta above ([\d.e-]+)", message)[1])
    assert theory.choose_bags(100, epsilon=0.1, delta=delta * 1.001, bag_size=60).theorem


def test_too_few_bags_say_how_many():
    question = {"n": 100, "epsilon": 0.1, "delta": 0.1}
    message = impossible(**question, bag_size=20, n_bags=100)
    assert "n_bags must be at least 2,713" in message
    assert "n_bags must be at least 911" in impossible(**question, n_bags=100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 1}, "n must be a whole number >= 2"),
        ({"epsilon": 0.0}, "epsilon must be a finite number above 0"),
        ({"delta": 0.0}, r"delta must be in \(0, 1\)"),
        ({"width": -1.0}, "width must be"),
        ({"bag_size": 100}, "bag_size must be at most n - 1 = 99, got 100"),
        ({"n_bags": 0}, "n_bags must be"),
        ({"coupled": "yes"}, "coupled must be True or False"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(ArgumentError, match=message):
        theory.choose_bags(**{"n": 100, "epsilon": 0.1, "delta": 0.1, **change})
