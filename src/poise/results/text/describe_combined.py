"""Words for the evidence of several records together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.printed_numbers import at_most, number
from poise.results.text.describe_result import headline
from poise.results.text.summary import Summary

if TYPE_CHECKING:
    from poise.results.combined_evidence import CombinedEvidence

__all__ = ["describe_combined", "facts_of_combined"]

_ONE = (
    "The records ask the same question of disjoint rows from one distribution, so their e-values "
    "are multiplied. If the distributions differ, a product that reaches the threshold says "
    '"stable on at least one of them", and no more.'
)
_SEVERAL = (
    "The rows come from different distributions, so the smallest e-value decides: the verdict "
    "holds for every one of them, at the same error level and without a correction "
    "(intersection-union)."
)
_DECLARED = (
    "That the records share no row was declared and not checked: their rows are hashed with "
    "different keys. If they share rows, the error level does not hold."
)
_BOTH = (
    'The evidence for "stable" and that for "unstable" have both reached the threshold: suspect '
    "that the rows are not from one distribution."
)


def describe_combined(r: CombinedEvidence) -> Summary:
    """Say what the records show together, and what that rests on.

    Examples
    --------
    >>> from poise.results.combined_evidence import CombinedEvidence
    >>> from poise.results.design import Design
    >>> both = ("a.record", "b.record"), (4.0, 6.0), (0.1, 0.2), (30, 35)
    >>> design = Design("Ridge()", 20, 1260)
    >>> print(describe_combined(CombinedEvidence(*both, design, 0.5, 0.1, 0.05)))
    STABLE: Ridge() is declared (0.5, 0.1)-stable at n = 20 (error level 0.05).
    65 trials in 2 records: e-values 4, 6 for "stable". Together 24 for "stable" and 0.02 ...
    """
    several = ", ".join(number(value) for value in r.e_values)
    found = (
        f"{counted(sum(r.n_trials), 'trial')} in {counted(len(r.records), 'record')}: e-values "
        f'{several} for "stable". Together {number(r.e_value)} for "stable" and '
        f'{number(r.e_value_unstable)} for "unstable"; {at_most(1 / r.alpha)} decides.'
    )
    parts = [found, _SEVERAL if r.different else _ONE]
    if not (r.compared or r.different):
        parts.append(_DECLARED)
    if r.contradicted:
        parts.append(_BOTH)
    return Summary(headline(r), (*parts, r.verdict.not_meant), r.warnings)


def facts_of_combined(r: CombinedEvidence) -> dict[str, str]:
    """Return the numbers a reader looks up.

    Examples
    --------
    >>> from poise.results.combined_evidence import CombinedEvidence
    >>> from poise.results.design import Design
    >>> both = ("a.record", "b.record"), (4.0, 6.0), (0.1, 0.2), (30, 35)
    >>> evidence = CombinedEvidence(*both, Design("Ridge()", 20, 1260), 0.5, 0.1, 0.05)
    >>> facts_of_combined(evidence)["b.record"]
    '35 trials, e-value 6 for stable, 0.2 for unstable'
    """
    rows = zip(r.records, r.n_trials, r.e_values, r.e_values_unstable, strict=True)
    each = {
        name: f"{counted(trials, 'trial')}, e-value {number(stable)} for stable, "
        f"{number(unstable)} for unstable"
        for name, trials, stable, unstable in rows
    }
    how = "smallest" if r.different else "product"
    return each | {
        f"{how}, stable": number(r.e_value),
        f"{how}, unstable": number(r.e_value_unstable),
        "decides at": at_most(1 / r.alpha),
    }
