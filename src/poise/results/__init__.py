"""Results: frozen, complete, and honest about what they do not say."""

from __future__ import annotations

from poise.results.compared import Compared, CompareResult
from poise.results.curve import StabilityCurve
from poise.results.design import Design
from poise.results.extrapolated import Extrapolation
from poise.results.outcome import Outcome
from poise.results.procedure import ProcedureResult
from poise.results.profile import Profile
from poise.results.stability import StabilityResult
from poise.results.trials import Trials

__all__ = [
    "CompareResult",
    "Compared",
    "Design",
    "Extrapolation",
    "Outcome",
    "ProcedureResult",
    "Profile",
    "StabilityCurve",
    "StabilityResult",
    "Trials",
]
