"""Results: frozen, complete, and honest about what they do not say.

::

    advice            what some rows can answer, and what about them deserves a look, before anythi
    certificate       what a verdict "stable" states, and the weaker statements it implies (Append
    compare_result    several algorithms on the same trials: one verdict each, one error level for
    coverage          what is promised about prediction intervals, and what the promise rests on
    curve_result      stability against the training size: what is certified, and apart from it wh
    design            what was asked of which data: everything about a run that is known before a
    extrapolation     what would hold at training sizes that nobody tried, if changes shrink as is
    json_encoding     numbers to JSON and back without loss: infinities and fractions included
    plots/            pictures of results, drawn with matplotlib and without its global state
    procedure_result  what a procedure other than the Binomial test found, and whether it may be r
    profile           the profile ε ↦ δ̂_ε: for each allowed change, the probability it may be exc
    proved_ceiling    which ceiling on the power of all valid tests is proved for a design, if any
    relative_epsilon  ε in units that people have: as a share of the spread of the responses
    report/           results as an HTML page
    stability_result  the verdict on one question, with everything it rests on
    stamp             names of algorithm and distance, written on the design of a result
    text/             results in words: summaries, tables and facts
    trials            all changes of one measurement, and everything that can be said about them
    verdict           the three things a test can say, with the words for each
"""

from __future__ import annotations

from poise.results.compare_result import Compared, CompareResult
from poise.results.curve_result import StabilityCurve
from poise.results.design import Design
from poise.results.extrapolation import Extrapolation
from poise.results.procedure_result import ProcedureResult
from poise.results.profile import Profile
from poise.results.stability_result import StabilityResult
from poise.results.trials import Trials
from poise.results.verdict import Outcome

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
