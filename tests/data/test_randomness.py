"""Every random number depends on (root, role, trial) alone, and is what it is said to be."""

from __future__ import annotations

import hashlib
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from poise.data.randomness import Randomness, as_coupling, fresh_coin
from poise.errors import ArgumentError

WORD = 2**64 - 1


def philox(counter: int, key: int) -> list[int]:
    """Philox 4x64 with ten rounds, written from Salmon et al. (2011), Figure 2 and Table 2."""
    a, b, c, d = (counter >> (64 * i) & WORD for i in range(4))
    low, high = key & WORD, key >> 64
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b, c, d = second >> 64 ^ b ^ low, second & WORD, first >> 64 ^ d ^ high, first & WORD
        low, high = low + 0x9E3779B97F4A7C15 & WORD, high + 0xBB67AE8584CAA73B & WORD
    return [a, b, c, d]


def key(root: int, role: str) -> int:
    digest = hashlib.blake2b(f"{root}:{role}".encode(), digest_size=16).digest()
    return int.from_bytes(digest, "little")


def test_words_are_those_of_philox() -> None:
    # kat_vectors of Random123: philox4x64, 10 rounds, counter and key all ones.
    published = "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0"
    assert " ".join(f"{word:016x}" for word in philox(2**256 - 1, 2**128 - 1)) == published
    # numpy advances the counter before it computes: trial 0 belongs to counter 1.
    for root, start, stop in [(11, 0, 5), (2**70, 7, 12), (0, 10**12, 10**12 + 2), (3, 4, 4)]:
        wanted = [philox(trial + 1, key(root, "xi")) for trial in range(start, stop)]
        assert Randomness(root).block("xi", start, stop).tolist() == wanted
        later = Randomness(root, first=start).block("xi", 0, stop - start)
        assert later.tolist() == wanted
        for trial, words in enumerate(wanted, start):
            assert Randomness(root).uniform("xi", trial) == (words[0] >> 11) / 2**53
            mine = Randomness(root).generator("xi", trial).integers(2**40, size=3)
            other = np.random.Generator(np.random.PCG64(words)).integers(2**40, size=3)
            assert mine.tolist() == other.tolist()


def test_the_order_is_that_of_the_words() -> None:
    """By another sort; 5,000 words have equal upper bits with probability 1e-9."""
    for count in (0, 1, 2, 3, 1023, 1024, 1025, 5000):
        steps = [philox(step + 1, key(5, "rows")) for step in range(-(-count // 4))]
        words = [word for step in steps for word in step][:count]
        wanted = sorted(range(count), key=words.__getitem__)
        assert Randomness(5).order("rows", count).tolist() == wanted
        assert Randomness(5, first=3).order("rows", count).tolist() == wanted
    orders = {tuple(Randomness(r).order(role, 40)) for r in (1, 2) for role in "ab"}
    assert len(orders) == 4


def test_the_coin_is_fresh_and_never_0(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = [fresh_coin() for _ in range(1000)]
    assert len(set(coins)) == 1000
    assert all(0 < coin <= 1 for coin in coins)
    assert abs(np.mean(coins) - 0.5) < 6 * np.sqrt(1 / 12_000)
    monkeypatch.setattr("secrets.randbits", lambda bits: 0)
    assert fresh_coin() == 1


def test_seeds_of_every_kind() -> None:
    drawn = int(np.random.default_rng(1).integers(0, 2**53))
    old = np.random.RandomState(1).randint(0, 2**31 - 1)
    generators = [(np.random.default_rng(1), drawn), (np.random.RandomState(1), old)]
    for seed, root in [(0, 0), (2**70, 2**70), (np.uint8(7), 7), *generators]:
        assert Randomness.from_state(seed).root == root
    assert Randomness.from_state(Randomness(3, 4)) == Randomness(3, 4)
    roots = [Randomness.from_state(None).root for _ in range(20)]
    assert len(set(roots)) == 20  # two of 20 are equal with probability 2e-14
    assert 2**42 < max(roots) < 2**53  # all below with probability 2^-220
    for wrong in (-1, np.int64(-1), True, 1.0, "7", [1], np.nan):
        with pytest.raises(ArgumentError, match=r"random_state must be a whole number >= 0.*got"):
            Randomness.from_state(wrong)


def test_couplings() -> None:
    words = Randomness(0).block("xi", 0, 3)
    for name, second in [("shared", 0), ("independent", 1)]:
        made = pickle.loads(pickle.dumps(as_coupling(name))).pairs(words)
        assert [part.tolist() for part in made] == [words[:, 0].tolist(), words[:, second].tolist()]
    own = as_coupling(SimpleNamespace(name="own", pairs=lambda words: (words[:, 0], ~words[:, 0])))
    assert own == as_coupling(own)
    assert (own.pairs(words)[1] == ~words[:, 0]).all()
    for made in (
        lambda words: words[:, 0],
        lambda words: (words[:, 0],),
        lambda words: (words[:, 0], words[:, :2]),
        lambda words: [words[:, 0], words[:, 0]],
        lambda words: (words[:1, 0], words[:1, 0]),
    ):
        with pytest.raises(ArgumentError, match=r"'own'.* must return a tuple of two arrays"):
            as_coupling(SimpleNamespace(name="own", pairs=made))
    for wrong in ("antithetic", SimpleNamespace, None, 3):
        with pytest.raises(ArgumentError, match="coupling must be 'shared', 'independent' or"):
            as_coupling(wrong)
