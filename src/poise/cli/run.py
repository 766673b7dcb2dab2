"""``poise run``: all questions of a TOML file, with one exit status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.failed_fit import failed_fit
from poise.cli.fit_options import FitOptions, fit_options, journal_folder
from poise.cli.json_output import print_json
from poise.cli.options import Output, journals_option, output_options
from poise.cli.stderr import fits_print_to_stderr, one_line, one_line_warnings, say
from poise.errors import ArgumentError, TrialError, printable

if TYPE_CHECKING:
    from poise.cli.read_rows import FileRows
    from poise.procedures.checked_question import StabilityQuestion
    from poise.questions.ledger_questions import PutQuestions
    from poise.questions.measurement import Measurement
    from poise.questions.toml_file import Config, QuestionEntry
    from poise.results import StabilityResult
    from poise.results.conditional_result import ConditionalResult
    from poise.storage.journal import Journal, JournalFolder
    from poise.storage.ledger import Ledger

    AnyResult: TypeAlias = StabilityResult | ConditionalResult
    Test: TypeAlias = Callable[[Journal | None], AnyResult]

__all__ = ["command"]

EXAMPLE = """\b
Example (stability.toml):
  [data]
  file = "patients.csv"
  target = "progression"
\b
  [algorithms.ridge]
  use = "sklearn.linear_model:Ridge"
  params = { alpha = 2.0 }
\b
  [[questions]]
  n = 40
  epsilon = 5
  delta = 0.1
\b
  [[deployed]]  # the model of all rows, as in poise deployed
  hold_out = 0.2
  epsilon = 5
  delta = 0.1
