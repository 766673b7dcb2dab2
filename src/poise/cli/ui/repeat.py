"""The command line and the Python that repeat a run, or ask its file the question of the page."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

import click

from poise.cli.fit_options import FitOptions
from poise.cli.load_algorithm import parse_parameters, place_and_parameters
from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.result_file import ResultFile
from poise.cli.ui.rows_in_python import Expression, as_keywords, read_again
from poise.cli.ui.slider_answers import SliderQuestion
from poise.data.files.row_source import RowSource
from poise.errors import PoiseError
from poise.protocol.random_order import PERMUTATION
from poise.questions.setup import Setup
from poise.results.design import Design
from poise.results.relative_epsilon import ROWS_SET_ASIDE
from poise.results.trials import Trials

__all__ = ["as_command", "as_python"]

_LOADED = {
    FileKind.TRIALS: "poise.Trials.load({name})",
    FileKind.TRAINING_SET: "poise.ConditionalTrials.load({name})",
    FileKind.RESULT: "poise.StabilityResult.from_json(pathlib.Path({name}).read_text())",
    FileKind.TRANSCRIPT: "poise.replay(poise.Transcript.load({name}))",
    FileKind.CERTIFICATE: "Certificate.from_json(pathlib.Path({name}).read_text())",
    FileKind.CERTIFICATE_FILE: "poise.verify({name})",
    FileKind.LEDGER: "poise.Ledger({name})",
}
_AGAIN = {
    FileKind.JOURNAL: "status",
    FileKind.TRIALS: "show",
    FileKind.TRAINING_SET: "show",
    FileKind.LEDGER: "ledger",
    FileKind.MONITOR: "monitor",
}
_IN_ANY_CASE = ("n", "random_state")  # written whether or not they have the usual value


def as_command(opened: ResultFile, name: str, question: SliderQuestion | None) -> str:
    """Return the command that repeats the run, and the one that asks its file again."""
    asked = [] if question is None else _options(question)
    again = _AGAIN.get(opened.kind)
    if opened.kind == FileKind.CERTIFICATE_FILE:
        return shlex.join(["poise", "verify", name])
    lines = [opened.command_line] if opened.command_line else []
    if again is not None:
        lines.append(shlex.join(["poise", again, name, *asked]))
    return "\n".join(lines)


def _options(question: SliderQuestion) -> list[str]:
    return [word for key, value in question.values.items() for word in (f"--{key}", f"{value!r}")]


def as_python(opened: ResultFile, name: str, question: SliderQuestion | None) -> str:
    """Return Python that gives the same result."""
    if opened.kind == FileKind.JOURNAL:
        return _run_again(opened, question)
    if opened.kind == FileKind.MONITOR:
        return _add_rows(opened, name)
    loaded = _LOADED[opened.kind].format(name=repr(name))
    imports = ["import poise"]
    if "pathlib" in loaded:
        imports.insert(0, "import pathlib")
    if opened.kind == FileKind.CERTIFICATE:
        imports[-1:] = ["from poise.results.certificate import Certificate"]
    if question is not None and opened.kind != FileKind.CERTIFICATE_FILE:
        loaded += f".test({as_keywords(question.values)})"
    return "\n".join([*imports, "", f"result = {loaded}", "print(result)"])


def _run_again(opened: ResultFile, question: SliderQuestion | None) -> str:
    if not isinstance(opened.trials, Trials):
        return "# the command line above goes on with this journal"
    design = opened.trials.design
    given = _parsed(opened.command)
    imports, algorithm = _algorithm(given)
    read = read_again(_source(given))
    asked = {} if question is None else question.values
    settings = {"n": design.n, **asked, **_settings(design, given), "random_state": design.seed}
    settings |= read.settings
    if asked and design.set_aside:  # those rows are in no trial: a number would divide all rows
        settings["epsilon"] = _share(asked["epsilon"], design)
    call = "stability_test" if asked else "measure"
    if design.shuffle and design.order == PERMUTATION:
        read.lines.append(
            "# an older version put the rows in another order: these are other trials"
        )
    lines = [f"result = poise.{call}(", f"    {algorithm}, X, y,", f"    {as_keywords(settings)},"]
    imported = ["import poise", *read.imports, *imports]
    return "\n".join([*imported, "", *read.lines, *lines, ")", "print(result)"])


def _add_rows(opened: ResultFile, name: str) -> str:
    asked = {"n": opened.n, **opened.question}
    made = f"monitor = poise.Monitor({name!r}, algorithm, {as_keywords(asked)})"
    return "\n".join(["import poise", "", made, "print(monitor.add(X_fresh, y_fresh))"])


def _share(epsilon: float, design: Design) -> Expression:
    rows = "" if design.set_aside == ROWS_SET_ASIDE else f", rows={design.set_aside}"
    assert design.spread is not None
    return Expression(f"poise.relative({epsilon / design.spread:.6g}{rows})")


def _settings(design: Design, given: dict[str, Any]) -> dict[str, Any]:
    """Return what differs from the usual setting.

    What the design does not hold, as the response, is known if the run has a command line.
    """
    usual = Design(design.algorithm, design.n, design.n_labeled)
    differing: dict[str, Any] = {}
    for setting in fields(Setup):
        name = setting.name
        held = hasattr(design, name)
        normal = getattr(usual, name) if held else setting.default
        value = getattr(design, name) if held else given.get(name, normal)
        if name not in _IN_ANY_CASE and value != normal:
            differing[name] = value
    return differing


def _parsed(command: dict[str, Any]) -> dict[str, Any]:
    """Read the options of a `poise test` again; empty for any other command."""
    words = [str(word) for word in command.get("arguments", ())]
    if not words or words[0] != "test":
        return {}
    from poise.cli.test import command as test

    try:
        return test.make_context("test", words[1:]).params
    except (click.ClickException, click.exceptions.Exit, PoiseError):
        return {}


def _source(given: dict[str, Any]) -> RowSource | None:
    """Return where the rows of a run are; None where that is not known."""
    try:
        return FitOptions(given).source() if given else None
    except (click.ClickException, PoiseError):  # written by another version, or by somebody else
        return None


def _algorithm(given: dict[str, Any]) -> tuple[list[str], str]:
    """Return the import of the algorithm, and the expression that makes it."""
    place = given.get("algorithm") if given else None
    if not place:
        return [], "algorithm"
    try:
        place, parameters = place_and_parameters(place)
        parameters |= parse_parameters(given["param"])
    except PoiseError:
        return [], "algorithm"
    source, _, name = place.rpartition(":")
    module = source.removesuffix(".py").replace("/", ".")
    made = name[:1].isupper() or parameters
    return [f"from {module} import {name}"], f"{name}({as_keywords(parameters)})" if made else name
