"""Bags without replacement that survive the removal of the last row."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poise.algorithms.coupled_bags import draw_subbag


@given(
    seed=st.integers(0, 2**64 - 1),
    bag=st.integers(0, 50),
    n=st.integers(1, 40),
    share=st.floats(0, 1),
)
def test_only_the_last_row_is_replaced(seed, bag, n, share):
    size = 1 + int(share * (n - 1))
    full, reduced = (draw_subbag(seed, bag, rows, size) for rows in (n + 1, n))
    assert len(set(full.tolist())) == len(set(reduced.tolist())) == size
    assert reduced.max() < n
    assert full.max() <= n
    changed = full != reduced
    assert np.array_equal(full[changed], [n] * (n in full))


@pytest.mark.parametrize("rows", [3, 4, 5])
def test_every_ordered_bag_is_equally_likely(rows):
    """A chi-square test at 1e-7 on a fixed seed, for every order of every pair of rows."""
    drawn = Counter(tuple(draw_subbag(11, bag, rows, 2).tolist()) for bag in range(6000))
    counts = [drawn[pair] for pair in permutations(range(rows), 2)]
    assert sum(counts) == 6000
    assert stats.chisquare(counts).pvalue > 1e-7
