"""Several runs side by side, with one error level for all, and the curve over n."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from poise.arguments.printed_numbers import at_most, confidence
from poise.cli.ui.browser_figures import curve_figure, profiles_figure
from poise.cli.ui.run_index import RunLine
from poise.cli.ui.run_page import sliders
from poise.cli.ui.site import Site, pieces
from poise.cli.ui.slider_answers import Answer, SliderQuestion
from poise.results.curve_result import StabilityCurve
from poise.results.judged_together import LIMITS_SHOW_LESS, JudgedTogether, judged_together
from poise.results.text.verdict_cells import (
    ADJUSTED,
    LIMITS,
    SeenChanges,
    adjusted_pvalue,
    larger_column,
    limits,
    pvalues,
)
from poise.results.trials import Trials

__all__ = ["answer_compared", "answer_profiles", "compare_page"]

_MOST_RUNS = 12


@dataclass(frozen=True)
class ComparedRuns:
    """Runs that were chosen, and one question for all of them.

    Attributes
    ----------
    lines : list of RunLine
        The runs.
    answers : list of Answer
        What each of them answers.
    """

    lines: list[RunLine]
    answers: list[Answer]

    @property
    def question(self) -> SliderQuestion:
        """The question."""
        return self.answers[0].question

    @property
    def trials(self) -> list[Trials]:
        """The changes of each run."""
        return [a.opened.trials for a in self.answers if isinstance(a.opened.trials, Trials)]

    @property
    def names(self) -> list[str]:
        """A name for each run that tells it from the others."""
        return [f"{a.opened.title}, n = {a.opened.n}, {line.file.name}"
                for a, line in zip(self.answers, self.lines, strict=True)]  # fmt: skip

    @cached_property
    def together(self) -> list[JudgedTogether]:
        """The verdict on each run, with one error level for all."""
        asked = self.question
        return judged_together(self.trials, asked.epsilon, asked.delta, asked.alpha)

    def rows(self) -> list[tuple[str, list[str]]]:
        """Return what the table shows, a row for each quantity."""
        alone = [answer.result for answer in self.answers]
        at_once = [limits(each.result) for each in self.together]
        upper = zip(LIMITS, zip(*at_once, strict=True), strict=True)
        return [
            ("n", [f"{a.opened.n:,}" for a in self.answers]),
            ("trials", [f"{t.n_observed:,} of {t.n_trials:,}" for t in self.trials]),
            larger_column([SeenChanges.of(r) for r in alone]),
            ("verdict, alone", [r.verdict.value for r in alone]),
            *((name, [pvalues(r)[name] for r in alone]) for name in pvalues(alone[0])),
            (ADJUSTED, [adjusted_pvalue(each) for each in self.together]),
            ("all together", [each.verdict.value for each in self.together]),
            *((name, list(cells)) for name, cells in upper),
        ]  # fmt: skip

    @property
    def curve(self) -> StabilityCurve | None:
        """The curve over n, if the runs are of one algorithm at several n."""
        by_size = {trials.design.n: trials for trials in self.trials}
        algorithms = {trials.design.algorithm for trials in self.trials}
        if len(by_size) < 2 or len(algorithms) > 1 or len(by_size) < len(self.trials):
            return None
        ordered = tuple(by_size[n] for n in sorted(by_size))
        asked = self.question
        return StabilityCurve(ordered, asked.epsilon, asked.delta, asked.alpha)

    @property
    def looking(self) -> str:
        """What may be said about all of them together."""
        return (
            f"“All together” says “stable” wrongly of any of these {len(self.trials)} runs with "
            f"probability at most {at_most(self.question.alpha)}, and “unstable” likewise, if the "
            "question and the choice of runs were fixed before anyone looked at the changes. "
            "P-values are adjusted by Holm's method, and the limits hold for all of them at once, "
            f"each row with confidence {confidence(self.question.alpha)} (Bonferroni). "
            f"{LIMITS_SHOW_LESS}"
        )


def compare_page(site: Site, request: Request) -> Response:
    """Show the chosen runs side by side, or let the reader choose."""
    compared = _compared(site, request)
    if compared is None:
        lines = [line for line in site.index.lines() if line.comparable]
        return site.page(request, "compare_choose.html", lines=lines)
    return site.page(
        request,
        "compare.html",
        compared=compared,
        sliders=sliders(compared.answers[0]),
        curve=compared.curve,
    )


def answer_compared(site: Site, request: Request) -> Response:
    """Answer the sliders: the table, and the curve over n."""
    compared = _compared(site, request)
    if compared is None:
        return pieces()
    curve = compared.curve
    figures: dict[str, Any] = {} if curve is None else {"curve": curve_figure(curve)}
    return pieces(figures, compared=site.render("compared.html", compared=compared, curve=curve))


async def answer_profiles(site: Site, request: Request) -> Response:
    """Answer the sliders with the bands, which may take longer."""
    compared = await run_in_threadpool(_compared, site, request)
    if compared is None:
        return pieces()
    bands = {}
    for name, trials in zip(compared.names, compared.trials, strict=True):
        if await request.is_disconnected():
            return pieces()
        level = compared.question.alpha
        bands[name] = await run_in_threadpool(site.bands.of, trials, level)
    span = max(answer.span for answer in compared.answers)
    return pieces({"profiles": profiles_figure(bands, compared.question.epsilon, span)})


def _compared(site: Site, request: Request) -> ComparedRuns | None:
    found = [site.index.line(key) for key in request.query_params.getlist("run")[:_MOST_RUNS]]
    lines = [line for line in found if line is not None and line.comparable]
    lines.sort(key=lambda line: (line.title, line.n or 0, line.file.name))
    if not lines:
        return None
    opened_files = [site.opened(line) for line in lines]
    first = SliderQuestion.of(opened_files[0], request.query_params)
    given = {name: repr(value) for name, value in first.values.items()}
    return ComparedRuns(
        lines, [Answer(opened, SliderQuestion.of(opened, given)) for opened in opened_files]
    )
