"""Critical values where the level almost equals a value of the cdf.

There the tie probability is a difference of nearly equal numbers: doubles lose
its digits, and may even pick the wrong neighbour of an exact tie (δ = 1/2 with
α = 1/2 and an odd number of trials is one).  Such cases are rare, so they are
settled one by one in sixty-digit decimal arithmetic.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import NamedTuple

__all__ = ["MOST_TRIALS", "settle"]

# Beyond this many trials one atom is so small a part of the level that doubles
# hold every digit that matters, and the decimal sum would be slow.
MOST_TRIALS = 4096

_DECIMAL_DIGITS = 60
# Two different values of the cdf never come this close in practice; sums are accurate to 1e-56.
_EQUAL = Decimal("1e-50")


@lru_cache(maxsize=4096)
def settle(
    n_trials: int, delta: float, alpha: float, guess: int, failures: bool
) -> tuple[int, float]:
    """Find k* and a* in (0, 1] with P(count < k*) + a* P(count = k*) = α, near ``guess``.

    The count is Bin(m, δ), or Bin(m, 1 - δ) where ``failures`` are counted; 0 < δ < 1.
    ``guess`` may be off by one.
    """
    with localcontext() as context:
        context.prec = _DECIMAL_DIGITS
        law = _Law(n_trials, Decimal(delta), 1 - Decimal(delta))
        if failures:
            law = _Law(n_trials, law.q, law.p)
        level = Decimal(alpha)
        count, below, atom = guess, law.cdf(guess - 1), law.pmf(guess)
        if below >= level * (1 - _EQUAL):
            count -= 1
            atom = law.pmf(count)
            below -= atom
        elif below + atom < level * (1 - _EQUAL):
            below += atom
            count += 1
            atom = law.pmf(count)
        return count, float(min(Decimal(1), (level - below) / atom))


class _Law(NamedTuple):
    """Bin(m, p) with q = 1 - p, both kept: a very small one cannot be computed from the other."""

    m: int
    p: Decimal
    q: Decimal

    def pmf(self, k: int) -> Decimal:
        return math.comb(self.m, k) * self.p**k * self.q ** (self.m - k)

    def cdf(self, k: int) -> Decimal:
        """Sum the pmf from k downwards until nothing is added any more."""
        if k < 0:
            return Decimal(0)
        term = total = self.pmf(k)
        odds = self.q / self.p
        for j in range(k, 0, -1):
            term = term * odds * j / (self.m - j + 1)
            before, total = total, total + term
            if total == before and j < self.m * self.p:
                break
        return total
