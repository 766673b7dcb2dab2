"""What is in a ledger."""

from __future__ import annotations

from typing import Any

from poise import Ledger


def asked_questions(ledger: Ledger) -> list[dict[str, Any]]:
    """Return the questions on all data sets."""
    return [each for some in ledger.to_dict()["data_sets"] for each in some]
