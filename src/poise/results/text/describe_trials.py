"""Words for a measurement without a verdict: what was done, and how large the changes were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.arguments import counted
from poise.arguments.printed_numbers import number
from poise.results.text.describe_design import compared, moved, shortage
from poise.results.text.summary import Summary

if TYPE_CHECKING:
    from poise.results.trials import Trials

__all__ = ["describe_trials", "facts_of_trials"]


def facts_of_trials(trials: Trials) -> dict[str, str]:
    """Say what was measured, and how large the changes were.

    Examples
    --------
    >>> from poise import Trials
    >>> facts_of_trials(Trials.from_changes([0.5, 0.25], n=10))["changes"]
    'median 0.25, 90% up to 0.5, largest 0.5'
    """
    design = trials.design
    facts = {
        "algorithm": design.algorithm,
        "n": f"{design.n:,}" if design.n_groups is None else f"{design.n:,} groups",
        "rows": f"{design.n_labeled:,} labelled, {design.n_unlabeled:,} unlabelled"
        if design.from_rows
        else "not known",
        "trials": f"{trials.n_observed:,} of {trials.n_trials:,} ({trials.n_fits:,} fits)",
        "coupling": design.coupling,
        "distance": design.distance,
        "seed": "unknown" if design.seed < 0 else str(design.seed),
        "changes": _quantiles(trials),
    }
    if design.shape:
        facts["a trial has"] = (
            f"{counted(design.removals, 'removal')}, {counted(design.points, 'point')}"
        )
    if trials.failures:
        facts["failed"] = f"{counted(len(trials.failures), 'trial')}, first: {trials.failures[0]}"
    return facts


def describe_trials(trials: Trials) -> Summary:
    """Say in a few lines what was measured; nothing is judged.

    Examples
    --------
    >>> from poise import Trials
    >>> print(describe_trials(Trials.from_changes([0.5, 0.25], n=10)))
    unknown at n = 10: 2 trials, nothing judged yet.
    Change of the prediction: median 0.25, 90% up to 0.5, largest 0.5.
    Each trains on 10 rows and again without the last of them (shared randomness), and ...
    """
    design, done = trials.design, counted(trials.n_observed, "trial")
    units = " groups" if design.unit == "group" else ""
    of = f" of {trials.n_trials:,}" if trials.n_unseen else ""
    headline = f"{design.title} at n = {design.n:,}{units}: {done}{of}, nothing judged yet."
    if trials.n_trials == 0:
        return Summary(headline, (f"There is no trial: {shortage(design)}.",), trials.warnings)
    parts = [f"Change of the {moved(design)}: {_quantiles(trials)}."]
    parts.append(f"E{compared(design)[1:]}.")  # begins with "each"
    if trials.failures:
        failed = counted(trials.n_failures, "trial")
        parts.append(f"{failed} failed and count against stable; the first: {trials.failures[0]}.")
    return Summary(headline, tuple(parts), trials.warnings)


def _quantiles(trials: Trials) -> str:
    if not trials.n_observed:
        return "none"
    # Quantiles are values of the sample: there is nothing between a number and infinity.
    median, most, largest = np.quantile(trials.all_changes, [0.5, 0.9, 1], method="inverted_cdf")
    return f"median {number(median)}, 90% up to {number(most)}, largest {number(largest)}"
