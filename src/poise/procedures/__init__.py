"""Black-box tests (Definition 1), each a generator that asks and is answered.

Names are loaded when they are first used, so that importing one procedure does
not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "AdaptiveTest": "adaptive",
    "BinomialTest": "binomial",
    "BootstrapTest": "bootstrap",
    "ExhaustiveTest": "exhaustive",
    "ExploreThenTest": "explore_then_test",
    "MeasureChanges": "binomial",
    "SimulationTest": "simulation",
    "TransparentLinearTest": "transparent",
}

__all__ = [
    "AdaptiveTest",
    "BinomialTest",
    "BootstrapTest",
    "ExhaustiveTest",
    "ExploreThenTest",
    "MeasureChanges",
    "SimulationTest",
    "TransparentLinearTest",
]

if TYPE_CHECKING:
    from poise.procedures.adaptive import AdaptiveTest
    from poise.procedures.binomial import BinomialTest, MeasureChanges
    from poise.procedures.bootstrap import BootstrapTest
    from poise.procedures.exhaustive import ExhaustiveTest
    from poise.procedures.explore_then_test import ExploreThenTest
    from poise.procedures.simulation import SimulationTest
    from poise.procedures.transparent import TransparentLinearTest


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
