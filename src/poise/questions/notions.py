"""Notions of stability for randomised algorithms (Appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.algorithms.coupled_bags import draw_bag
from poise.algorithms.couplings import Antithetic, Mixed, Rotated
from poise.algorithms.symmetrized import Symmetrized
from poise.questions.check.symmetry import SymmetryReport, check_symmetry
from poise.results.certificate import Certificate

if TYPE_CHECKING:
    from poise.algorithms.bagging import CoupledBaggingClassifier, CoupledBaggingRegressor

__all__ = [
    "Antithetic",
    "Certificate",
    "CoupledBaggingClassifier",
    "CoupledBaggingRegressor",
    "Mixed",
    "Rotated",
    "Symmetrized",
    "SymmetryReport",
    "check_symmetry",
    "draw_bag",
]


def __getattr__(name: str) -> Any:
    """Import the ensembles when they are first used: only they need scikit-learn."""
    if name not in ("CoupledBaggingClassifier", "CoupledBaggingRegressor"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from poise.algorithms import bagging

    return getattr(bagging, name)
