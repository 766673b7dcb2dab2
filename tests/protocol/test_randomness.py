"""Every random number depends on (root seed, role, trial) alone, and is what it is said to be."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.protocol.randomness import Independent, Randomness, Shared, as_coupling, as_uniform


def words_by_hand(root: int, role: str, trial: int) -> list[int]:
    """Philox, keyed by a hash of seed and role, with the trial as its counter."""
    digest = hashlib.blake2b(f"{root}:{role}".encode(), digest_size=16).digest()
    bits = np.random.Philox(key=int.from_bytes(digest, "little"), counter=trial)
    return bits.random_raw(4).tolist()


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 5), (3, 4), (7, 12), (4, 4)])
def test_a_block_holds_the_words_of_its_trials(start, stop) -> None:
    block = Randomness(11).block("xi", start, stop)
    assert block.shape == (stop - start, 4)
    assert block.tolist() == [words_by_hand(11, "xi", trial) for trial in range(start, stop)]


def test_one_number_is_the_first_word_of_its_trial() -> None:
    randomness = Randomness(3)
    for trial in (0, 1, 9):
        word = words_by_hand(3, "xi", trial)[0]
        assert randomness.words("xi", trial) == word
        assert randomness.uniform("xi", trial) == (word >> 11) / 2**53
    assert randomness.words("xi") == randomness.words("xi", 0)
    assert len({Randomness(r).words(n, t) for r in (0, 1) for n in ("a", "b") for t in (0, 1)}) == 8


def test_zeta_is_above_0_and_may_be_1() -> None:
    """1 − U, so that ζ = 0, where exact ties break, cannot occur."""
    for root in range(50):
        zeta = Randomness(root).zeta
        assert zeta == 1 - (words_by_hand(root, "zeta", 0)[0] >> 11) / 2**53
        assert 0 < zeta <= 1


def test_a_generator_is_seeded_by_all_four_words() -> None:
    expected = np.random.Generator(np.random.PCG64(words_by_hand(5, "order", 2)))
    found = Randomness(5).generator("order", 2)
    assert found.integers(2**40, size=8).tolist() == expected.integers(2**40, size=8).tolist()
    assert Randomness(5).generator("order").random() == Randomness(5).generator("order", 0).random()


def test_a_term_as_a_uniform_number() -> None:
    assert as_uniform(0) == as_uniform((1 << 11) - 1) == 0.0
    assert as_uniform(1 << 11) == 2.0**-53
    assert as_uniform(2**64 - 1) == 1 - 2.0**-53


# --- seeds ----------------------------------------------------------------------------


def test_seeds_of_every_kind() -> None:
    for seed in (0, 7, 2**70, np.int64(7), np.uint8(7)):
        assert Randomness.from_state(seed).root == int(seed)
    drawn = Randomness.from_state(np.random.default_rng(1)).root
    assert drawn == np.random.default_rng(1).integers(0, 2**53)
    old = Randomness.from_state(np.random.RandomState(1)).root
    assert old == np.random.RandomState(1).randint(0, 2**31 - 1)
    roots = [Randomness.from_state(None).root for _ in range(20)]
    assert len(set(roots)) == 20  # two of 20 are equal with probability 2e-14
    assert all(0 <= root < 2**53 for root in roots)
    assert max(roots) > 2**42  # all below with probability 2^-220


@pytest.mark.parametrize("wrong", [-1, np.int64(-1), True, False, 1.0, "7", [1], np.nan])
def test_what_is_no_seed(wrong) -> None:
    with pytest.raises(ArgumentError, match="random_state must be None, a whole number >= 0"):
        Randomness.from_state(wrong)


# --- couplings ------------------------------------------------------------------------


def test_shared_and_independent_terms() -> None:
    words = Randomness(0).block("xi", 0, 3)
    assert [part.tolist() for part in Shared().pairs(words)] == [words[:, 0].tolist()] * 2
    assert [part.tolist() for part in Independent().pairs(words)] == words[:, :2].T.tolist()
    assert as_coupling("shared") == Shared()
    assert as_coupling("independent") == Independent()


class Own:
    name = "own"

    def __init__(self, made) -> None:
        self.made = made

    def pairs(self, words):
        return self.made(words)


def test_a_coupling_of_ones_own() -> None:
    coupling = Own(lambda words: (words[:, 0], ~words[:, 0]))
    assert as_coupling(coupling) is coupling
    for made in (
        lambda words: words[:, 0],
        lambda words: (words[:, 0],),
        lambda words: (words[:, 0], words[:, :2]),
        lambda words: [words[:, 0], words[:, 0]],
        lambda words: (words[:1, 0], words[:1, 0]),
    ):
        with pytest.raises(ArgumentError, match="of coupling 'own' must return a tuple of two"):
            as_coupling(Own(made))
    for wrong in ("antithetic", Own, None, 3):
        with pytest.raises(ArgumentError, match="coupling must be 'shared', 'independent' or"):
            as_coupling(wrong)
