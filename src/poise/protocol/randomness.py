"""Random numbers: each depends on (root seed, role, trial) alone.

A counter-based generator gives each trial its own block. So trial 7 gets the same ξ with
one worker or sixty, on any backend, and after a crash and a resume. Nothing here depends
on the order in which trials are computed.
"""

from __future__ import annotations

import hashlib
import numbers
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.errors import ArgumentError
from poise.protocol.random_order import KEYS, order_of_keys, stream_of_keys

__all__ = [
    "Coupling",
    "Independent",
    "LaterTrials",
    "RandomStateLike",
    "Randomness",
    "Shared",
    "as_coupling",
    "as_uniform",
]

_WORDS_PER_TRIAL = 4  # Philox makes four 64-bit words per step of its counter
_SEEDS = 2**53  # whole numbers that a float holds exactly


def as_uniform(xi: int) -> float:
    """Read a 64-bit random term as the paper's Uniform[0, 1] (53 bits are kept).

    Examples
    --------
    >>> as_uniform(1 << 63)
    0.5
    """
    return (int(xi) >> 11) * 2.0**-53


@lru_cache(maxsize=256)
def _key(root: int, role: str) -> tuple[int, int]:
    """Hash (root seed, role) into a Philox key; any change of either gives another stream."""
    digest = hashlib.blake2b(f"{root}:{role}".encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


@dataclass(frozen=True)
class Randomness:
    """The source of ξ, ζ and every shuffle of one run.

    Parameters
    ----------
    root : int
        The root seed. Two runs with the same root draw the same numbers.
    rows : {"keys", "permutation"}
        How the random order of rows is drawn: by a key of each row, or by numpy's shuffle of
        all rows at once, as in older files.

    Examples
    --------
    >>> r = Randomness(0)
    >>> r.words("xi", 7) == r.block("xi", 5, 10)[2, 0]
    np.True_
    >>> 0.0 <= r.uniform("zeta") < 1.0
    True
    """

    root: int
    rows: str = KEYS

    @classmethod
    def from_state(cls, random_state: RandomStateLike) -> Randomness:
        """Accept what scikit-learn accepts: None, an int, a Generator or a RandomState.

        A Randomness is taken as it is.

        A seed that is drawn here is below 2⁵³: programs that read every number in JSON as
        a float (JavaScript, jq) would round a larger one, and repeat another run with it.
        """
        if isinstance(random_state, Randomness):
            return random_state
        if random_state is None:
            return cls(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 11)
        if isinstance(random_state, np.random.Generator):
            return cls(int(random_state.integers(0, _SEEDS)))
        if isinstance(random_state, np.random.RandomState):
            return cls(int(random_state.randint(0, 2**31 - 1)))
        if _is_seed(random_state):
            return cls(int(random_state))
        raise ArgumentError(
            "random_state must be None, a whole number >= 0, a numpy Generator or a "
            f"RandomState, got {random_state!r}"
        )

    def block(self, role: str, start: int, stop: int) -> NDArray[np.uint64]:
        """Four random words for each of the trials ``start`` to ``stop - 1``."""
        key = np.array(_key(self.root, role), dtype=np.uint64)
        philox = np.random.Philox(key=key, counter=start)
        words = philox.random_raw(_WORDS_PER_TRIAL * (stop - start))
        return np.asarray(words, dtype=np.uint64).reshape(-1, _WORDS_PER_TRIAL)

    def words(self, role: str, trial: int = 0) -> int:
        """Return the first random word of one trial: a 64-bit random term."""
        return int(self.block(role, trial, trial + 1)[0, 0])

    def uniform(self, role: str, trial: int = 0) -> float:
        """Return one Uniform[0, 1) number."""
        return as_uniform(self.words(role, trial))

    @property
    def zeta(self) -> float:
        """The random number ζ of a randomised test; in (0, 1], since 0 would break exact ties."""
        return 1.0 - self.uniform("zeta")

    def keys(self, role: str, start: int, stop: int) -> NDArray[np.uint64]:
        """Return the 64-bit keys of rows ``start`` to ``stop - 1``, which give their order."""
        return stream_of_keys(_key(self.root, role), start, stop)

    def order(self, role: str, count: int) -> NDArray[np.int64]:
        """Return a random order of so many rows: that of their keys.

        Examples
        --------
        >>> order, keys = Randomness(3).order("rows", 5), Randomness(3).keys("rows", 0, 5)
        >>> order.tolist() == sorted(range(5), key=lambda row: keys[row])
        True
        """
        if self.rows == KEYS:
            return order_of_keys(self.keys(role, 0, count))
        return self.generator(role).permutation(count)

    def as_drawn(self, rows: str) -> Randomness:
        """Return the same randomness with the order of rows that a file was begun with."""
        return replace(self, rows=rows)

    def generator(self, role: str, trial: int = 0) -> np.random.Generator:
        """Return a numpy Generator of its own for this role and trial."""
        seed = [int(word) for word in self.block(role, trial, trial + 1)[0]]
        return np.random.Generator(np.random.PCG64(seed))


RandomStateLike: TypeAlias = (
    int | np.integer[Any] | np.random.Generator | np.random.RandomState | Randomness | None
)


@dataclass(frozen=True)
class LaterTrials(Randomness):
    """The randomness of trials that are not the first ones of their run.

    Parameters
    ----------
    first : int
        The number of the trial that is called 0 here.

    Examples
    --------
    >>> LaterTrials(3, first=20).words("xi", 4) == Randomness(3).words("xi", 24)
    True
    """

    first: int = 0

    def block(self, role: str, start: int, stop: int) -> NDArray[np.uint64]:
        """Four random words for each trial of a range."""
        return super().block(role, self.first + start, self.first + stop)


def _is_seed(value: Any) -> bool:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and int(value) >= 0


@runtime_checkable
class Coupling(Protocol):
    """A joint law Q of (ξ, ξ′) with uniform marginals (Appendix E).

    ``pairs(words)`` turns four independent random words per trial (an array of
    shape (trials, 4), 64 bits each) into the random terms of the full and of the
    reduced fit (two arrays of length trials).

    Examples
    --------
    >>> class Antithetic:
    ...     name = "antithetic"
    ...     def pairs(self, words):
    ...         return words[:, 0], ~words[:, 0]
    >>> isinstance(Antithetic(), Coupling)
    True
    """

    @property
    def name(self) -> str:
        """The name, for records."""
        ...

    def pairs(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return (ξ, ξ′), one of each per row of ``words`` (shape (trials, 4))."""
        ...


@dataclass(frozen=True)
class Shared:
    """Both fits use the same ξ: the paper's Definition 1 of stability."""

    name: str = "shared"

    def pairs(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the same term twice."""
        return words[:, 0], words[:, 0]


@dataclass(frozen=True)
class Independent:
    """ξ and ξ′ are drawn independently (Appendix E)."""

    name: str = "independent"

    def pairs(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return two independent terms."""
        return words[:, 0], words[:, 1]


def as_coupling(coupling: str | Coupling) -> Coupling:
    """Turn ``"shared"``, ``"independent"`` or a coupling object into a coupling.

    Examples
    --------
    >>> as_coupling("shared")
    Shared(name='shared')
    """
    if coupling == "shared":
        return Shared()
    if coupling == "independent":
        return Independent()
    if isinstance(coupling, Coupling) and not isinstance(coupling, type):
        _check_pairs(coupling)
        return coupling
    raise ArgumentError(
        "coupling must be 'shared', 'independent' or an object with a name and a method "
        f"pairs(words), got {coupling!r}"
    )


def _check_pairs(coupling: Coupling) -> None:
    """Ask for two pairs, so that a wrong shape is an error before the first fit."""
    made: Any = coupling.pairs(np.zeros((2, 4), dtype=np.uint64))
    shapes = [np.shape(part) for part in made] if isinstance(made, tuple) else type(made).__name__
    if shapes != [(2,), (2,)]:
        raise ArgumentError(
            f"pairs(words) of coupling {coupling.name!r} must return a tuple of two arrays, one "
            f"term per row of words; for 2 rows it returned {shapes}"
        )
