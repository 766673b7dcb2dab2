"""Gates: the questions of a TOML file about the same rows, with one exit status for all."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from poise.checks import choice, counted, did_you_mean
from poise.cli.errors import Exit, Warned, say, stdout_is_for_the_answer, told, worst
from poise.cli.inputs import (
    OF_ROWS,
    READ,
    CommandLine,
    Source,
    code_file,
    load_algorithm,
    load_named,
)
from poise.cli.output import Output
from poise.cli.screen import as_dict, in_full, paragraphs, print_json
from poise.errors import ArgumentError, DataError, PoiseError, TrialError, printable
from poise.settings import Every, OneTrainingSet, settings_of

if TYPE_CHECKING:
    from poise.questions.job import Job
    from poise.results.question import Question

_PLACES = ("algorithm", "distance", "coupling")  # may name objects of the user
_OTHERS = (*OF_ROWS, "groups_unlabeled", "X_unlabeled", "fit_params", "name", "progress")
_ASKED = [name for name in settings_of(Every) if name not in _OTHERS]
_KEYS = ("name", "algorithm", "program", "params", "inconclusive", "deployed", *_ASKED)
_DEPLOYED = ("hold_out", *settings_of(OneTrainingSet))
_FILES = ("file", "unlabeled", "fresh")
_DATA = (*_FILES, "target", *READ, *OF_ROWS)
_TEXTS = (*_FILES, "target", "name", "algorithm", "program", "journal", *OF_ROWS)
_TABLES = ("params", "deployed")
_TYPES = {**dict.fromkeys(_TABLES, (Mapping, "a table")), **dict.fromkeys(_TEXTS, (str, "text"))}
_WHERE = ("n_jobs", "backend")  # settings that may be typed beside a file
_OPTIONS = {
    *("data", "as_json", "quiet", "details", "check_only", "summary", "accept", "address"),
    *("save", "report", "force", *_WHERE),
}


def run(ctx: click.Context, path: Path) -> Exit:
    """Answer every question of a file; all of them are checked before the first fit."""
    typed = {n for n in ctx.params if ctx.get_parameter_source(n) is ParameterSource.COMMANDLINE}
    for param in ctx.command.params:
        if param.name in typed - _OPTIONS:
            where = " Write it there." if param.name in (*_ASKED, *_DATA) else ""
            said = f"{param.opts[0]} is for data: {path} has its questions.{where}"
            raise click.UsageError(said, ctx)
    output, values = Output.of(ctx, folder=True), ctx.params
    source, entries = _read(path)
    files = [code_file(entry.get(key)) for entry in entries for key in _PLACES]
    output.check([path, *source.files, *files])
    more = {"progress": False} if output.quiet else {}
    more |= {name: values[name] for name in _WHERE if name in typed}
    with Warned(output.quiet).listening() as warned:
        with stdout_is_for_the_answer():
            rows = source.read()
            asked = [_Asked.of(path, source, rows, entry, more) for entry in entries]
            for each in () if values["check_only"] else asked:
                each.answer()
        if output.as_json or output.details:
            warned.shown(text for each in asked for text in getattr(each.result, "warnings", ()))
    if output.as_json:
        print_json({"file": str(path), "questions": [each.to_dict() for each in asked]})
    else:
        paragraphs("\n".join(each.line(output) for each in asked))
    if not values["check_only"]:
        if output.summary:
            with Path(output.summary).open("a", encoding="utf-8") as file:
                file.write(_markdown(path, asked))
        output.write({each.entry["name"]: each.result for each in asked if each.result is not None})
    return worst(each.status(bool(values["accept"])) for each in asked)


def _read(path: Path) -> tuple[Source, list[dict[str, Any]]]:
    """Return the rows and the questions of a file; paths in it begin in its folder."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "; a question begins with [[questions]]" if "questions" in str(error) else ""
        raise ArgumentError(f"{path} is not a TOML file: {error}{hint}") from None
    _require_known(content, ("data", "defaults", "questions"), f"{path}")
    data, defaults = content.get("data", {}), content.get("defaults", {})
    _require_known(data, _DATA, f"{path}: [data]")
    _require_known(defaults, _KEYS, f"{path}: [defaults]")
    asked = content.get("questions")
    if "file" not in data or not isinstance(asked, list) or not asked:
        raise ArgumentError(f"{path} needs [data] with a file, and [[questions]]")
    beside = {key: str(path.parent / data[key]) for key in _FILES if key in data}
    for k, each in enumerate(asked, 1):
        _require_known(each, _KEYS, f"{path}: question {k}")
    entries = [{"name": f"question {k}", **defaults, **each} for k, each in enumerate(asked, 1)]
    names = [entry["name"] for entry in entries]
    for entry in entries:
        if names.count(entry["name"]) > 1:
            raise ArgumentError(f"{path}: two questions are called {entry['name']!r}")
        if ("algorithm" in entry) == ("program" in entry):
            raise ArgumentError(f"{path}: {entry['name']}: name an algorithm or a program")
        for key in (*_PLACES, "journal"):
            if key in entry and (key == "journal" or code_file(entry[key]) is not None):
                entry[key] = str(path.parent / entry[key])
        if "program" in entry:
            entry["algorithm"] = CommandLine(entry["program"])
            entry["algorithm"].folder = path.parent
        if "deployed" in entry:
            _require_known(entry["deployed"], _DEPLOYED, f"{path}: {entry['name']}: deployed")
    return Source(beside["file"], {**data, **beside}), entries


