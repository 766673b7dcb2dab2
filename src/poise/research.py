"""For researchers: tests of your own, how to audit them, and the paper, reproduced."""

from poise.engine.messages import Answers, Batch, Made, Query, Trial
from poise.procedures.adaptive import AdaptiveTest, ExploreThenTest
from poise.procedures.bootstrap import BootstrapTest, SimulationTest
from poise.procedures.exhaustive import ExhaustiveTest
from poise.procedures.own import Asks, BinomialTest, Claim, Procedure, run
from poise.procedures.replay import replay
from poise.procedures.transparent import TransparentLinearTest
from poise.simulation import traps, worlds
from poise.simulation.audit import Audit, audit
from poise.simulation.claims import Reproduction, reproduce
from poise.simulation.traps import Trap, trap
from poise.simulation.worlds import Share, World

__all__ = [
    "AdaptiveTest",
    "Answers",
    "Asks",
    "Audit",
    "Batch",
    "BinomialTest",
    "BootstrapTest",
    "Claim",
    "ExhaustiveTest",
    "ExploreThenTest",
    "Made",
    "Procedure",
    "Query",
    "Reproduction",
    "Share",
    "SimulationTest",
    "TransparentLinearTest",
    "Trap",
    "Trial",
    "World",
    "audit",
    "replay",
    "reproduce",
    "run",
    "trap",
    "traps",
    "worlds",
]
