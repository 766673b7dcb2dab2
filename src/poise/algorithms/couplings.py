"""Joint laws of (ξ, ξ′) beyond "shared" and "independent" (Appendix E).

Each has uniform marginals, so a test run under any of them is valid for the
coupled notion: "for some coupling Q". Which Q makes an algorithm most stable depends on
how the algorithm uses ξ; that cannot be seen from outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise import arguments

__all__ = ["Antithetic", "Mixed", "Rotated"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Antithetic:
    """ξ′ = 1 − ξ: the two terms are as far from each other as they can be.

    Examples
    --------
    >>> xi, other = Antithetic().pairs(np.zeros((1, 4), dtype=np.uint64))
    >>> int(xi[0]), int(other[0]) == 2**64 - 1
    (0, True)
    """

    name: str = "antithetic"

    def pairs(self, words: Words) -> tuple[Words, Words]:
        """Return ξ and its mirror image."""
        return words[:, 0], ~words[:, 0]


@dataclass(frozen=True)
class Rotated:
    """ξ′ = ξ + ``by`` modulo 1.

    Parameters
    ----------
    by : float
        Shift, in [0, 1]; 0 is the shared coupling.

    Examples
    --------
    >>> xi, other = Rotated(0.25).pairs(np.full((1, 4), 3 << 62, dtype=np.uint64))
    >>> int(other[0])
    0
    """

    by: float

    def __post_init__(self) -> None:
        arguments.probability("by", self.by)

    @property
    def name(self) -> str:
        """A word for the record."""
        return f"rotated by {self.by:g}"

    def pairs(self, words: Words) -> tuple[Words, Words]:
        """Return ξ and the shifted term; the sum wraps around."""
        shift = np.uint64(int(self.by * 2**64) % 2**64)
        return words[:, 0], words[:, 0] + shift


@dataclass(frozen=True)
class Mixed:
    """With probability ``share`` both fits use the same ξ, otherwise independent ones.

    δ under this coupling is share·δ* + (1 − share)·δ^⊥: it leads from the
    independent notion (0) to the shared one (1).

    Parameters
    ----------
    share : float
        Probability of sharing, in [0, 1].

    Examples
    --------
    >>> words = np.random.default_rng(0).integers(0, 2**64, (10_000, 4), dtype=np.uint64)
    >>> xi, other = Mixed(0.25).pairs(words)
    >>> round(float((xi == other).mean()), 2)
    0.25
    """

    share: float

    def __post_init__(self) -> None:
        arguments.probability("share", self.share)

    @property
    def name(self) -> str:
        """A word for the record."""
        return f"shared with probability {self.share:g}"

    def pairs(self, words: Words) -> tuple[Words, Words]:
        """Return ξ, and ξ again or a fresh term as a third word decides."""
        # 53 bits decide, exactly as in `as_uniform`: share = 1 always shares.
        coin = (words[:, 2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return words[:, 0], np.where(coin < self.share, words[:, 0], words[:, 1])
