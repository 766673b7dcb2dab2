"""Gates: the questions of a TOML file about the same rows, with one exit status for all."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from contextlib import chdir
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.checks import choice, counted, did_you_mean
from poise.cli.algorithms import algorithm_of, loaded
from poise.cli.errors import Exit, say, status_of, told, worst
from poise.cli.options import is_typed
from poise.cli.output import Output, SideBySide, files_named, print_answer
from poise.cli.rows import OF_ROWS, READ, Source
from poise.errors import ArgumentError, DataError, PoiseError, TrialError, printable
from poise.settings import Every, OneTrainingSet, settings_of

if TYPE_CHECKING:
    from poise.questions.job import Job
    from poise.results.question import Question

_OTHERS = (*OF_ROWS, "groups_unlabeled", "X_unlabeled", "fit_params", "name", "progress")
_ASKED = [name for name in settings_of(Every) if name not in _OTHERS]
_KEYS = ("name", "algorithm", "program", "inconclusive", "deployed", *_ASKED)
_DEPLOYED = ("hold_out", *settings_of(OneTrainingSet))
_FILES = {"file": "file", "unlabeled": "X_unlabeled", "fresh": "X_fresh"}
_DATA = (*_FILES, "target", *READ, *OF_ROWS)
_TEXTS = (*_FILES, "target", "name", "algorithm", "program", "journal", *OF_ROWS)
_WHERE = ("n_jobs", "backend")  # settings that may be typed beside a file
_ELSEWHERE = {*settings_of(Every), *READ, "target", "algorithm", "program"} - {*_WHERE}


def run(ctx: click.Context, path: Path) -> Exit:
    """Answer every question of a file; all of them are checked before the first fit."""
    for param in ctx.command.params:
        if param.name in _ELSEWHERE and is_typed(ctx, param.name):
            raise click.UsageError(f"{param.opts[0]} is for data: {path} has its questions.", ctx)
    source, entries = _read(path)
    journals = [str(path.parent / entry["journal"]) for entry in entries if "journal" in entry]
    output = Output(ctx, folder=True)
    output.journal = ", ".join(journals)
    more = {name: ctx.params[name] for name in _WHERE if is_typed(ctx, name)}
    more |= {"progress": False} if ctx.params["quiet"] else {}
    with chdir(path.parent):  # in which its paths begin
        named = [file for each in (source.given, *entries) for file in files_named(each)]
    output.check([*named, *map(Path, journals)])
    with chdir(path.parent):
        rows = source.read()
        asked = {e["name"]: _checked(path, source, rows, e, more) for e in entries}
        if ctx.params["check_only"]:
            return _tell_counts({name: job for name, (job, _) in asked.items()})
        answers = Answers({name: _answer(name, *each) for name, each in asked.items()})
    if ctx.params["summary"]:
        _append(Path(ctx.params["summary"]), path.name, answers)
    output.tell(answers)
    statuses = {name: status_of(each) for name, each in answers.items()}
    for entry in entries:  # what is open may be accepted
        accepts = ctx.params["accept"] or entry["inconclusive"] != "fail"
        if accepts and statuses[entry["name"]] == Exit.INCONCLUSIVE:
            del statuses[entry["name"]]
    return worst(statuses.values())


def _read(path: Path) -> tuple[Source, list[dict[str, Any]]]:
    """Return the rows and the questions of a file; paths in it begin in its folder."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArgumentError(f"{path} is not a TOML file: {error}") from None
    _require_known(content, ("data", "defaults", "questions"), f"{path}")
    data, defaults = content.get("data", {}), content.get("defaults", {})
    _require_known(data, _DATA, f"{path}: [data]")
    _require_known(defaults, _KEYS, f"{path}: [defaults]")
    asked = content.get("questions")
    if "file" not in data or not isinstance(asked, list) or not asked:
        raise ArgumentError(f"{path} needs [data] with a file, and [[questions]]")
    for k, each in enumerate(asked, 1):
        _require_known(each, _KEYS, f"{path}: question {k}")
    usual = {"inconclusive": "fail", **defaults}
    entries = [{"name": f"question {k}", **usual, **each} for k, each in enumerate(asked, 1)]
    names = [entry["name"] for entry in entries]
    for entry in entries:
        if names.count(entry["name"]) > 1:
            raise ArgumentError(f"{path}: two questions are called {entry['name']!r}")
        if "deployed" in entry:
            _require_known(entry["deployed"], _DEPLOYED, f"{path}: {entry['name']}: deployed")
    beside = {name: data[key] for key, name in _FILES.items() if key in data}
    return Source(data["file"], {**data, **beside}), entries


