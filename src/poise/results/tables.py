"""Tables of results for a terminal, LaTeX, Markdown and HTML; and all facts about one result."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from poise.errors import ArgumentError
from poise.numbers import at_least, at_most, exactly, level, number
from poise.results.design import Design, in_brief
from poise.results.result import NUMBERS, Result
from poise.results.sentences import larger_changes, limit_of_delta, pvalue, warned

_COLUMNS = ("algorithm", "n", "trials", "ε", "δ", "larger changes", "p", "P(larger)", "verdict")
_MOST_FAILURES = 5
_MOST_PRINTED = 20  # lines
_LONGEST = 500  # letters of a fact
_ASKED = ("epsilon", "delta", "alpha", "gamma")
_ESCAPED = {each: f"\\{each}" for each in "&%$#_{}"}
_ESCAPED |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_ESCAPED |= {"ε": r"$\varepsilon$", "δ": r"$\delta$", "α": r"$\alpha$", "≥": r"$\geq$"}
_LATEX = str.maketrans(_ESCAPED)


def details(result: Result) -> list[str]:
    """Return one line for each fact about the question, the evidence, the trials and the run."""
    said = [f"{name}: {text}" for name, text in facts(result).items()]
    return warned(result.warnings) + said


def facts(result: Result) -> dict[str, str]:
    """Return every number by the name of its attribute, what the design has set, and the run.

    What is not known, or says nothing, is left out.
    """
    design, trials, origin = result.design, result.trials, result.trials.origin
    asked = [field.name for field in fields(result.question) if field.name != "family"]
    found = {name: written(name, getattr(result.question, name)) for name in asked}
    found |= {name: written(name, getattr(result, name)) for name in NUMBERS}
    found |= {"pvalue": pvalue(result, "stable"), "pvalue_unstable": pvalue(result, "unstable")}
    for field in fields(design):
        value = getattr(design, field.name)
        found[field.name] = "" if value == field.default else in_brief(str(value), _LONGEST)
    if design.distance == "label" and design.response == "predict":  # which move before it does
        found["distance"] += "; response='predict_proba' would compare probabilities"
    first = trials.failures[:_MOST_FAILURES]
    versions = getattr(origin, "versions", {})
    found |= {
        "seed": _seeds(design) if design.from_rows else "",
        "zeta": written("zeta", trials.zeta),
        "error": written("error", trials.error),
        "failures": "; ".join(f"trial {f.trial} ({f.kind}): {f.message}" for f in first),
        "made with": ", ".join(f"{name} {text}" for name, text in versions.items()),
        "printed by fits": "; ".join(getattr(origin, "printed", ())[:_MOST_PRINTED]),
        "digest of the rows": getattr(origin, "data", ""),
    }
    return {name: " ".join(text.split()) for name, text in found.items() if text}


def _seeds(design: Design) -> str:
    """Say what the seed is for, and what becomes of an estimator's own."""
    if design.notion == "changed":
        return f"{design.seed}, which orders the fresh {design.unit}s"
    if design.notion != "new":
        return f"{design.seed}; all fits share it, and seeds that were set are kept"
    return f"{design.seed}; every seed inside the algorithm is set anew in each trial"


