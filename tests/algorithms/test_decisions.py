"""Shares of decisions that change, against loops."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.algorithms.distances import as_distance
from poise.algorithms.predictions import Undefined
from poise.decisions import decision, flips, ranking, top_k
from poise.errors import ArgumentError

few = st.integers(0, 4).map(float)  # ties are frequent
pairs = st.lists(st.tuples(few, few), min_size=3, max_size=9)


@given(pairs)
def test_shares_equal_loops(pairs):
    a, b = zip(*pairs, strict=True)
    T = len(pairs)
    crossed = sum((x > 2) != (z > 2) for x, z in pairs)
    assert flips(2, of=T)(a, b).tolist() == [crossed / T]

    def best(scores):  # ties go to the earlier point
        return {i for _, i in sorted((-score, i) for i, score in enumerate(scores))[:2]}

    assert top_k(2, of=T)(a, b).tolist() == [1 - len(best(a) & best(b)) / 2]
    both = list(itertools.combinations(range(T), 2))
    other = [np.sign(a[i] - a[j]) != np.sign(b[i] - b[j]) for i, j in both]
    assert ranking(of=T)(a, b).tolist() == pytest.approx([np.mean(other)])


def test_what_a_decision_says_of_itself():
    for made in (flips(0.5, of=4), top_k(2, of=4), ranking(of=4), decision(max, of=4)):
        assert (made.panel, made.points, made.largest) == (True, 4, 1.0)
        again = pickle.loads(pickle.dumps(made))
        assert again.name == made.name
    for text in ("top_k(50, of=500)", "flips(0.25, of=80)", "ranking(of=7)"):
        assert as_distance(text).name == text
    assert as_distance(" top_k(of=500, k=50) ").points == 500
    assert as_distance("loss_change('squared')").name == "change of squared loss"


def test_two_probabilities_are_that_of_the_second_class():
    chances = np.array([0.1, 0.4, 0.6, 0.9])
    moved = np.array([0.1, 0.6, 0.4, 0.9])
    two = [np.column_stack([1 - each, each]) for each in (chances, moved)]
    assert flips(0.5, of=4)(*two) == flips(0.5, of=4)(chances, moved) == 0.5
    with pytest.raises(Undefined, match="one number per point"):
        flips(0.5, of=2)(np.ones((2, 3)), np.ones((2, 3)))


def test_failures_are_never_small_shares():
    for missing in (math.nan, None):
        assert np.isnan(ranking(of=2)([1.0, missing], [1.0, 2.0])).all()
    assert np.isnan(ranking(of=2)([1.0, math.inf], [1.0, math.inf])).all()
    assert ranking(of=2)([1.0, -math.inf], [1.0, 2.0]) == 1.0  # the last has become the first
    with pytest.raises(Undefined, match=r"top_k\(2, of=4\) is about 4 points, got 3"):
        top_k(2, of=4)([1, 2, 3], [1, 2, 3])
    with pytest.raises(Undefined, match="text"):
        ranking(of=2)(["a", "b"], ["b", "a"])
    assert np.isnan(decision(lambda a, b: math.nan, of=1)([1.0], [1.0])).all()
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match=r"must return a share in \[0, 1\]"):
            decision(lambda a, b, share=share: share, of=1)([1.0], [1.0])


def test_refusals():
    calls = "top_k(4, of=4)", "top_k(0, of=4)", "ranking(of=1)", "flips(1e999, of=4)", "print(1)"
    calls += "flips('a', of=4)", "flips(0.5, of=0)", "top_k(50)", "top_k(*[1, 2])", "top_k(" * 2000
    for text in (*calls, "top_k(50, of=__import__('os').getpid())", "decision(max, of=3)"):
        with pytest.raises(ArgumentError):
            as_distance(text)
