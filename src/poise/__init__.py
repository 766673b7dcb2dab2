"""poise answers one question: is my learning algorithm stable.

Do its predictions stay put, within ε except with probability δ, when one
training row is removed? poise runs the algorithm as a black box and answers with
a guaranteed error level, or says plainly that the data cannot answer.

>>> import poise
>>> poise.theory.n_trials(n=20, n_labeled=442)
21
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when they are first used: `import poise` costs little more
# than `import numpy`, and no one pays for a part they do not use.
_HOME = {
    "Algorithm": "poise.algorithm",
    "Design": "poise.results",
    "Outcome": "poise.results",
    "Plan": "poise.theory.planning",
    "Profile": "poise.results",
    "StabilityResult": "poise.results",
    "Trials": "poise.results",
    "as_algorithm": "poise.adapters",
    "errors": "poise.errors",
    "measure": "poise.api",
    "plan": "poise.theory.planning",
    "stability_test": "poise.api",
    "theory": "poise.theory",
}

__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:
    from poise import errors, theory
    from poise.adapters import as_algorithm
    from poise.algorithm import Algorithm
    from poise.api import measure, stability_test
    from poise.results import Design, Outcome, Profile, StabilityResult, Trials
    from poise.theory.planning import Plan, plan


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if _HOME[name] == f"poise.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