"""


@click.command("run", epilog=EXAMPLE)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@fit_options(only=("n_jobs", "ledger"))
@journals_option
@output_options()
def command(file: Path, fit: FitOptions, journal: Path | None, output: Output) -> int:
    """Answer every question of FILE for every algorithm that it names.

    Everything is checked before the first fit. Each verdict has its own error
    level; poise compare has one for all. If a fit fails, only its own question
    ends. With --ledger, or [ledger] in FILE, the verdicts on the same rows have one
    level together.

    Exit status: the worst of all questions: 0 stable, 1 unstable or inconclusive (or, with
    a ledger, a verdict that does not hold together with the others), 3 a fit failed; 2 if
    the file or the data cannot be used.
    """
    from poise.questions.toml_file import read_config

    config, journals = read_config(file), journal_folder(journal)
    given = {name: value for name, value in fit.settings().items() if value is not None}
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        loader = _Loader(config, {"progress": output.progress, **given})
        asked = [loader.checked(question) for question in config.questions]
        journals.expect(len(asked), "question")
        # All of them are put before the first fit: none is answered if one is refused.
        ledger = fit.ledger() or config.ledger
        put = asked if ledger is None else _put(asked, journals, ledger)
        found = [_answer(each, journals) for each in put]
        answers = [_noted(*each) for each in zip(put, found, strict=True)]
    _tell(config, answers, output)
    return max(answer.status for answer in answers)


@dataclass(frozen=True)
class _Answer:
    """A question with its result, or with the reason why there is none."""

    question: QuestionEntry
    result: AnyResult | None
    error: str = ""

    @property
    def status(self) -> int:
        if self.result is None:
            return ExitStatus.FIT_FAILED
        from poise.results.ledger_note import passes

        return ExitStatus.of_result(passes(self.result))

    @property
    def verdict(self) -> str:
        return "failed" if self.result is None else self.result.verdict.value

    def with_note(self, put: PutQuestions) -> _Answer:
        from poise.results import StabilityResult

        assert isinstance(self.result, StabilityResult)  # others are not put to a ledger
        return replace(self, result=put.noted(self.result))

    def to_dict(self) -> dict[str, Any]:
        about = {
            "question": self.question.name,
            "data": self.question.data,
            "algorithm": self.question.algorithm,
            "verdict": self.verdict,
        }
        if self.result is None:
            return about | {"error": self.error}
        return about | {"result": self.result.to_dict()}


class _Loader:
    """Loads the data and algorithms of a file, each once."""

    def __init__(self, config: Config, given: dict[str, Any]) -> None:
        self.config, self.given = config, given
        self.algorithm = cache(self._algorithm)
        self.rows = cache(self._rows)

    def _algorithm(self, name: str) -> Any:
        entry = self.config.algorithms[name]
        if entry.use is None:
            from poise.algorithms.program import Program

            return Program(entry.program, cwd=entry.folder, name=name, **entry.options)
        from poise.cli.load_algorithm import load_algorithm

        return load_algorithm(_beside(entry.use, entry.folder), entry.params)

    def _rows(self, name: str, backend: str | None) -> FileRows:
        from poise.cli.read_rows import rows_for_trials

        return rows_for_trials(self.config.data[name], backend)

    def settings(self, question: QuestionEntry) -> dict[str, Any]:
        """Return the keywords of a test, without the rows."""
        from poise.cli.load_algorithm import load_distance

        algorithm = self.algorithm(question.algorithm)
        settings = {"name": question.algorithm, **question.settings}
        if isinstance(settings.get("distance"), str):
            folder = self.config.algorithms[question.algorithm].folder
            settings["distance"] = load_distance(_beside(settings["distance"], folder))
        return {"algorithm": algorithm, **settings, **self.given}

    def checked(self, question: QuestionEntry) -> _Asked:
        """Refuse a question that cannot be asked, before the first fit of all questions."""
        prepare = self._about_these_rows if question.deployed else self._about_a_size
        try:
            return _Asked(question, prepare(question))
        except ArgumentError as error:
            place = f"{self.config.path}, {question.name}, {question.algorithm}"
            raise ArgumentError(f"{place}: {error}") from error

    def _about_a_size(self, question: QuestionEntry) -> Test:
        """Prepare a stability test."""
        from poise.procedures.checked_question import StabilityQuestion
        from poise.questions.measurement import Measurement
        from poise.questions.set_aside import resolved
        from poise.questions.settings import from_settings

        settings = self.settings(question)
        read = self.rows(question.data, settings.get("backend"))
        settings = read.given_to(settings["algorithm"]) | settings
        measurement, epsilon = resolved(Measurement.of(settings), settings["epsilon"])
        asked = from_settings(StabilityQuestion, settings | {"epsilon": epsilon})
        measurement.check(asked)
        return _TestOfASize(measurement, asked)

    def _about_these_rows(self, question: QuestionEntry) -> Test:
        """Prepare a test of the model of all rows."""
        from poise.cli.read_fresh_rows import FreshRows
        from poise.questions.conditional.conditional_setup import ConditionalSetup
        from poise.questions.conditional.conditional_test import checked_for
        from poise.questions.settings import from_settings

        settings = self.settings(question)
        setup = from_settings(ConditionalSetup, settings)
        fresh = FreshRows(question.fresh, question.hold_out, setup.needs_responses)
        source = self.config.data[question.data]
        rows, _ = fresh.read(source, settings["algorithm"], settings.get("random_state"))
        measurement, asked = checked_for(rows | settings)
        return lambda journal: measurement.run(journal, asked).test(**asked.for_trials)


@dataclass(frozen=True)
class _TestOfASize:
    """A stability test; its question may have been put to a ledger."""

    measurement: Measurement
    question: StabilityQuestion
    put: PutQuestions | None = None

    def __call__(self, journal: Journal | None) -> StabilityResult:
        if self.put is None:
            return self.measurement.test(self.question, journal)
        trials = self.measurement.run(journal, question=self.question)
        return self.put.judged(self.measurement, trials, self.question)

    def chosen(self, journal: Journal | None) -> _TestOfASize:
        """Choose the test."""
        return replace(self, measurement=self.measurement.for_question(self.question, journal))


@dataclass(frozen=True)
class _Asked:
    """A question of the file, and how to answer it."""

    entry: QuestionEntry
    test: Test

    @property
    def label(self) -> str:
        return f"{self.entry.name}, {self.entry.algorithm}"

    def journal(self, journals: JournalFolder) -> Journal | None:
        entry = self.entry
        fresh = [str(entry.fresh or entry.hold_out)] if entry.deployed else []
        return journals.journal(self.label, entry.data, sorted(entry.settings.items()), *fresh)


def _beside(place: str, folder: Path) -> str:
    """Make the path of a Python file relative to the folder of the TOML file."""
    source, colon, name = place.rpartition(":")
    return f"{folder / source}{colon}{name}" if source.endswith(".py") else place


def _answer(asked: _Asked, journals: JournalFolder) -> _Answer:
    try:
        return _Answer(asked.entry, asked.test(asked.journal(journals)))
    except TrialError as error:
        told = one_line(failed_fit(error, "run"))
        say(f"{asked.label}: {told}")
        return _Answer(asked.entry, None, told)


def _put(asked: list[_Asked], journals: JournalFolder, ledger: Ledger) -> list[_Asked]:
    """Put all questions to the ledger, or none."""
    from poise.questions.ledger_questions import put_one_each

    logs = [each.journal(journals) for each in asked]
    tests = [_of_a_size(each).chosen(log) for each, log in zip(asked, logs, strict=True)]
    ready = [
        (each.label, test.measurement, test.question, log)
        for each, test, log in zip(asked, tests, logs, strict=True)
    ]
    several = zip(asked, tests, put_one_each(ledger, ready), strict=True)
    return [replace(each, test=replace(test, put=put)) for each, test, put in several]


def _of_a_size(asked: _Asked) -> _TestOfASize:
    if isinstance(asked.test, _TestOfASize):
        return asked.test
    raise ArgumentError(
        f"{asked.label}: a ledger is for questions about a training size; ask about the model "
        "of all rows in a file without one"
    )


def _noted(asked: _Asked, answer: _Answer) -> _Answer:
    """Add what the ledger says after the last answer."""
    put = asked.test.put if isinstance(asked.test, _TestOfASize) else None
    return answer if put is None or answer.result is None else answer.with_note(put)


def _tell(config: Config, answers: list[_Answer], output: Output) -> None:
    if output.as_json:
        content = {"file": str(config.path), "answers": [answer.to_dict() for answer in answers]}
        print_json(content)
    elif output.quiet:
        for answer in answers:
            asked = answer.question
            click.echo(printable(f"{answer.verdict}\t{asked.algorithm}\t{asked.name}"))
    else:
        from poise.cli.terminal_tables import print_words
        from poise.results.text.verdict_cells import LIMITS

        heading, larger = _larger(answers)
        columns = ["question", "algorithm", "verdict", "n", heading, *LIMITS]
        columns += ["together"] if any(_note(answer) for answer in answers) else []
        rows = [
            [*_row(answer, cell), _note(answer)][: len(columns)]
            for answer, cell in zip(answers, larger, strict=True)
        ]
        print_words(columns, rows)


def _larger(answers: list[_Answer]) -> tuple[str, list[str]]:
    """Return the column of larger changes; nothing stands there for a question that failed."""
    from poise.results.text.verdict_cells import SeenChanges, larger_column

    known = [answer.result for answer in answers if answer.result is not None]
    heading, cells = larger_column([SeenChanges.of(result) for result in known])
    left = iter(cells)
    return heading, ["" if answer.result is None else next(left) for answer in answers]


def _note(answer: _Answer) -> str:
    """Say whether the verdict holds together with the others; "" without a ledger."""
    note = getattr(answer.result, "ledger", None)
    return "" if note is None else str(note.fact())


def _row(answer: _Answer, larger: str) -> list[str]:
    from poise.results.text.verdict_cells import limits

    about = [answer.question.name, answer.question.algorithm, answer.verdict]
    r = answer.result
    if r is None:
        return [*about, "", "", "", ""]
    return [*about, f"{r.n:,}", larger, *limits(r)]
