"""``poise run``: every question of a TOML file, and one exit status for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise import arguments
from poise.cli.exit_status import ExitStatus
from poise.cli.fit_options import command_given
from poise.cli.options import Output, journals_option, output_options
from poise.cli.stderr import fits_print_to_stderr, one_line, one_line_warnings, say
from poise.errors import ArgumentError, TrialError

if TYPE_CHECKING:
    from poise.cli.read_rows import FileRows
    from poise.questions.toml_file import Config, Question
    from poise.results import StabilityResult
    from poise.storage.journal import JournalFolder

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
"""


@click.command("run", epilog=EXAMPLE)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--jobs", "-j", type=int, help="Trials at once; -1 for one per core.")
@journals_option
@output_options()
def command(file: Path, jobs: int | None, journal: Path | None, output: Output) -> int:
    """Answer every question of FILE, each of every algorithm it is asked of.

    Everything is checked before the first fit. Each verdict has its own error
    level; poise compare has one for all. A fit that fails ends its own question
    only.

    Exit status: the worst of all: 0 stable, 1 unstable or inconclusive, 3 a fit
    failed; 2 if the file or the data cannot be used.
    """
    from poise.questions.toml_file import read_config
    from poise.storage.journal import JournalFolder

    config = read_config(file)
    settings = {"progress": output.progress} | ({} if jobs is None else {"n_jobs": jobs})
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        desk = _Loader(config, settings)
        desk.check()
        journals = JournalFolder.of(JournalFolder(journal, command_given()))
        answers = [_answer(question, desk, journals) for question in config.questions]
    _tell(config, answers, output)
    return max(answer.status for answer in answers)


@dataclass(frozen=True)
class _Answer:
    """A question with its result, or with the reason why there is none."""

    question: Question
    result: StabilityResult | None
    error: str = ""

    @property
    def status(self) -> int:
        if self.result is None:
            return ExitStatus.FIT_FAILED
        return ExitStatus.of_result(self.result.stable)

    @property
    def verdict(self) -> str:
        return "failed" if self.result is None else self.result.verdict.value

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
    """Loads what a file names, each thing once."""

    def __init__(self, config: Config, settings: dict[str, Any]) -> None:
        self.config, self.settings = config, settings
        self.algorithm = cache(self._algorithm)
        self.rows = cache(self._rows)

    def _algorithm(self, name: str) -> Any:
        entry = self.config.algorithms[name]
        if entry.use is None:
            from poise.algorithms.program import Program

            return Program(entry.program, cwd=entry.folder, name=name, **entry.options)
        from poise.cli.load_algorithm import load_algorithm

        return load_algorithm(_beside(entry.use, entry.folder), entry.params)

    def _rows(self, name: str) -> FileRows:
        from poise.cli.read_rows import read_rows

        return read_rows(self.config.data[name])

    def arguments(self, question: Question) -> dict[str, Any]:
        """Return the arguments of a stability test."""
        from poise.cli.load_algorithm import load_distance

        rows = self.rows(question.data)
        algorithm = self.algorithm(question.algorithm)
        settings = dict(question.settings)
        if isinstance(settings.get("distance"), str):
            folder = self.config.algorithms[question.algorithm].folder
            settings["distance"] = load_distance(_beside(settings["distance"], folder))
        given = rows.given_to(algorithm)
        return {"algorithm": algorithm, **given, **settings, **self.settings}

    def check(self) -> None:
        """Refuse every question that cannot be asked, before the first fit."""
        for question in self.config.questions:
            try:
                _refuse_nonsense(**self.arguments(question))
            except ArgumentError as error:
                place = f"{self.config.path}, {question.name}, {question.algorithm}"
                raise ArgumentError(f"{place}: {error}") from error


def _refuse_nonsense(algorithm: Any, X: Any, y: Any, n: int, **settings: Any) -> None:
    from poise.procedures import BinomialTest
    from poise.protocol.randomness import Randomness
    from poise.questions.compare import check_fits, design_of

    Randomness.from_state(settings.get("random_state"))
    arguments.flag("check", settings.get("check", True))
    check_fits(algorithm, X, y, settings)
    design_of(X, y, n, settings)
    asked = "epsilon delta alpha randomized stop_early coupling shuffle"
    BinomialTest(n, **{name: settings[name] for name in asked.split() if name in settings})


def _beside(place: str, folder: Path) -> str:
    """Take the path of a Python file from the folder of the TOML file."""
    source, colon, name = place.rpartition(":")
    return f"{folder / source}{colon}{name}" if source.endswith(".py") else place


def _answer(question: Question, desk: _Loader, journals: JournalFolder) -> _Answer:
    from poise.questions.stability_test import stability_test

    label = f"{question.name}, {question.algorithm}"
    journal = journals.journal(label, question.data, sorted(question.settings.items()))
    try:
        return _Answer(question, stability_test(**desk.arguments(question), journal=journal))
    except TrialError as error:
        say(f"{label}: {error}")
        return _Answer(question, None, one_line(str(error)))


def _tell(config: Config, answers: list[_Answer], output: Output) -> None:
    if output.as_json:
        from poise.results.json_encoding import to_json

        content = {"file": str(config.path), "answers": [answer.to_dict() for answer in answers]}
        click.echo(to_json(content))
    elif output.quiet:
        for answer in answers:
            click.echo(f"{answer.verdict}\t{answer.question.algorithm}\t{answer.question.name}")
    else:
        from poise.cli.tables import print_words

        print_words(_COLUMNS, [_row(answer) for answer in answers])


_COLUMNS = ["question", "algorithm", "verdict", "n", "larger changes", "delta_hat", "epsilon_hat"]


def _row(answer: _Answer) -> list[str]:
    from poise.results.text.summary import at_most

    about = [answer.question.name, answer.question.algorithm, answer.verdict]
    r = answer.result
    if r is None:
        return [*about, "", "", "", ""]
    seen = f"{r.statistic:,} of {r.n_observed:,}"
    return [*about, f"{r.n:,}", seen, at_most(r.delta_hat), at_most(r.epsilon_hat)]
