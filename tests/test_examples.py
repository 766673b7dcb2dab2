"""Files under examples/ are what their scripts make, and small enough to keep."""

from __future__ import annotations

import runpy

from shared.paths import EXAMPLES


def test_the_flats_are_those_their_script_makes(tmp_path) -> None:
    rentals = runpy.run_path(str(EXAMPLES / "rentals.py"))["rentals"]
    rentals().to_csv(tmp_path / "rentals.csv", index=False)
    kept = (EXAMPLES / "rentals.csv").read_bytes()
    assert (tmp_path / "rentals.csv").read_bytes() == kept
    assert len(kept) <= 100_000
