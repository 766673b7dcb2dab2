"""The page of one run: verdict, sliders, pictures, and everything that the file knows."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from poise.arguments.printed_numbers import exactly
from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.repeat import as_command, as_python
from poise.cli.ui.result_file import ResultFile
from poise.cli.ui.run_index import RunLine
from poise.cli.ui.site import Site, pieces
from poise.cli.ui.slider_answers import SYMBOLS, Answer, SliderQuestion, without_verdict
from poise.errors import ArgumentError
from poise.results.conditional_design import ConditionalDesign
from poise.results.conditional_result import ConditionalResult
from poise.results.design import Design
from poise.results.monitor_status import MonitorStatus
from poise.results.report.html_report import Section, render_report
from poise.results.stability_result import StabilityResult
from poise.results.text.describe_provenance import facts_of_provenance
from poise.results.trials import Trials

__all__ = ["answer_band", "answer_question", "download", "run_page", "sliders"]

_MOST_FAILURES = 50


def run_page(site: Site, request: Request) -> Response:
    """Show one run."""
    line = site.line(request)
    if line.kind == FileKind.UNREAD:
        raise HTTPException(503, "This file is not read yet; try again in a moment.")
    if line.reason:
        return site.page(request, "run_unreadable.html", line=line)
    opened = site.opened(line)
    content = {"opened": opened, **_about(opened), **_control(site, line, opened)}
    if opened.trials is None:
        content |= {"line": line, "view": _written(opened), **_repeat(opened, line, None)}
        content["provenance"] = {}
        return site.page(request, "run_written.html", **content)
    answer = Answer(opened, SliderQuestion.of(opened, request.query_params))
    return site.page(
        request,
        "run.html",
        **content,
        **_spoken(answer, line),
        sliders=sliders(answer),
        provenance=_provenance(answer.result),
        has_band=isinstance(opened.trials, Trials),
    )


def answer_question(site: Site, request: Request) -> Response:
    """Answer the sliders: verdict, limits and the picture of the changes."""
    line = site.line(request)
    answer = _answer(site, line, request)
    spoken = _spoken(answer, line)
    parts = {name: site.render(f"{name}.html", **spoken) for name in ("verdict", "numbers")}
    control = {"line": line, **_control(site, line, answer.opened)}
    names = {"progress": "progress_of_run", "control": "control", "said": "said"}
    state = {name: site.render(f"{file}.html", **control) for name, file in names.items()}
    return pieces({"changes": answer.changes_figure()}, **parts, **state)


async def answer_band(site: Site, request: Request) -> Response:
    """Answer the sliders with the band, which may take longer."""
    line = await run_in_threadpool(site.line, request)
    answer = await run_in_threadpool(_answer, site, line, request)
    trials = answer.opened.trials
    if not isinstance(trials, Trials) or await request.is_disconnected():
        return pieces()
    profile = await run_in_threadpool(site.bands.of, trials, answer.question.alpha)
    figure = await run_in_threadpool(answer.profile_figure, profile)
    return pieces({"profile": figure}, band=answer.band_sentence(profile))


def _control(site: Site, line: RunLine, opened: ResultFile) -> dict[str, Any]:
    """Return whether a run can be stopped or resumed, and what it printed."""
    name = line.file.name
    alive = line.running and site.started.process(name) is not None
    idle = line.undecided and not (line.running or alive)
    return {
        "alive": alive,
        "resumable": bool(idle and opened.command_line),
        "resumed": opened.command_line,
        "resumed_in": opened.command.get("folder", ""),
        "said": site.started.said(name),
    }


def _answer(site: Site, line: RunLine, request: Request) -> Answer:
    opened = site.opened(line)
    if opened.trials is None:
        raise ArgumentError("this file holds no changes; it can be asked no other question")
    return Answer(opened, SliderQuestion.of(opened, request.query_params))


def _spoken(answer: Answer, line: RunLine) -> dict[str, Any]:
    return {
        "line": line,
        "answer": answer,
        "question": answer.question,
        "result": answer.result,
        "summary": answer.summary,
        "sentence": answer.sentence,
        "facts": answer.result.facts(),
        "fixed": {SYMBOLS[name]: exactly(value) for name, value in answer.question.fixed.items()},
        **_repeat(answer.opened, line, answer.question),
    }


def _repeat(opened: ResultFile, line: RunLine, question: SliderQuestion | None) -> dict[str, Any]:
    name = line.file.name
    return {
        "command": as_command(opened, name, question),
        "python": as_python(opened, name, question),
        "begun_in": opened.command.get("folder", ""),
    }


def sliders(answer: Answer) -> list[dict[str, Any]]:
    """Return the three sliders: how far each goes, and where it stands."""
    ends = {
        "epsilon": (0.0, answer.span),
        "delta": (0.0, max(0.5, answer.question.delta)),
        "alpha": (0.001, max(0.25, answer.question.alpha)),
    }
    meanings = {
        "epsilon": "allowed change",
        "delta": "allowed probability of a larger change",
        "alpha": "error level",
    }
    return [
        {
            "name": name,
            "symbol": SYMBOLS[name],
            "meaning": meanings[name],
            "low": low,
            "high": high,
            "value": answer.question.values[name],
            "fixed": answer.question.fixed.get(name),
        }
        for name, (low, high) in ends.items()
    ]


def _about(opened: ResultFile) -> dict[str, Any]:
    """Return what the page shows besides the answer: design, environment and failures."""
    measured = opened.trials if opened.trials is not None else opened.result
    design: Design | ConditionalDesign | None = getattr(measured, "design", None)
    known = {} if design is None else design.to_dict()
    return {
        "design": {name: value for name, value in known.items() if value not in (None, "")},
        "environment": opened.versions,
        "failures": opened.failures[:_MOST_FAILURES],
        "more_failures": max(0, len(opened.failures) - _MOST_FAILURES),
    }


def _provenance(result: object) -> dict[str, str]:
    """Return statement, seed, digests and versions, as the report has them."""
    return facts_of_provenance(result) if isinstance(result, StabilityResult) else {}


def _written(opened: ResultFile) -> dict[str, Any]:
    """Return what a file says that holds a verdict but no changes."""
    if opened.result is not None:
        summary = opened.result.describe()
        return {
            "headline": without_verdict(summary.headline),
            "paragraphs": summary.rest,
            "facts": opened.result.facts(),
            "verdict": opened.verdict,
        }
    headline = opened.facts.get("statement", opened.title)
    facts = {name: value for name, value in opened.facts.items() if name != "statement"}
    return {"headline": headline, "paragraphs": (), "facts": facts, "verdict": opened.verdict}


def download(site: Site, request: Request) -> Response:
    """Return a run as a report, as JSON, or as a picture."""
    line, form = site.line(request), request.path_params["form"]
    if form not in ("html", "json", "png"):
        raise HTTPException(404, f"There is no form {form!r} of a run.")
    opened = site.opened(line)
    if opened.trials is None:
        return _download_written(opened, form, line)
    answer = _answer(site, line, request)
    if form == "json":
        return _file(answer.result.to_json().encode(), "application/json", line, "json")
    if form == "png":
        from poise.results.plots.measurement_picture import plot_measurement

        picture: bytes = plot_measurement(opened.trials, answer.result).png()
        return _file(picture, "image/png", line, "png")
    section = Section(answer.result, opened.trials, answer.looking)
    return _file(render_report([section]).encode(), "text/html", line, "html")


def _download_written(opened: ResultFile, form: str, line: RunLine) -> Response:
    if form == "json" and opened.kind in (FileKind.RESULT, FileKind.CERTIFICATE):
        return _file(line.file.path.read_bytes(), "application/json", line, "json")
    if not isinstance(opened.result, StabilityResult | ConditionalResult | MonitorStatus):
        raise ArgumentError(f"there is no {form} of a {opened.kind}")
    if form == "json":
        return _file(opened.result.to_json().encode(), "application/json", line, "json")
    if form == "png":
        picture: bytes = opened.result.plot().png()
        return _file(picture, "image/png", line, "png")
    section = Section(opened.result)  # type: ignore[arg-type]  # without changes, words are enough
    return _file(render_report([section]).encode(), "text/html", line, "html")


def _file(content: bytes, kind: str, line: RunLine, ending: str) -> Response:
    """Return a file to keep; shown in a page of its own it could run nothing."""
    stem = "".join(c if c.isascii() and c.isalnum() else "-" for c in line.file.path.stem) or "run"
    return Response(
        content,
        media_type=kind,
        headers={
            "Content-Disposition": f'attachment; filename="{stem}.{ending}"',
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )
