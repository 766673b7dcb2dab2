"""Buffers that blocks share, and blocks that fit the cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from poise.shortcuts.block_memory import cached_slices, keep_freed_memory, scratch

LARGEST = 1 << 22  # numbers that are kept


def test_the_same_purpose_gets_the_same_memory() -> None:
    first = scratch("a test", (3, 4))
    first[:] = 7.0
    again = scratch("a test", (2, 5))
    assert np.shares_memory(first, again)
    assert (again == 7.0).all()
    assert again.shape == (2, 5)
    assert not np.shares_memory(first, scratch("another test", (3, 4)))


def test_memory_grows_where_it_must_and_never_shrinks() -> None:
    small = scratch("growth", (10,))
    large = scratch("growth", (1000,))
    assert not np.shares_memory(small, large)
    assert np.shares_memory(large, scratch("growth", (10,)))
    assert np.shares_memory(large, scratch("growth", (1000,)))  # exactly as large is enough


def test_what_is_very_large_is_not_kept() -> None:
    kept = scratch("size", (LARGEST,))
    assert np.shares_memory(kept, scratch("size", (LARGEST,)))
    assert not np.shares_memory(scratch("size", (LARGEST + 1,)), scratch("size", (LARGEST + 1,)))
    assert np.shares_memory(kept, scratch("size", (5,)))


def test_threads_do_not_share() -> None:
    own = scratch("threads", (8,))
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(scratch, "threads", (8,)).result()
    assert not np.shares_memory(own, other)


@pytest.mark.parametrize(
    "shape", [(5, 1000, 20), (1, 2000, 50), (3, 2000, 50), (700, 10, 3), (0, 10, 3), (64, 1, 1024)]
)
def test_slices_cover_every_trial_once_and_fit_the_cache(shape) -> None:
    stack = np.zeros(shape)
    slices = list(cached_slices(stack))
    covered = [trial for piece in slices for trial in range(piece.start, piece.stop)]
    assert covered == list(range(len(stack)))
    for piece in slices[:-1]:
        block = stack[piece].nbytes
        one_more = block + (stack[:1].nbytes)
        assert len(stack[piece]) == 1 or block <= 1 << 19
        assert one_more > 1 << 19  # no slice is smaller than it needs to be


def test_nothing_is_returned_and_it_happens_once() -> None:
    assert keep_freed_memory() is None
    before = keep_freed_memory.cache_info().hits
    keep_freed_memory()
    assert keep_freed_memory.cache_info().hits == before + 1