def written(name: str, value: Any) -> str:
    """Write a value of this name, limits and p-values to their safe side; "" if it is not known."""
    if value is None or value != value:
        return ""
    if isinstance(value, str | bool):
        return str(value)
    if isinstance(value, tuple):
        return f"{at_least(value[0])} to {at_most(value[1])}"
    if name in _ASKED:
        return exactly(value)
    if name.endswith("lower"):
        return at_least(value)
    return at_most(value) if name.endswith(("upper", "bound", "pvalue")) else number(value)


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

    @classmethod
    def of(
        cls, rows: Sequence[Mapping[str, str]], caption: str, columns: Sequence[str] = ()
    ) -> TextTable:
        """Choose columns of rows whose cells have names; those of the first by default."""
        columns = columns or list(rows[0])
        return cls(columns, [[row.get(each, "") for each in columns] for row in rows], caption)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def text(self) -> str:
        """Return aligned columns."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        padded = [[c.ljust(w) for c, w in zip(line, widths, strict=True)] for line in lines]
        shown = ["  ".join(line).rstrip() for line in padded]
        return "\n".join([*shown, *filter(None, [self.caption])])

    def markdown(self) -> str:
        """Return a Markdown table."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        bars = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        shown = [f"| {' | '.join(line)} |" for line in bars]
        return "\n".join([*shown, *(["", self.caption] if self.caption else [])])

    def latex(self) -> str:
        """Return a LaTeX table; it needs the package booktabs."""
        lines = [
            " & ".join(cell.translate(_LATEX) for cell in line) + r" \\"
            for line in (self.columns, *self.rows)
        ]
        caption = [rf"\caption{{{self.caption.translate(_LATEX)}}}"] if self.caption else []
        table = [r"\begin{table}", r"\centering", *caption]
        table += [rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}", r"\toprule", lines[0]]
        table += [r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join(table)

    def html(self) -> str:
        """Return an HTML table."""
        head, body = _html("th", [self.columns]), _html("td", self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _html(tag: str, lines: Sequence[Sequence[str]]) -> str:
    cells = [[f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line] for line in lines]
    return "".join(f"<tr>{''.join(line)}</tr>" for line in cells)


def table(results: Result | Iterable[Result] | Mapping[str, Result]) -> TextTable:
    """Put results into a table with nine columns, for a terminal, LaTeX, Markdown or HTML.

    Each p-value is that of the verdict, and of "stable" where it is inconclusive; each limit is an
    upper one, or a lower one beside "unstable", for the probability of a larger change.

    Parameters
    ----------
    results : Result, iterable of Result or mapping
        The names of a mapping take the place of the algorithms' own.

    Returns
    -------
    TextTable
        With methods ``text()``, ``latex()``, ``markdown()`` and ``html()``.

    Examples
    --------
    >>> from poise.results.trials import Trials
    >>> trials = Trials.from_changes([0.1] * 40, n=10, algorithm="mine")
    >>> print(table(trials.test(epsilon=0.2, delta=0.1)))
    algorithm  n   trials  ε    δ    larger changes  p        P(larger)        verdict
    mine       10  40      0.2  0.1  0 of 40         0.01479  at most 0.07216  stable
    Each verdict, and each limit, is wrong with probability at most 0.05.
    """
    named = by_name(results)
    for name, each in named:
        if not isinstance(each, Result):
            remedy = "trials.test(epsilon, delta) gives one"
            rule = f"must hold results: {name} has no verdict"
            raise ArgumentError(rule, argument="results", remedy=remedy)
    return table_of(named)


def table_of(named: list[tuple[str, Result]]) -> TextTable:
    """Put results into a table, in which names may occur twice."""
    rows = [cells(name, each) for name, each in named]
    return TextTable.of(rows, _caption(named), _COLUMNS)


def by_name(answers: Any) -> list[tuple[str, Any]]:
    """Name one answer, or several, by their algorithms if they have no names."""
    several = answers if isinstance(answers, Iterable) else [answers]
    pairs = answers.items() if isinstance(answers, Mapping) else ((None, each) for each in several)
    return [(name or each.design.title, each) for name, each in pairs]


def cells(name: str, result: Result) -> dict[str, str]:
    """Return the cells of a result, by the heads of their columns."""
    failed = f", {result.n_failures:,} failed" if result.n_failures else ""
    return {
        "algorithm": name,
        "n": f"{result.n:,}" if result.n else "",
        "trials": f"{result.n_observed:,}",
        "ε": "" if result.epsilon is None else exactly(result.epsilon),
        "δ": exactly(result.delta),
        "larger changes": larger_changes(result) + failed,
        "p": pvalue(result, result.verdict),
        "P(larger)": limit_of_delta(result),
        "verdict": result.verdict,
    }


def _caption(named: list[tuple[str, Result]]) -> str:
    """Say what is wrong with which probability, and what is doubted."""
    alone = sorted({each.alpha for _, each in named if each.question.family is None})
    joint = sorted({(r.alpha, r.question.level) for _, r in named if r.question.family})
    each = "Each verdict, and each limit, is wrong with probability at most {}."
    said = [each.format(", ".join(map(level, alone)))] if alone else []
    said += [
        f'Any wrong "stable" of a comparison has probability at most {level(alpha)}, and so has '
        f'any wrong "unstable" (p is adjusted by Holm\'s method); each limit is wrong with '
        f"probability at most {level(limit)}."
        for alpha, limit in joint
    ]
    doubts = [(name, text.removesuffix(".")) for name, each in named for text in each.warnings]
    return " ".join(said) + "".join(f" Warning about {name}: {text}." for name, text in doubts)
