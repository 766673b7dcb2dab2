"""The proof's traps: worlds that no black-box test can tell from honest ones (Appendix B)."""

from __future__ import annotations

from poise.adversary.proof import Agreement, same_verdict, simulate_coincidence
from poise.adversary.trap import Trap
from poise.adversary.traps import TRAPS, feature_trap, label_trap, linear_trap

__all__ = [
    "TRAPS",
    "Agreement",
    "Trap",
    "feature_trap",
    "label_trap",
    "linear_trap",
    "same_verdict",
    "simulate_coincidence",
]
