"""Results: immutable objects with verdicts, limits and what they do not mean.

::

    advice              what some rows can answer, and what to check in them before a test
    averaged_result     what the averaged test found: a share per trial, and the course of a bet
    canonical_json      JSON in one form only, so that equal contents have equal bytes (RFC 8785)
    certificate         what a verdict "stable" states, and weaker statements that follow
    certificate_file    a certificate that somebody else can check: one JSON file
    certified_result    the result that follows from the changes in a certificate
    change_arrays       arrays of changes: what may stand in them, and how they are written
    combined_evidence   the evidence of several records together: one distribution, or several
    compare_result      the result of a comparison: one verdict each, one error level for all
    conditional_design  the design of a data-conditional measurement
    conditional_result  the verdict about one training set, with everything it rests on
    conditional_trials  all changes of a data-conditional measurement, and what they say
    coverage            what is promised about prediction intervals, and what the promise rests on
    curve_result        stability as a function of the training size: certified and extrapolated
    design              the design of a run: everything that is known before the first fit
    extrapolation       extrapolation to other training sizes, under an assumption
    influence           which training rows matter: how many predictions move without each
    json_encoding       numbers to JSON and back without loss: infinities and fractions included
    judged_result       what every result with a verdict has: enough to print it
    judged_together     several tests with one error level for all: Holm's method, in one place
    ledger_note         what a ledger says about a verdict: how many questions, and what holds
    monitor_status      where a growing record stands: verdict, evidence and limits
    packed_changes      changes as text: base64 of zlib of little-endian float64, bit for bit
    plan_result         a test that was planned, not run: its numbers, in words and as a picture
    plots/              pictures of results, drawn with matplotlib and without its global state
    presented_result    how a result or a measurement is shown: text, notebook, JSON, table
    procedure_result    the result of a procedure other than the Binomial test
    profile             the profile ε ↦ δ̂_ε: a limit on the probability of each change
    proved_ceiling      which ceiling on the power of valid tests is proved for a design
    provenance          where changes come from: digests of rows and code, and versions
    pvalues_any_level   p-values that may be compared with any level, also those of bets
    relative_epsilon    an allowed change ε given as a share of the spread of the responses
    report/             results as an HTML page
    saved_file          measurements in one file: an array of changes and a header
    several_changes     limits from several changes a trial: those of the averaged test
    single_changes      limits from one change a trial: those of the Binomial test
    stability_result    the verdict on one question, with everything it rests on
    stamp_result        write on a result what its run knew: names and warnings
    text/               results in words: summaries, tables and facts
    trials              all changes of one measurement, and everything that can be said about them
    verdict             the verdicts that a test can give, with the words for each
    verification        what was checked in a certificate, what was found, and what that shows
"""

from __future__ import annotations

from poise.results.averaged_result import AveragedResult
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
    "AveragedResult",
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
