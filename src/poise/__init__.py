"""poise answers one question: is my learning algorithm stable.

Do its predictions change by at most ε, except with probability δ, when one
training row is removed? poise runs the algorithm as a black box and answers with
a guaranteed error level, or says plainly that the data cannot answer.

>>> import poise
>>> poise.theory.n_trials(n=20, n_labeled=442)
21
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when they are first used: `import poise` costs little more
# than `import numpy`, and no one pays for a part they do not use.
_HOME = {
    "Advice": "results.advice",
    "Algorithm": "algorithms.algorithm",
    "Answers": "protocol.messages",
    "AuditResult": "simulation.audit.audit_result",
    "AveragedResult": "results.averaged_result",
    "Batch": "protocol.messages",
    "Budget": "protocol.budget",
    "CertificateFile": "results.certificate_file",
    "CheckReport": "questions.check.check_report",
    "CombinedEvidence": "results.combined_evidence",
    "CompareResult": "results.compare_result",
    "Comparison": "protocol.messages",
    "ConditionalDesign": "results.conditional_design",
    "ConditionalResult": "results.conditional_result",
    "ConditionalTrials": "results.conditional_trials",
    "Coupling": "protocol.randomness",
    "CoverageGuarantee": "results.coverage",
    "Design": "results.design",
    "Failure": "protocol.messages",
    "Influence": "results.influence",
    "JackknifeRegressor": "questions.intervals.jackknife_regressor",
    "Ledger": "storage.ledger.ledger",
    "LedgerNote": "results.ledger_note",
    "LossChange": "algorithms.losses",
    "Made": "data.synthetic_rows",
    "Monitor": "questions.monitor.monitor",
    "MonitorStatus": "results.monitor_status",
    "Outcome": "results.verdict",
    "Plan": "results.plan_result",
    "Procedure": "protocol.procedure",
    "ProcedureResult": "results.procedure_result",
    "Profile": "results.profile",
    "Program": "algorithms.program.program",
    "Query": "protocol.messages",
    "Randomness": "protocol.randomness",
    "Run": "questions.run_procedure",
    "Sample": "data.sample",
    "StabilityCurve": "results.curve_result",
    "StabilityGuarantee": "algorithms.stabilized.guarantee",
    "StabilityResult": "results.stability_result",
    "StabilizedClassifier": "algorithms.stabilized.classifier",
    "StabilizedRegressor": "algorithms.stabilized.regressor",
    "SyntheticRows": "data.synthetic_rows",
    "Transcript": "storage.transcript.recording",
    "Trials": "results.trials",
    "Verification": "results.verification",
    "World": "simulation.worlds.world",
    "advise": "questions.advise",
    "as_algorithm": "algorithms.as_algorithm",
    "audit": "simulation.audit.audit",
    "audit_with_traps": "simulation.audit.with_traps",
    "check_algorithm": "questions.check.check_algorithm",
    "combine": "questions.combine_records",
    "compare": "questions.compare",
    "conditional_test": "questions.conditional.conditional_test",
    "jax_algorithm": "algorithms.jax.jax_algorithm",
    "measure": "questions.stability_test",
    "measure_conditional": "questions.conditional.conditional_test",
    "plan": "questions.plan",
    "read_table": "data.files.read_table",
    "relative": "results.relative_epsilon",
    "replay": "storage.transcript.replay",
    "reproduce": "simulation.paper.reproduce",
    "run": "questions.run_procedure",
    "stability_curve": "questions.stability_curve",
    "stability_test": "questions.stability_test",
    "stabilize": "algorithms.stabilized.stabilize",
    "torch_algorithm": "algorithms.torch.torch_algorithm",
    "verify": "questions.certificates.verify",
}

# Modules that are public by these names, wherever they live.
_MODULES = {
    "adversary": "poise.simulation.traps",
    "errors": "poise.errors",
    "networks": "poise.algorithms.networks",
    "notions": "poise.questions.notions",
    "procedures": "poise.procedures",
    "testing": "poise.questions.assert_stable",
    "theory": "poise.theory",
    "world": "poise.simulation.worlds",
}

__all__ = ["__version__", *sorted([*_HOME, *_MODULES])]

if TYPE_CHECKING:
    from poise import errors as errors, procedures as procedures, theory as theory
    from poise.algorithms import networks as networks
    from poise.algorithms.algorithm import Algorithm as Algorithm
    from poise.algorithms.as_algorithm import as_algorithm as as_algorithm
    from poise.algorithms.jax.jax_algorithm import jax_algorithm as jax_algorithm
    from poise.algorithms.losses import LossChange as LossChange
    from poise.algorithms.program.program import Program as Program
    from poise.algorithms.stabilized.classifier import StabilizedClassifier as StabilizedClassifier
    from poise.algorithms.stabilized.guarantee import StabilityGuarantee as StabilityGuarantee
    from poise.algorithms.stabilized.regressor import StabilizedRegressor as StabilizedRegressor
    from poise.algorithms.stabilized.stabilize import stabilize as stabilize
    from poise.algorithms.torch.torch_algorithm import torch_algorithm as torch_algorithm
    from poise.data.files.read_table import read_table as read_table
    from poise.data.sample import Sample as Sample
    from poise.data.synthetic_rows import Made as Made, SyntheticRows as SyntheticRows
    from poise.protocol.budget import Budget as Budget
    from poise.protocol.messages import (
        Answers as Answers,
        Batch as Batch,
        Comparison as Comparison,
        Failure as Failure,
        Query as Query,
    )
    from poise.protocol.procedure import Procedure as Procedure
    from poise.protocol.randomness import Coupling as Coupling, Randomness as Randomness
    from poise.questions import assert_stable as _assert_stable, notions as notions
    from poise.questions.advise import advise as advise
    from poise.questions.certificates.verify import verify as verify
    from poise.questions.check.check_algorithm import check_algorithm as check_algorithm
    from poise.questions.check.check_report import CheckReport as CheckReport
    from poise.questions.combine_records import combine as combine
    from poise.questions.compare import compare as compare
    from poise.questions.conditional.conditional_test import (
        conditional_test as conditional_test,
        measure_conditional as measure_conditional,
    )
    from poise.questions.intervals.jackknife_regressor import (
        JackknifeRegressor as JackknifeRegressor,
    )
    from poise.questions.monitor.monitor import Monitor as Monitor
    from poise.questions.plan import plan as plan
    from poise.questions.run_procedure import Run as Run, run as run
    from poise.questions.stability_curve import stability_curve as stability_curve
    from poise.questions.stability_test import measure as measure, stability_test as stability_test
    from poise.results.advice import Advice as Advice
    from poise.results.averaged_result import AveragedResult as AveragedResult
    from poise.results.certificate_file import CertificateFile as CertificateFile
    from poise.results.combined_evidence import CombinedEvidence as CombinedEvidence
    from poise.results.compare_result import CompareResult as CompareResult
    from poise.results.conditional_design import ConditionalDesign as ConditionalDesign
    from poise.results.conditional_result import ConditionalResult as ConditionalResult
    from poise.results.conditional_trials import ConditionalTrials as ConditionalTrials
    from poise.results.coverage import CoverageGuarantee as CoverageGuarantee
    from poise.results.curve_result import StabilityCurve as StabilityCurve
    from poise.results.design import Design as Design
    from poise.results.influence import Influence as Influence
    from poise.results.ledger_note import LedgerNote as LedgerNote
    from poise.results.monitor_status import MonitorStatus as MonitorStatus
    from poise.results.plan_result import Plan as Plan
    from poise.results.procedure_result import ProcedureResult as ProcedureResult
    from poise.results.profile import Profile as Profile
    from poise.results.relative_epsilon import relative as relative
    from poise.results.stability_result import StabilityResult as StabilityResult
    from poise.results.trials import Trials as Trials
    from poise.results.verdict import Outcome as Outcome
    from poise.results.verification import Verification as Verification
    from poise.simulation import traps as _traps, worlds as _worlds
    from poise.simulation.audit.audit import audit as audit
    from poise.simulation.audit.audit_result import AuditResult as AuditResult
    from poise.simulation.audit.with_traps import audit_with_traps as audit_with_traps
    from poise.simulation.paper.reproduce import reproduce as reproduce
    from poise.simulation.worlds.world import World as World
    from poise.storage.ledger.ledger import Ledger as Ledger
    from poise.storage.transcript.recording import Transcript as Transcript
    from poise.storage.transcript.replay import replay as replay

    adversary, testing, world = _traps, _assert_stable, _worlds


class _PublicModules:
    """Finds ``import poise.world`` where the module lives: :pep:`302`'s finder and loader."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        home = _MODULES.get(name.removeprefix("poise."), name)
        moved = name.startswith("poise.") and home != name
        return ModuleSpec(name, _PublicModules) if moved else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Leave it to Python: the module is replaced by the real one at once."""

    @staticmethod
    def exec_module(module: Any) -> None:
        name = module.__name__
        sys.modules[name] = import_module(_MODULES[name.removeprefix("poise.")])


sys.meta_path.append(_PublicModules)


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name in _MODULES:
        module = globals()[name] = import_module(_MODULES[name])
        return module
    from poise.arguments.lazy_names import imported_name  # not before a name is used

    return imported_name(name, _HOME, globals())


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
