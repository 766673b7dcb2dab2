"""Random numbers that depend on (root seed, role, trial) alone.

A counter-based generator gives each trial numbers of its own. So trial 7 gets the same ξ with one
worker or sixty, on any backend, and after a crash: nothing depends on the order of computing.
"""

from __future__ import annotations

import hashlib
import numbers
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import ArgumentError

Ids = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORDS_PER_TRIAL = 4  # Philox makes four 64-bit words per step of its counter
_SEEDS = 2**53  # JSON readers that use floats would round larger seeds


@dataclass(frozen=True)
class Randomness:
    """The source of ξ and of every order of rows in a run, the same for the same root seed."""

    root: int
    first: int = 0  # number of the trial that is called 0 here, in runs that continue others

    @classmethod
    def from_state(cls, random_state: Any) -> Randomness:
        """Take what scikit-learn takes: a whole number, None, a Generator or a RandomState."""
        if isinstance(random_state, Randomness):
            return random_state
        if random_state is None:
            return cls(secrets.randbelow(_SEEDS))
        if isinstance(random_state, np.random.Generator):
            return cls(int(random_state.integers(0, _SEEDS)))
        if isinstance(random_state, np.random.RandomState):
            return cls(int(random_state.randint(0, 2**31 - 1)))
        whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
        if whole and random_state >= 0:
            return cls(int(random_state))
        rule = "must be a whole number >= 0, None, a numpy Generator or a RandomState"
        raise ArgumentError(rule, argument="random_state", got=random_state)

    def block(self, role: str, start: int, stop: int) -> Words:
        """Return four random words for each of the trials ``start`` to ``stop - 1``."""
        philox = np.random.Philox(key=_key(self.root, role), counter=self.first + start)
        words = philox.random_raw(_WORDS_PER_TRIAL * (stop - start))
        return np.asarray(words, dtype=np.uint64).reshape(-1, _WORDS_PER_TRIAL)

    def uniform(self, role: str, trial: int = 0) -> float:
        """Return one number in [0, 1)."""
        return (int(self.block(role, trial, trial + 1)[0, 0]) >> 11) * 2.0**-53

    def generator(self, role: str, trial: int = 0) -> np.random.Generator:
        """Return a numpy Generator for this role and trial."""
        return np.random.Generator(np.random.PCG64(self.block(role, trial, trial + 1)[0].tolist()))

    def order(self, role: str, count: int) -> Ids:
        """Return a random order of so many rows: that of their keys."""
        return order_of_keys(self.keys(role, 0, count))

    def keys(self, role: str, start: int, stop: int) -> Words:
        """Return the keys of the rows ``start`` to ``stop - 1``.

        Key i is word i of a Philox stream, so any machine knows the key of any row without those
        before it.
        """
        step, skip = divmod(start, _WORDS_PER_TRIAL)
        philox = np.random.Philox(key=_key(self.root, role), counter=step)
        return np.asarray(philox.random_raw(skip + stop - start), dtype=np.uint64)[skip:]


@lru_cache(maxsize=256)
def _key(root: int, role: str) -> Words:
    """Hash (root, role) into a Philox key; any change of either gives another stream."""
    digest = hashlib.blake2b(f"{root}:{role}".encode(), digest_size=16).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def order_of_keys(keys: Words) -> Ids:
    """Return the places of the keys in ascending order of their upper bits; overwrites the keys.

    The lower bits of each key give way to its place, so that one sort of plain numbers, several
    times as fast as an argsort, carries the places along. Keys with equal upper bits stay in the
    order of their places. This hardly ever happens, and only swaps neighbours.

    Examples
    --------
    >>> order_of_keys(np.array([30 << 40, 10 << 40, 20 << 40, 10 << 40], dtype=np.uint64))
    array([1, 3, 2, 0])
    """
    numbered(keys, 0, len(keys)).sort()
    keys &= _lower(len(keys))
    return keys.view(np.int64)


def numbered(keys: Words, first: int, count: int) -> Words:
    """Replace the lower bits of keys by the numbers of their rows, of which there are ``count``."""
    keys &= ~_lower(count)
    keys |= np.arange(first, first + len(keys), dtype=np.uint64)
    return keys


def _lower(count: int) -> np.uint64:
    return np.uint64((1 << max(count - 1, 1).bit_length()) - 1)


def fresh_coin() -> float:
    """Draw ζ of a randomised test from fresh entropy, in (0, 1]: 0 would break exact ties."""
    return 1.0 - secrets.randbits(53) * 2.0**-53


@dataclass(frozen=True)
class Coupling:
    """A joint law of (ξ, ξ′), each uniform by itself (Appendix E of the paper).

    ``pairs(words)`` turns four independent random words per trial, shape (trials, 4), into the
    random terms of the full and of the reduced fit, one of each per trial. Any object with a
    ``name`` and such a method is a coupling.

    Examples
    --------
    >>> class Antithetic:
    ...     name = "antithetic"
    ...     def pairs(self, words):
    ...         return words[:, 0], ~words[:, 0]
    >>> as_coupling(Antithetic()).name
    'antithetic'
    """

    name: str
    pairs: Callable[[Words], tuple[Words, Words]]


def _shared(words: Words) -> tuple[Words, Words]:
    return words[:, 0], words[:, 0]


def _independent(words: Words) -> tuple[Words, Words]:
    return words[:, 0], words[:, 1]


_COUPLINGS = {each.__name__[1:]: each for each in (_shared, _independent)}


def as_coupling(coupling: object) -> Coupling:
    """Turn ``"shared"``, ``"independent"`` or an object with a name and pairs into a coupling."""
    if isinstance(coupling, str) and coupling in _COUPLINGS:
        return Coupling(coupling, _COUPLINGS[coupling])
    name, pairs = getattr(coupling, "name", None), getattr(coupling, "pairs", None)
    if isinstance(coupling, type) or not isinstance(name, str) or not callable(pairs):
        rule = "must be 'shared', 'independent' or an object with a name and a method pairs(words)"
        raise ArgumentError(rule, argument="coupling", got=coupling)
    made = pairs(np.zeros((2, _WORDS_PER_TRIAL), dtype=np.uint64))
    if not isinstance(made, tuple) or [np.shape(part) for part in made] != [(2,), (2,)]:
        rule = "must return a tuple of two arrays with one term per row of words"
        raise ArgumentError(f"coupling {name!r}: pairs(words) {rule}")
    return Coupling(name, pairs)