def _require_known(table: object, known: Collection[str], place: str) -> None:
    if not isinstance(table, Mapping):
        raise ArgumentError(f"{place} must be a table")
    for key, value in table.items():
        if key not in known:
            raise ArgumentError(f"{place} has no key {key!r}{did_you_mean(key, known)}")
        kind, rule = _TYPES.get(key, (object, ""))
        if not isinstance(value, kind):
            raise ArgumentError(f"{place}: {key} must be {rule}, got {value!r}")


@dataclass
class _Asked:
    """One question, checked, and its answer once it is there."""

    entry: Mapping[str, Any]
    job: Job
    question: Question
    result: Any = None
    error: str = ""

    @classmethod
    def of(
        cls,
        path: Path,
        source: Source,
        rows: Mapping[str, Any],
        entry: Mapping[str, Any],
        more: Mapping[str, Any],
    ) -> _Asked:
        """Refuse a question that cannot be asked, or that these rows cannot answer "stable"."""
        asked = {key: entry[key] for key in _ASKED if key in entry}
        source = copy(source)  # which another question divides otherwise
        try:
            choice("inconclusive", entry.get("inconclusive", "fail"), ("fail", "skip", "pass"))
            asked |= {key: load_named(key, asked[key]) for key in _PLACES[1:] if key in asked}
            algorithm = load_algorithm(entry["algorithm"], entry.get("params", {}))
            job, question = _prepared(algorithm, source, rows, {**asked, **more}, entry)
            job.require_answerable(question)
        except PoiseError as error:
            source.explain(error)
            raise DataError(f"{path}: {entry['name']}: {error.words(_as_key)}") from error
        return cls(entry, job, question)

    def answer(self) -> None:
        """Run the trials; a failed fit ends this question, and no other."""
        try:
            self.result = self.job.run(self.question).judge(self.question)
        except TrialError as error:
            self.error = told(error, Exit.FIT_FAILED, None)
            say(f"{self.entry['name']}: {self.error}")

    @property
    def verdict(self) -> str:
        """The verdict, or why there is none."""
        none = "failed" if self.error else "not asked"
        return none if self.result is None else self.result.verdict

    def status(self, accept: bool = False) -> Exit:
        """Return the exit status of this question."""
        if self.result is None:
            return Exit.FIT_FAILED if self.error else Exit.STABLE
        accept = accept or self.entry.get("inconclusive", "fail") != "fail"
        accepted = accept and self.verdict == "inconclusive"
        return Exit.STABLE if accepted else Exit.of_verdict(self.verdict)

    def line(self, output: Output) -> str:
        """Say the answer in one line, or all of it where that was asked for."""
        from poise.results.sentences import subject

        name, design = self.entry["name"], self.job.planned().design
        if output.quiet:
            return f"{self.verdict}\t{name}"
        if self.result is None:
            m = design.n_trials
            fits = f"{counted(m, 'trial')}, {counted(design.fits(m), 'fit')}"
            return f"{name}: {subject(design)}: {self.error or fits}"
        if output.details:
            return f"{name}: {in_full(self.result)}\n"
        return f"{name}: {str(self.result).splitlines()[len(self.result.warnings)]}"

    def answered(self) -> str:
        """Say beside its name and verdict what was answered, and what was seen."""
        if self.result is None:
            return self.error
        verdict, seen = str(self.result).splitlines()[len(self.result.warnings) :][:2]
        return f"{verdict.partition(': ')[2]} {seen}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        said = {key: self.entry[key] for key in ("name", "algorithm")}
        said |= {"verdict": self.verdict, "passed": self.status() == Exit.STABLE}
        if self.result is not None:
            return said | {"result": as_dict(self.result)}
        return said | ({"error": self.error} if self.error else {})


def _prepared(
    algorithm: Any,
    source: Source,
    rows: Mapping[str, Any],
    asked: dict[str, Any],
    entry: Mapping[str, Any],
) -> tuple[Job, Question]:
    """Check a question about new training sets, or about the one that is given."""
    from poise.questions.ask import prepared
    from poise.questions.deployed import about_training_set

    given = dict(entry.get("deployed", {}))
    if "hold_out" in given:
        rows = source.held_out(rows, given.pop("hold_out"), asked.get("random_state", 0))
    X, y, fresh = rows["X"], rows["y"], rows.get("X_fresh")
    beside = {key: rows[key] for key in rows if key not in ("X", "y", "X_fresh")}
    if "deployed" not in entry:
        return prepared("gate", algorithm, X, y, {**beside, **asked})
    if fresh is None:
        problem = 'needs fresh rows: fresh = "FILE" in [data], or hold_out = 0.2'
        raise ArgumentError(problem, argument="deployed")
    if "without" in given:
        given["without"] = source.named(given["without"])
    beside.pop("X_unlabeled", None)
    return about_training_set("gate", algorithm, (X, y, fresh, None), {**beside, **asked, **given})


_ABSENT = object()


def _as_key(name: str, value: object = _ABSENT) -> str:
    return name if value is _ABSENT else f"{name} = {value!r}"


def _markdown(path: Path, asked: list[_Asked]) -> str:
    """Return the verdicts as a Markdown table, for the summary of a CI run."""
    rows = [[each.entry["name"], each.verdict, each.answered()] for each in asked]
    table = [["question", "verdict", "answer"], ["---"] * 3, *rows]
    lines = "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in table)
    return f"### poise: {path.name}\n\n{lines}\n\n"


def _cell(text: str) -> str:
    return printable(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")
