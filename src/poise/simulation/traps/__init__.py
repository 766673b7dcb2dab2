"""The traps of the proof: unstable worlds that no test can recognise (Appendix B).

::

    linear_models      a raised model that is still linear (Theorem 4, condition 4.8)
    proof_claims       the claims on which the proof rests, as simulations (Appendix B)
    trap               a trap: a stable triple, and an unstable one that looks the same
    trap_construction  set a trap in any world: the constructions of Appendices B, D and E
    trapped_algorithm  the algorithm A′ and the distribution P′ of a trap
    triggers           what triggers a trap: a response or a feature vector that P never draws
"""

from __future__ import annotations

from poise.simulation.traps.proof_claims import Agreement, same_verdict, simulate_coincidence
from poise.simulation.traps.trap import Trap
from poise.simulation.traps.trap_construction import TRAPS, feature_trap, label_trap, linear_trap

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
