"""What serving saves: R's ``lm`` started for every fit, and started once.

    python benchmarks/program.py [--rounds 11] [--fits 5]

Both contracts fit the same rows and predict the same points; the two take turns,
and the ratio is the median over neighbours. Needs R with jsonlite.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from poise.algorithms.program import Program
from side_by_side import race, table

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
R = ["Rscript", "--vanilla"]
SHAPES = [(20, 2), (50, 5), (200, 20)]


def fits(program: Program, n: int, d: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    # Few binary digits: R's reader of CSV may err in the last bit of long decimals.
    X = np.round(rng.normal(size=(count, n + 1, d)) * 1024) / 1024
    y = np.round(rng.normal(size=(count, n)) * 1024) / 1024
    predictions = [program.fit(X[k, :n], y[k], xi=k)(X[k, n:]) for k in range(count)]
    return np.concatenate(predictions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--fits", type=int, default=5)
    options = parser.parse_args()

    serving = Program([*R, str(EXAMPLES / "lm_serving.R")], mode="serving")
    files = ["{train}", "{test}", "{predictions}"]
    one_shot = Program([*R, str(EXAMPLES / "lm.R"), *files])

    rows = []
    for n, d in SHAPES:
        contestants = {
            "serving": lambda n=n, d=d: fits(serving, n, d, options.fits),
            "one-shot": lambda n=n, d=d: fits(one_shot, n, d, options.fits),
        }
        outcome = race(contestants, options.rounds)
        assert np.array_equal(outcome.results["serving"], outcome.results["one-shot"])
        per_fit = {name: 1e3 * s / options.fits for name, s in outcome.seconds.items()}
        rows.append(
            [
                f"({n}, {d})",
                f"{per_fit['one-shot']:.1f}",
                f"{per_fit['serving']:.2f}",
                f"{outcome.ratios['one-shot']:.0f}",
            ]
        )
    print(table(["(n, d)", "one-shot, ms a fit", "serving, ms a fit", "ratio"], rows))


if __name__ == "__main__":
    main()
