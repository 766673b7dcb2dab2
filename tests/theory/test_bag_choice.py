"""Bag size and number of bags chosen together: enough, no larger than promised, and in order."""

from __future__ import annotations

import re

import pytest

from poise import theory
from poise.errors import ArgumentError

QUESTIONS = [
    {"n": 100, "epsilon": 0.1, "delta": 0.1},
    {"n": 60, "epsilon": 5.0, "delta": 0.05, "width": 20.0},
    {"n": 1000, "epsilon": 0.05, "delta": 0.02},
    {"n": 5000, "epsilon": 0.05, "delta": 0.01},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "n_classes": 3},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "n_classes": 2},
    {"n": 400, "epsilon": 0.2, "delta": 0.1, "coupled": True},
]


def enough(choice):
    """Whether the guarantee holds, worked out anew from the two theorems."""
    given = (choice.n, choice.bag_size, choice.epsilon, choice.delta, choice.width)
    return any(
        0 < needed(*given, coupled=choice.coupled) <= choice.n_bags
        for needed in (theory.bags_needed, theory.bags_needed_chernoff)
    )


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
    assert [(c.bag_size, c.n_bags) for c in listed[:2]] == [(13, 6), (17, 9)]


@pytest.mark.parametrize(
    "question", [*QUESTIONS[:2], {"n": 90, "epsilon": 0.4, "delta": 0.1, "n_classes": 3}], ids=str
)
def test_the_default_is_the_largest_bag_for_four_times_the_fewest_bags(question):
    """Every bag size is tried, where the search tries a few."""
    sizes = range(1, question["n"])
    needed = {}
    for size in sizes:
        try:
            needed[size] = theory.choose_bags(**question, bag_size=size).n_bags
        except ArgumentError:
            break
    default = theory.choose_bags(**question)
    fewest = min(needed.values())
    assert default.bag_size == max(b for b, bags in needed.items() if bags <= 4 * fewest)
    assert default.n_bags == needed[default.bag_size]
    for choice in theory.bag_trade_off(**question):
        cheaper = [b for b, bags in needed.items() if bags <= choice.n_bags]
        assert choice.bag_size == max(cheaper)
    # No size is above the largest with all bags; δ of a few whole rows is not used up by fewer.
    assert 0.8 * default.largest_bag <= max(needed) <= default.largest_bag


def test_the_largest_bag_is_that_of_theorem_l_and_of_k_beyond():
    for n, sharp in ((100, theory.largest_admissible_bag), (1500, theory.largest_bag)):
        assert theory.choose_bags(n, epsilon=0.1, delta=0.1).largest_bag == sharp(n, 0.1, 0.1)
    width = theory.probability_width(3)
    three = theory.choose_bags(100, epsilon=0.2, delta=0.1, n_classes=3)
    assert three.largest_bag == theory.largest_bag(100, 0.2, 0.1, width)


def test_the_default_bag_is_larger_than_half_of_delta_allowed_by_theorem_k():
    for n, epsilon, delta in [
        (100, 0.1, 0.1),
        (40, 0.4, 0.2),
        (200, 0.1, 0.05),
        (3000, 0.05, 0.05),
    ]:
        choice = theory.choose_bags(n, epsilon=epsilon, delta=delta)
        assert choice.bag_size > theory.largest_bag(n, epsilon, delta / 2)


def test_the_largest_bag_for_a_number_of_bags_is_the_largest():
    question = {"epsilon": 0.1, "delta": 0.1}
    choice = theory.choose_bags(100, **question, n_bags=2000)
    assert choice.n_bags == 2000
    assert theory.choose_bags(100, **question, bag_size=choice.bag_size).n_bags <= 2000
    assert theory.choose_bags(100, **question, bag_size=choice.bag_size + 1).n_bags > 2000


def test_the_theorem_that_needs_fewer_bags_counts_them():
    few = theory.choose_bags(40, epsilon=0.4, delta=0.2, bag_size=28)
    assert (few.theorem, few.n_bags) == ("K", theory.bags_needed(40, 28, 0.4, 0.2))
    beyond = theory.choose_bags(100, epsilon=0.1, delta=0.1, bag_size=33)
    assert (beyond.theorem, theory.bags_needed(100, 33, 0.1, 0.1)) == ("L", 0)
    assert beyond.n_bags == theory.bags_needed_chernoff(100, 33, 0.1, 0.1)
    # Three classes are no number, so that only Theorem K applies.
    with pytest.raises(ArgumentError, match="no bags of 33 rows"):
        theory.choose_bags(100, epsilon=0.1, delta=0.1, bag_size=33, n_classes=3)


def test_bags_that_are_too_few_reach_a_larger_delta():
    from poise.theory.bag_choice import bags_as_they_are

    given = {"epsilon": 0.1, "delta": 0.1, "bag_size": 23}
    enough = theory.choose_bags(100, **given)
    assert bags_as_they_are(100, **given, n_bags=enough.n_bags).delta == 0.1
    reached = [bags_as_they_are(100, **given, n_bags=m).delta for m in (2400, 1500, 800, 5)]
    assert 0.1 < reached[0] < reached[1] < reached[2] < reached[3] == 1
    assert reached[2] <= theory.finite_bag_delta(100, 23, 800, 0.1)


def test_classes_replace_the_width():
    three = theory.choose_bags(400, epsilon=0.2, delta=0.1, n_classes=3)
    assert three.width == theory.probability_width(3)
    same = theory.bags_needed(400, three.bag_size, 0.2, 0.1, three.width)
    assert (three.theorem, three.n_bags) == ("K", same)


def test_coupled_bags_are_fewer_and_say_what_they_need():
    free = theory.choose_bags(300, epsilon=0.1, delta=0.1)
    coupled = theory.choose_bags(300, epsilon=0.1, delta=0.1, coupled=True)
    assert coupled.bag_size == free.bag_size
    assert coupled.n_bags == pytest.approx(free.n_bags * free.bag_size / 300, rel=0.02)
    assert "share their seed" in coupled.sentence
    assert "share their seed" not in free.sentence


def test_the_sentence_holds_the_numbers():
    sentence = theory.choose_bags(100, epsilon=0.1, delta=0.1).sentence
    for part in ("2,460 fits", "23 of 100 rows", "(0.1, 0.1)-stable", "Theorem L", "width 1"):
        assert part in sentence


def impossible(**question):
    with pytest.raises(ArgumentError) as caught:
        theory.choose_bags(**question)
    return str(caught.value)


@pytest.mark.parametrize("asked", [(20, 0.01, 0.05), (100, 0.004, 0.1), (1500, 1e-4, 0.05)])
def test_an_impossible_request_says_what_would_be_possible(asked):
    n, epsilon, delta = asked
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
    assert "n_bags must be at least 1,9" in message
    assert "n_bags must be at least 647" in impossible(**question, n_bags=100)


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
