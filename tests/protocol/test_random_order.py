"""The random order of rows: keys against another implementation, pieces, ties, uniformity."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from poise.protocol import random_order
from poise.protocol.random_order import PERMUTATION, order_of_keys, stream_of_keys
from poise.protocol.randomness import LaterTrials, Randomness, _key

_WORD = 2**64 - 1


def _philox(counter: int, key: tuple[int, int]) -> list[int]:
    """Philox 4x64 with ten rounds, written from Salmon et al. (2011), Figure 2 and Table 2."""
    words = [counter >> (64 * i) & _WORD for i in range(4)]
    low, high = key
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * words[0], 0xCA5A826395121157 * words[2]
        words = [
            second >> 64 ^ words[1] ^ low,
            second & _WORD,
            first >> 64 ^ words[3] ^ high,
            first & _WORD,
        ]
        low, high = low + 0x9E3779B97F4A7C15 & _WORD, high + 0xBB67AE8584CAA73B & _WORD
    return words


def test_the_reference_gives_the_published_vector() -> None:
    # kat_vectors of Random123: philox4x64, 10 rounds, counter and key all ones.
    found = _philox(2**256 - 1, (_WORD, _WORD))
    assert [f"{word:016x}" for word in found] == [
        "87b092c3013fe90b",
        "438c3c67be8d0224",
        "9cc7d7c69cd777b6",
        "a09caebf594f0ba0",
    ]


@pytest.mark.parametrize("start", [0, 1, 7, 10**12 + 3])
def test_keys_are_words_of_the_stream(start: int) -> None:
    philox_key = _key(5, "order of labelled rows")
    found = stream_of_keys(philox_key, start, start + 9).tolist()
    # numpy advances the counter before it computes: word 0 belongs to counter 1.
    wanted = [_philox(row // 4 + 1, philox_key)[row % 4] for row in range(start, start + 9)]
    assert found == wanted


def test_no_rows_have_no_keys() -> None:
    assert Randomness(0).keys("rows", 3, 3).tolist() == []
    assert Randomness(0).order("rows", 0).tolist() == []
    assert Randomness(0).order("rows", 1).tolist() == [0]


@pytest.mark.parametrize("largest", [1, 3, 2**12, 2**60])
@pytest.mark.parametrize("count", [1, 2, 1000, 1025])
def test_order_of_keys_with_and_without_ties(largest: int, count: int) -> None:
    rng = np.random.default_rng([largest % 97, count])
    keys = rng.integers(0, largest, count, dtype=np.uint64) * np.uint64(2**64 // (2 * largest))
    assert order_of_keys(keys).tolist() == sorted(range(count), key=lambda i: (keys[i], i))


def test_keys_that_differ_in_their_last_bits() -> None:
    keys = np.arange(4096, dtype=np.uint64)[::-1] + np.uint64(2**63)
    assert order_of_keys(keys).tolist() == list(range(4095, -1, -1))


@pytest.mark.parametrize("place", [0, 1022, 1023, 1024, 2046, 2047, 2998])
def test_two_keys_that_share_their_upper_bits(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever they stand in the order, also where one part of it ends and the next begins."""
    monkeypatch.setattr(random_order, "_KEYS_CACHED", 1024)
    expected = np.random.default_rng(place).permutation(3000)
    in_order = np.arange(3000, dtype=np.uint64) << np.uint64(40)
    in_order[place + 1] = in_order[place] + np.uint64(1)
    # The later key of the two stands first among the rows.
    first, second = sorted(expected[[place, place + 1]])
    expected[[place, place + 1]] = second, first
    keys = np.empty_like(in_order)
    keys[expected] = in_order
    assert order_of_keys(keys).tolist() == expected.tolist()


def test_every_order_is_as_likely() -> None:
    # 120 orders of 5 rows, 24,000 seeds; false alarm below 1e-6.
    places = {order: place for place, order in enumerate(permutations(range(5)))}
    seen = [places[tuple(Randomness(seed).order("rows", 5).tolist())] for seed in range(24_000)]
    counts = np.bincount(seen, minlength=120)
    statistic = float(((counts - 200.0) ** 2 / 200.0).sum())
    assert statistic < chi2.isf(1e-6, 119)


def test_the_older_order_is_numpys_shuffle() -> None:
    older = Randomness(8).as_drawn(PERMUTATION)
    wanted = older.generator("order of groups").permutation(50)
    assert older.order("order of groups", 50).tolist() == wanted.tolist()
    assert Randomness(8).order("order of groups", 50).tolist() != wanted.tolist()


def test_roles_seeds_and_later_trials() -> None:
    order = Randomness(1).order("a", 40).tolist()
    assert order != Randomness(1).order("b", 40).tolist()
    assert order != Randomness(2).order("a", 40).tolist()
    assert order == LaterTrials(1, first=7).order("a", 40).tolist()
