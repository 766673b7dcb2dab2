"""Everything about a result that the five lines leave out, and tables in several formats."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poise.checks import counted
from poise.numbers import at_least, at_most, confidence, exactly, level, number
from poise.results.text.sentences import pvalue, warned

if TYPE_CHECKING:
    from poise.results.design import Design
    from poise.results.result import Result

_MOST_FAILURES = 5
_LATEX = {each: f"\\{each}" for each in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"ε": r"$\varepsilon$", "δ": r"$\delta$", "α": r"$\alpha$", "≥": r"$\geq$"}


def details(result: Result) -> list[str]:
    """Return one line for each fact about the question, the evidence, the trials and the run."""
    facts = {**_question(result), **_evidence(result), **_trials(result), **_run(result)}
    return warned(result.warnings) + [f"{name}: {text}" for name, text in facts.items() if text]


def _question(result: Result) -> dict[str, str]:
    epsilon = "" if result.epsilon is None else f"epsilon = {exactly(result.epsilon)}, "
    family = result.question.family
    reads = {
        "binomial": "Binomial test of the first change of each trial",
        "averaged": "averaged test of the share of larger changes in each trial",
        "open-ended": "open-ended test of the share of larger changes in each trial: it may be "
        "looked at after every one",
    }
    return {
        "question": f"{epsilon}delta = {exactly(result.delta)}, alpha = {level(result.alpha)}, "
        f"asked {result.asked} the fits",
        "alpha is shared by": f"{family.size}, by Holm's method" if family else "",
        "verdict": f"{result.verdict}{f' ({result.reason})' if result.reason else ''}",
        "test": reads[result.test],
    }


def _evidence(result: Result) -> dict[str, str]:
    if not result.n_observed:
        return {}
    low, high = result.delta_interval
    observed = "" if math.isnan(result.delta_observed) else number(result.delta_observed)
    sizes = (result.epsilon_lower, result.epsilon_upper)
    bound, sure = result.power_bound, confidence(result.question.level)
    return {
        "p-values": f'{pvalue(result, "stable")} for "stable", '
        f'{pvalue(result, "unstable")} for "unstable"',
        "e-value": number(result.e_value),
        "acceptance probability with a coin": number(result.acceptance_probability),
        "P(larger change)": f"observed {observed}; one limit: at least "
        f"{at_least(result.delta_lower)}, or at most {at_most(result.delta_upper)}; both: "
        f"{at_least(low)} to {at_most(high)} (each with {sure} confidence)",
        f"change that a share {exactly(result.delta)} exceeds": ""
        if None in sizes
        else f"at least {at_least(sizes[0])}, or at most {at_most(sizes[1])}",
        "power": ""
        if bound is None or bound >= 1
        else f"no valid test has more than {at_most(bound)} on these rows",
    }


def _trials(result: Result) -> dict[str, str]:
    design, trials = result.design, result.trials
    given_up = f" ({' and '.join(design.given_up)} given up)" if design.given_up else ""
    failed = [
        f"trial {each.trial} ({each.kind}): {each.message}"
        for each in trials.failures[:_MOST_FAILURES]
    ]
    return {
        "trials": f"{result.n_observed:,} of {result.n_trials:,} planned, "
        f"{counted(result.n_failures, 'failure')}",
        "each trial": f"{counted(design.removals, 'removal')} at "
        f"{counted(design.points, 'test point')}{given_up}",
        "fits": f"{result.n_fits:,}" if design.from_rows and design.n else "",
        "failures": "; ".join(failed),
    }


def _run(result: Result) -> dict[str, str]:
    design, origin = result.design, result.trials.origin
    error = result.trials.error
    versions = ", ".join(
        f"{name} {text}" for name, text in (origin.versions() if origin else {}).items()
    )
    order = "in random order" if design.shuffle else "in their own order"
    groups = "" if design.n_groups is None else f" in {counted(design.n_groups, 'group')}"
    aside = f", {design.set_aside:,} set aside for the sd" if design.set_aside else ""
    order = f"{order}, all fresh" if design.notion != "new" else order
    rows = (
        f"{design.n_labeled:,} labelled{groups}, {design.n_unlabeled:,} unlabelled{aside}, {order}"
    )
    return {
        "algorithm": " ".join(design.algorithm.split()),
        "rows": rows if design.from_rows else "",
        "compared": f"{design.compares} by {design.distance} ({design.response}){_finer(design)}",
        "randomness": _randomness(design) if design.from_rows else "",
        "coin": number(result.trials.zeta) if design.randomized else "",
        "prediction error of the full fits": "" if math.isnan(error) else number(error),
        "made with": versions,
        "digest of the rows": origin.digest() if origin else "",
    }


def _randomness(design: Design) -> str:
    if design.notion == "changed":
        return f"seed {design.seed}, which orders the fresh {design.unit}s"
    if design.notion != "new":
        return f"seed {design.seed}: all fits share it, and seeds that were set are kept"
    return (
        f"{design.coupling}, seed {design.seed}: every seed inside the algorithm is set anew in "
        "each trial"
    )


def _finer(design: Design) -> str:
    """Name what moves before a label does."""
    labels = design.distance == "label" and design.response == "predict"
    return "; response='predict_proba' would compare probabilities" if labels else ""


@dataclass(frozen=True)
class TextTable:
    """A table of words; ``print`` shows it aligned.

    Attributes
    ----------
    columns : sequence of str
        The heads.
    rows : sequence of sequence of str
        The cells.
    caption : str
        What stands below, or above in LaTeX.

    Examples
    --------
    >>> print(TextTable(["name", "δ"], [["a_b", "0.1"]]).markdown())
    | name | δ |
    | --- | --- |
    | a_b | 0.1 |
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def text(self) -> str:
        """Return aligned columns."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        shown = [
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*shown, *([self.caption] if self.caption else [])])

    def markdown(self) -> str:
        """Return a Markdown table."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        shown = [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        ]
        return "\n".join([*shown, *(["", self.caption] if self.caption else [])])

    def latex(self) -> str:
        """Return a LaTeX table; it needs the package booktabs."""
        body = [" & ".join(_latex(cell) for cell in line) + r" \\" for line in self.rows]
        head = " & ".join(_latex(cell) for cell in self.columns) + r" \\"
        lines = [r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{_latex(self.caption)}}}"] if self.caption else []
        lines += [
            rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
            r"\toprule",
            head,
            r"\midrule",
        ]
        return "\n".join([*lines, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"])

    def html(self) -> str:
        """Return an HTML table."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self.rows
        )
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
