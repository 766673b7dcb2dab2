"""Critical values, ceilings and δ̂ for a million questions at once, over a scipy.stats loop.

    python benchmarks/theory.py [--questions 1000000] [--loop 2000]

The loop asks scipy.stats one question at a time, as one would write it; it is timed on
a part of the questions. Beside the ratio: how far the two are apart.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats

from poise import theory


def questions(count: int) -> tuple[np.ndarray, ...]:
    """Draw m, B, δ and α as people use them, each from a wide range."""
    rng = np.random.default_rng(0)
    m = np.exp(rng.uniform(np.log(5), np.log(2000), count)).astype(int)
    delta = np.exp(rng.uniform(np.log(1e-3), np.log(0.5), count))
    alpha = rng.choice([0.01, 0.05, 0.1, 0.2], count)
    return m, rng.binomial(m, delta), delta, alpha


def one_by_one(m: np.ndarray, B: np.ndarray, delta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    found = np.empty((len(m), 4))
    for i in range(len(m)):
        count = int(stats.binom.ppf(alpha[i], m[i], delta[i]))
        below = stats.binom.cdf(count - 1, m[i], delta[i])
        tie = (alpha[i] - below) / stats.binom.pmf(count, m[i], delta[i])
        bound = np.exp(min(0.0, np.log(alpha[i]) - m[i] * np.log1p(-delta[i])))
        limit = 1.0 if B[i] == m[i] else stats.beta.isf(alpha[i], B[i] + 1, m[i] - B[i])
        found[i] = count, tie, bound, limit
    return found


def at_once(m: np.ndarray, B: np.ndarray, delta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    count, tie = theory.critical_value(m, delta, alpha)
    bound = theory.power_bound(10, 10 * m, m, delta=delta, alpha=alpha)
    return np.column_stack([count, tie, bound, theory.delta_hat(B, m, alpha)])


def main(count: int, part: int) -> None:
    asked = questions(count)
    few = tuple(array[:part] for array in asked)
    at_once(*few)  # imports and tables
    began = time.perf_counter()
    slow = one_by_one(*few)
    per_slow = (time.perf_counter() - began) / part
    began = time.perf_counter()
    fast = at_once(*asked)
    per_fast = (time.perf_counter() - began) / count
    apart = np.abs(fast[:part] - slow).max(axis=0)
    print(f"scipy.stats, one by one   {1e6 * per_slow:9.1f} us a question ({part:,} of them)")
    print(f"poise.theory, at once     {1e6 * per_fast:9.2f} us a question ({count:,} of them)")
    print(f"faster                    {per_slow / per_fast:9.0f} times (asked: 100)")
    print(
        "largest difference: "
        + ", ".join(
            f"{name} {value:.0e}"
            for name, value in zip(("k*", "a*", "ceiling", "δ̂"), apart, strict=True)
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--loop", type=int, default=2000)
    arguments = parser.parse_args()
    main(arguments.questions, arguments.loop)