def _require_known(table: object, known: Collection[str], place: str) -> None:
    if not isinstance(table, Mapping):
        raise ArgumentError(f"{place} must be a table")
    for key, value in table.items():
        if key not in known:
            raise ArgumentError(f"{place} has no key {key!r}{did_you_mean(key, known)}")
        if key in _TEXTS and not isinstance(value, str):
            raise ArgumentError(f"{place}: {key} must be text, got {value!r}")


def _answer(name: str, job: Job, question: Question) -> Any:
    """Run the trials; a failed fit ends this question, and no other."""
    try:
        return job.run(question).judge(question)
    except TrialError as error:
        say(f"{name}: {(why := told(error))}")
        return why


def _tell_counts(jobs: Mapping[str, Job]) -> Exit:
    """Say what each question will cost."""
    from poise.results.sentences import subject

    costs = {}
    for name, job in jobs.items():
        design = job.planned().design
        trials, fits = design.n_trials, design.fits(design.n_trials)
        costs[name] = f"{subject(design)}: {counted(trials, 'trial')}, {counted(fits, 'fit')}"
    lines = "\n".join(f"{name}: {cost}" for name, cost in costs.items())
    print_answer(costs, lines, lines)
    return Exit.STABLE


class Answers(SideBySide):
    """The answers of a gate: one line for each question."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {_said(each)[0]}" for name, each in self.items())


def _said(answer: Any) -> list[str]:
    """Return the first lines of an answer: the verdict, and what was seen."""
    if isinstance(answer, str):
        return [answer]
    return str(answer).splitlines()[len(answer.warnings) :][:2]


def _append(summary: Path, title: str, answers: Answers) -> None:
    """Append the answers as a Markdown table, for the summary of a CI run."""
    from poise.results.tables import TextTable

    rows = [(_cell(name), _cell(" ".join(_said(each)))) for name, each in answers.items()]
    table = TextTable(["question", "answer"], rows).markdown()
    with summary.open("a", encoding="utf-8") as file:
        file.write(f"### poise: {title}\n\n{table}\n\n")


def _cell(text: str) -> str:
    return printable(" ".join(text.split())).replace("<", "&lt;")


def _checked(
    path: Path, source: Source, rows: dict[str, Any], entry: dict[str, Any], more: dict[str, Any]
) -> tuple[Job, Question]:
    """Refuse a question that cannot be asked, or that these rows cannot answer "stable"."""
    source = copy(source)  # which another question divides otherwise
    try:
        choice("inconclusive", entry["inconclusive"], ("fail", "skip", "pass"))
        asked = loaded({key: entry[key] for key in _ASKED if key in entry}) | more
        algorithm = algorithm_of(entry)
        job, question = _prepared(algorithm, source, {**rows, **asked}, entry.get("deployed"))
        job.require_answerable(question)
    except PoiseError as error:
        source.explain(error)
        raise DataError(f"{path}: {entry['name']}: {error.words(_as_key)}") from error
    return job, question


def _prepared(
    algorithm: Any, source: Source, asked: dict[str, Any], deployed: Mapping[str, Any] | None
) -> tuple[Job, Question]:
    """Check a question about new training sets, or about the one that is given."""
    from poise.questions.deployed import GivenJob
    from poise.questions.job import Job

    given = dict(deployed or {})
    if "hold_out" in given:
        asked = source.held_out(asked, given.pop("hold_out"), asked.get("random_state"))
    X, y, fresh = asked.pop("X"), asked.pop("y"), asked.pop("X_fresh", None)
    if deployed is None:
        return Job.of("gate", algorithm, X, y, asked).asked()
    if fresh is None:
        problem = 'needs fresh rows: fresh = "FILE" in [data], or hold_out = 0.2'
        raise ArgumentError(problem, argument="deployed")
    if "without" in given:
        given["without"] = source.named(given["without"])
    asked.pop("X_unlabeled", None)
    return GivenJob.given("deployed_test", algorithm, (X, y, fresh, None), asked | given).asked()


def _as_key(name: str, *value: object) -> str:
    return " = ".join([name, *map(repr, value)])
