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
    "Answers": "poise.record",
    "AuditResult": "poise.auditing",
    "Batch": "poise.record",
    "Budget": "poise.budget",
    "CheckReport": "poise.preflight",
    "CompareResult": "poise.results",
    "Comparison": "poise.record",
    "Coupling": "poise.randomness",
    "Design": "poise.results",
    "Failure": "poise.record",
    "LossChange": "poise.losses",
    "Made": "poise.record",
    "Outcome": "poise.results",
    "Plan": "poise.theory.planning",
    "Procedure": "poise.oracle",
    "ProcedureResult": "poise.results",
    "Profile": "poise.results",
    "Program": "poise.adapters.program",
    "Query": "poise.record",
    "Randomness": "poise.randomness",
    "Run": "poise.blackbox",
    "Sample": "poise.sample",
    "StabilityCurve": "poise.results",
    "StabilityResult": "poise.results",
    "Transcript": "poise.transcript",
    "Trials": "poise.results",
    "World": "poise.world",
    "adversary": "poise.adversary",
    "as_algorithm": "poise.adapters",
    "audit": "poise.auditing",
    "audit_with_traps": "poise.auditing",
    "check_algorithm": "poise.preflight",
    "compare": "poise.comparing",
    "errors": "poise.errors",
    "jax_algorithm": "poise.adapters.jax",
    "measure": "poise.api",
    "networks": "poise.networks",
    "notions": "poise.notions",
    "plan": "poise.theory.planning",
    "procedures": "poise.procedures",
    "read_table": "poise.readers",
    "replay": "poise.transcript",
    "reproduce": "poise.reproduction",
    "run": "poise.blackbox",
    "stability_curve": "poise.curve",
    "stability_test": "poise.api",
    "testing": "poise.testing",
    "theory": "poise.theory",
    "world": "poise.world",
}

__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:
    from poise import adversary, errors, networks, notions, procedures, testing, theory, world
    from poise.adapters import as_algorithm
    from poise.adapters.jax import jax_algorithm
    from poise.adapters.program import Program
    from poise.algorithm import Algorithm
    from poise.api import measure, stability_test
    from poise.auditing import AuditResult, audit, audit_with_traps
    from poise.blackbox import Run, run
    from poise.budget import Budget
    from poise.comparing import compare
    from poise.curve import stability_curve
    from poise.losses import LossChange
    from poise.oracle import Procedure
    from poise.preflight import CheckReport, check_algorithm
    from poise.randomness import Coupling, Randomness
    from poise.readers import read_table
    from poise.record import Answers, Batch, Comparison, Failure, Made, Query
    from poise.reproduction import reproduce
    from poise.results import (
        CompareResult,
        Design,
        Outcome,
        ProcedureResult,
        Profile,
        StabilityCurve,
        StabilityResult,
        Trials,
    )
    from poise.sample import Sample
    from poise.theory.planning import Plan, plan
    from poise.transcript import Transcript, replay
    from poise.world import World


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
