"""Gates: the questions of a TOML file about the same rows, with one exit status for all."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.checks import choice, counted, did_you_mean
from poise.cli.algorithms import algorithm_of, loaded
from poise.cli.errors import Exit, Warned, say, stdout_is_for_the_answer, told, worst
from poise.cli.options import is_typed
from poise.cli.output import Output, as_dict, files_named, paragraphs, print_json
from poise.cli.rows import OF_ROWS, READ, Source
from poise.errors import ArgumentError, DataError, PoiseError, TrialError, printable
from poise.settings import Every, OneTrainingSet, settings_of

if TYPE_CHECKING:
    from poise.questions.job import Job
    from poise.results.question import Question

_OTHERS = (*OF_ROWS, "groups_unlabeled", "X_unlabeled", "fit_params", "name", "progress")
_ASKED = [name for name in settings_of(Every) if name not in _OTHERS]
_KEYS = ("name", "algorithm", "program", "params", "inconclusive", "deployed", *_ASKED)
_DEPLOYED = ("hold_out", *settings_of(OneTrainingSet))
_FILES = {"file": "file", "unlabeled": "X_unlabeled", "fresh": "X_fresh"}
_DATA = (*_FILES, "target", *READ, *OF_ROWS)
_TEXTS = (*_FILES, "target", "name", "algorithm", "program", "journal", *OF_ROWS)
_TYPES = {"params": (Mapping, "a table"), **dict.fromkeys(_TEXTS, (str, "text"))}
_WHERE = ("n_jobs", "backend")  # settings that may be typed beside a file
_OPTIONS = {
    *("data", "as_json", "quiet", "details", "latex", "check_only", "summary", "accept"),
    *("save", "report", "force", "address", *_WHERE),
}


def run(ctx: click.Context, path: Path) -> Exit:
    """Answer every question of a file; all of them are checked before the first fit."""
    for param in ctx.command.params:
        if is_typed(ctx, str(param.name)) and param.name not in _OPTIONS:
            raise click.UsageError(f"{param.opts[0]} is for data: {path} has its questions.", ctx)
    source, entries = _read(path)
    output = Output.of(ctx, folder=True)
    journals = [entry["journal"] for entry in entries if "journal" in entry]
    named = [path, *files_named(source.given), *map(Path, journals)]
    for entry in entries:
        named += [*files_named(entry), *files_named(entry, path.parent)]
    output.check(named)
    output = replace(output, journal=", ".join(journals))
    more = {name: ctx.params[name] for name in _WHERE if is_typed(ctx, name)}
    more |= {"progress": False} if output.quiet else {}
    with stdout_is_for_the_answer():
        rows = source.read()
        asked = [_Asked.of(path, source, rows, entry, more) for entry in entries]
        for each in () if ctx.params["check_only"] else asked:
            each.answer()
    accept = ctx.params["accept"] is not None
    _tell(path, asked, output, accept)
    if not ctx.params["check_only"]:
        if output.summary:
            with Path(output.summary).open("a", encoding="utf-8") as file:
                file.write(_summary(path, asked))
        output.write({each.name: each.result for each in asked if each.result is not None})
    return worst(each.status(accept) for each in asked)


def _tell(path: Path, asked: list[_Asked], output: Output, accept: bool) -> None:
    results = {each.name: each.result for each in asked if each.result is not None}
    if output.as_json or output.details:
        Warned.here().told.update(text for each in results.values() for text in each.warnings)
    if output.as_json:
        print_json({"file": str(path), "questions": [each.to_dict(accept) for each in asked]})
    elif output.latex:
        from poise.results.tables import table

        click.echo(table(results).latex())
    else:
        paragraphs("\n".join(each.line(output) for each in asked))


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
    for k, each in enumerate(asked, 1):
        _require_known(each, _KEYS, f"{path}: question {k}")
    entries = [{"name": f"question {k}", **defaults, **each} for k, each in enumerate(asked, 1)]
    names = [entry["name"] for entry in entries]
    for entry in entries:
        if names.count(entry["name"]) > 1:
            raise ArgumentError(f"{path}: two questions are called {entry['name']!r}")
        for key in ("algorithm", "distance", "coupling", "journal"):
            if key == "journal" in entry or ".py:" in str(entry.get(key)):
                entry[key] = str(path.parent / entry[key])
        if "deployed" in entry:
            _require_known(entry["deployed"], _DEPLOYED, f"{path}: {entry['name']}: deployed")
    beside = {name: str(path.parent / data[key]) for key, name in _FILES.items() if key in data}
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
        source = copy(source)  # which another question divides otherwise
        try:
            choice("inconclusive", entry.get("inconclusive", "fail"), ("fail", "skip", "pass"))
            asked = loaded({key: entry[key] for key in _ASKED if key in entry})
            algorithm = algorithm_of(entry, path.parent)
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
            self.error = told(error)
            say(f"{self.name}: {self.error}")

    @property
    def name(self) -> str:
        """What the question is called."""
        return str(self.entry["name"])

    @property
    def verdict(self) -> str:
        """The verdict, or why there is none."""
        none = "failed" if self.error else "not asked"
        return none if self.result is None else self.result.verdict

    def status(self, accept: bool) -> Exit:
        """Return the exit status of this question."""
        if self.result is None:
            return Exit.FIT_FAILED if self.error else Exit.STABLE
        accept = accept or self.entry.get("inconclusive", "fail") != "fail"
        accepted = accept and self.verdict == "inconclusive"
        return Exit.STABLE if accepted else Exit[self.verdict.upper()]

    def said(self) -> list[str]:
        """Return the first lines of the answer: the verdict, and what was seen."""
        from poise.results.sentences import subject

        if self.result is not None:
            return str(self.result).splitlines()[len(self.result.warnings) :][:2]
        design = self.job.planned().design
        trials, fits = design.n_trials, design.fits(design.n_trials)
        planned = f"{counted(trials, 'trial')}, {counted(fits, 'fit')}"
        return [self.error or f"{subject(design)}: {planned}"]

    def line(self, output: Output) -> str:
        """Say the answer in one line, or all of it where that was asked for."""
        if output.quiet:
            return f"{self.verdict}\t{self.name}"
        if output.details and self.result is not None:
            return f"{self.name}: {output.in_words(self.result)}\n"
        return f"{self.name}: {self.said()[0]}"

    def to_dict(self, accept: bool) -> dict[str, Any]:
        """Return the answer as plain values."""
        said = {"name": self.name, "algorithm": self.entry.get("algorithm", "")}
        said |= {"verdict": self.verdict, "passed": self.status(accept) == Exit.STABLE}
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
    from poise.questions.deployed import GivenJob
    from poise.questions.job import Job

    given = dict(entry.get("deployed", {}))
    if "hold_out" in given:
        rows = source.held_out(rows, given.pop("hold_out"), asked.get("random_state"))
    X, y, fresh = rows["X"], rows["y"], rows.get("X_fresh")
    beside = {key: rows[key] for key in rows if key not in ("X", "y", "X_fresh")}
    if "deployed" not in entry:
        return Job.of("gate", algorithm, X, y, {**beside, **asked}).asked()
    if fresh is None:
        problem = 'needs fresh rows: fresh = "FILE" in [data], or hold_out = 0.2'
        raise ArgumentError(problem, argument="deployed")
    if "without" in given:
        given["without"] = source.named(given["without"])
    beside.pop("X_unlabeled", None)
    rows_given = (X, y, fresh, None)
    return GivenJob.given("gate", algorithm, rows_given, {**beside, **asked, **given}).asked()


def _as_key(name: str, *value: object) -> str:
    return " = ".join([name, *map(repr, value)])


def _summary(path: Path, asked: list[_Asked]) -> str:
    """Return the answers as a Markdown table, for the summary of a CI run."""
    from poise.results.tables import TextTable

    rows = [[_cell(text) for text in (each.name, " ".join(each.said()))] for each in asked]
    return f"### poise: {path.name}\n\n{TextTable(['question', 'answer'], rows).markdown()}\n\n"


def _cell(text: str) -> str:
    return printable(" ".join(text.split())).replace("<", "&lt;")
