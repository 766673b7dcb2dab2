"""Make examples/rentals.csv: flats for rent, with text, categories and missing values.

The flats are invented, with a fixed seed: `python examples/rentals.py` writes the same
file again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

DISTRICTS = {"centre": 1.35, "harbour": 1.2, "north": 1.0, "south": 0.95, "hill": 1.1}
HEATING = ["gas", "district", "heat pump", "oil"]
WORDS = {"renovated": 90, "quiet": 15, "balcony": 35, "bright": 10, "ground floor": -40, "lift": 25}


def rentals(n_rows: int = 1900, seed: int = 2024) -> pd.DataFrame:
    """Return a table of flats; the response is the rent in euros a month."""
    rng = np.random.default_rng(seed)
    area = np.round(rng.gamma(9.0, 7.5, n_rows) + 18, 1)
    flats = pd.DataFrame(
        {
            "listing": np.arange(1, n_rows + 1),
            "district": rng.choice(list(DISTRICTS), n_rows),
            "area": area,
            "rooms": np.clip(np.round(area / 26 + rng.normal(0, 0.5, n_rows)), 1, 6).astype(int),
            "built": pd.array(rng.integers(1905, 2023, n_rows), dtype="Int64"),
            "heating": rng.choice(HEATING, n_rows, p=[0.5, 0.25, 0.15, 0.1]),
        }
    )
    said = rng.random((n_rows, len(WORDS))) < 0.3
    flats["description"] = [_sentence(row) for row in said]
    flats["rent"] = _rent(flats, said, rng)
    flats.loc[rng.random(n_rows) < 0.2, "built"] = pd.NA
    flats.loc[rng.random(n_rows) < 0.1, "heating"] = None
    return flats


def _sentence(said: np.ndarray) -> str:
    words = [word for word, there in zip(WORDS, said, strict=True) if there]
    return ", ".join(words) or "flat"


def _rent(flats: pd.DataFrame, said: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    base = 160 + 8.6 * flats["area"] * flats["district"].map(DISTRICTS)
    newer = 1.1 * np.clip(flats["built"].to_numpy(dtype=float) - 1960, 0, None)
    extras = said @ np.array(list(WORDS.values()))
    return np.round(base + newer + extras + rng.normal(0, 45, len(flats))).astype(int)


if __name__ == "__main__":
    rentals().to_csv(Path(__file__).with_name("rentals.csv"), index=False)
