"""The options of every command that fits: algorithm, rows and settings."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.options import (
    FILE,
    ROWS,
    Command,
    Decorator,
    WholeNumber,
    WholeNumberOr,
    gathered,
    remove_option,
    replace_option,
)

if TYPE_CHECKING:
    from poise.cli.read_rows import FileRows
    from poise.data.files.row_source import RowSource
    from poise.questions.measurement import Measurement
    from poise.storage.journal import Journal, JournalFolder
    from poise.storage.ledger import Ledger

__all__ = [
    "DATA_OPTIONS",
    "SETTINGS",
    "FitOptions",
    "command_given",
    "fit_options",
    "journal_folder",
]


@dataclass(frozen=True)
class FitOptions:
    """The options of a command that say what to fit, on which rows, and how.

    Parameters
    ----------
    given : dict
        The options by name. A command leaves out those that it does not need.
    """

    given: dict[str, Any]

    def measurement(self, progress: bool | None) -> Measurement:
        """Read the files, and build the measurement."""
        from poise.questions.measurement import Measurement

        # A wrong file or column is refused before scikit-learn is imported.
        read = self.rows_for_trials()
        algorithm = self.algorithm()
        given = {"algorithm": algorithm, "progress": progress, **read.given_to(algorithm)}
        return Measurement.of({**given, **self.settings()})

    def algorithm(self) -> Any:
        """Return the algorithm with its parameters, or the program."""
        from poise.cli.load_algorithm import load_algorithm, parse_parameters

        place, program = self.given["algorithm"], self.given.get("program")
        if (place is None) == (program is None):
            raise click.UsageError("give either --algorithm or --program.", _context())
        if program is None:
            return load_algorithm(place, parse_parameters(self.given["param"]))
        if self.given["param"]:
            raise click.UsageError("--param is for --algorithm; a program has its own.", _context())
        from poise.algorithms.program import Program

        return Program(program, mode=self.mode)

    @property
    def mode(self) -> str:
        """The mode of the program: one-shot or serving."""
        return "serving" if self.given["serving"] else "one-shot"

    def settings(self) -> dict[str, Any]:
        """Return the keywords of :func:`poise.measure` that were given here."""
        from poise.cli.load_algorithm import load_distance

        settings = {name: self.given[name] for name in SETTINGS if name in self.given}
        if "distance" in settings:
            settings["distance"] = load_distance(settings["distance"])
        return settings

    def journal(self) -> Journal | None:
        """Return the journal; it stores the command for `poise resume`."""
        if self.given["journal"] is None:
            return None
        from poise.storage.journal import Journal

        return Journal(self.given["journal"], command_given())

    def ledger(self) -> Ledger | None:
        """Return the ledger, if there is one."""
        from poise.storage.ledger import Ledger

        return Ledger.of(self.given["ledger"])

    def check(self, asked: dict[str, Any] | None = None) -> None:
        """Refuse options that make no sense, before files are read and libraries imported."""
        from poise.procedures.checked_question import StabilityQuestion
        from poise.questions.settings import from_settings
        from poise.questions.setup import Setup
        from poise.results.relative_epsilon import number_given
        from poise.running.execution import Execution

        given = {name: value for name, value in self.given.items() if name in SETTINGS}
        from_settings(Execution, given)
        if "n" in given:
            from_settings(Setup, given)
        if asked is not None:
            # The spread is not known yet, but its share must be a number >= 0 too.
            epsilon = number_given(asked["epsilon"])
            StabilityQuestion(given["n"], **(asked | {"epsilon": epsilon}))

    def rows(self) -> FileRows:
        """Read the files."""
        from poise.cli.read_rows import read_rows

        return read_rows(self.source())

    def rows_for_trials(self) -> FileRows:
        """Read the files, or leave several to the workers of a cluster."""
        from poise.cli.read_rows import rows_for_trials

        return rows_for_trials(self.source(), self.given.get("backend"))

    def source(self) -> RowSource:
        """Check the options, and return which files and columns hold the rows."""
        self.check()
        from poise.data.files.row_source import RowSource, columns_for_fit
        from poise.data.files.text_format import TextFormat

        files = {name: self.given[name] for name in _FILES if name in self.given}
        form = TextFormat(**{name: self.given[name] for name in _TEXT})
        weights, pairs = self.given.get("weights"), self.given.get("fit_param", ())
        fit_params = columns_for_fit(weights, _pairs(pairs))
        return RowSource(files.pop("data"), **files, form=form, fit_params=fit_params)


def command_given() -> dict[str, Any]:
    """Return the arguments and the folder of this call, so that it can be repeated."""
    given = click.get_current_context().find_root().obj
    return {"arguments": given, "folder": str(Path.cwd())}


def journal_folder(path: Path | None) -> JournalFolder:
    """Return a folder of journals, for a command that measures more than once."""
    from poise.storage.journal import JournalFolder

    return JournalFolder(path, command_given())


def _pairs(texts: Iterable[str]) -> dict[str, str]:
    """Split NAME=COL."""
    pairs = {}
    for text in texts:
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise click.UsageError(
                f"--fit-param must look like sample_weight=COL, got {text!r}.", _context()
            )
        pairs[name] = column
    return pairs


def _context() -> click.Context | None:
    return click.get_current_context(silent=True)


_FILES: dict[str, Decorator] = {
    "data": click.argument("data", type=ROWS),
    "target": click.option(
        "--target", metavar="COL", help="Column with the responses (npz: an array, by default y)."
    ),
    "drop": click.option(
        "--drop", metavar="COL", multiple=True, help="Leave out a column. Repeatable."
    ),
    "unlabeled": click.option(
        "--unlabeled", metavar="FILE", type=ROWS, help="More rows, without responses."
    ),
    "groups": click.option(
        "--groups",
        metavar="COL",
        help="Rows with equal values here are kept and removed together; n counts groups.",
    ),
}

_TEXT: dict[str, Decorator] = {
    "sep": click.option(
        "--sep",
        metavar="CHAR",
        help="Text files: what separates values, also tab or space. Default: guessed from line 1.",
    ),
    "decimal": click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Text files: the decimal mark. Default: a point.",
    ),
    "encoding": click.option(
        "--encoding",
        metavar="NAME",
        help="Text files: the encoding, such as latin-1. Default: UTF-8, or UTF-16 with its mark.",
    ),
    "header": click.option(
        "--header/--no-header",
        default=True,
        show_default=True,
        help="Text files: line 1 holds names. If not, columns are called 1, 2, 3, ...",
    ),
}

_FIT_PARAMS: dict[str, Decorator] = {
    "weights": click.option(
        "--weights", metavar="COL", help="Column with the weights of the rows in every fit."
    ),
    "fit_param": click.option(
        "--fit-param",
        metavar="NAME=COL",
        multiple=True,
        help="Pass a column to fit under this name: ridge__sample_weight=w. Repeatable.",
    ),
}

_ALGORITHM: dict[str, Decorator] = {
    "algorithm": click.option(
        "--algorithm",
        metavar="PLACE:NAME",
        help="sklearn.linear_model:Ridge, 'sklearn.linear_model:Ridge(alpha=2.0)', or "
        "path/to/file.py:name: an estimator, its class, or a function fit(X, y, seed) that "
        "returns a prediction function.",
    ),
    "param": click.option(
        "--param",
        metavar="NAME=VALUE",
        multiple=True,
        help="Parameter of the algorithm, such as alpha=1.0. Repeatable.",
    ),
    "program": click.option(
        "--program",
        metavar="COMMAND",
        help="Instead of --algorithm: a program with {train} {test} {predictions} {seed}.",
    ),
    "serving": click.option(
        "--serving", is_flag=True, help="The program answers JSON lines; see the page on programs."
    ),
}

# By the names of keywords of poise.measure.
SETTINGS: dict[str, Decorator] = {
    "name": click.option("--name", metavar="TEXT", help="Name of the algorithm in headlines."),
    "n": click.option(
        "--n",
        type=WholeNumber(),
        metavar="N",
        required=True,
        help="Training size of the question, at least 2.",
    ),
    "response": click.option(
        "--response",
        type=click.Choice(["predict", "predict_proba", "decision_function"]),
        default="predict",
        show_default=True,
        help="Which method of a fitted estimator is called.",
    ),
    "remove": remove_option,
    "replace": replace_option,
    "removals": click.option(
        "--removals",
        type=WholeNumberOr("all"),
        default=1,
        show_default=True,
        help="Averaged test: how many rows of a trial are removed, one after the other; or all.",
    ),
    "points": click.option(
        "--points",
        type=WholeNumberOr("spare"),
        help="Averaged test: number of points of a trial; spare: as many as cost no trial.",
    ),
    "coupling": click.option(
        "--coupling",
        type=click.Choice(("shared", "independent")),
        default="shared",
        show_default=True,
        help="Randomness of the two fits of a trial.",
    ),
    "distance": click.option(
        "--distance",
        default="auto",
        show_default=True,
        help="Between two predictions: auto, absolute, euclidean, label, total_variation, or "
        "PLACE:NAME; between two losses: loss:squared, loss:absolute, loss:zero_one, loss:log.",
    ),
    "shuffle": click.option(
        "--shuffle/--no-shuffle",
        default=True,
        show_default=True,
        help="Put the rows in random order before they are split into trials.",
    ),
    "fast": click.option(
        "--fast/--no-fast",
        default=True,
        show_default=True,
        help="Use exact shortcuts for the algorithms that have one.",
    ),
    "on_error": click.option(
        "--on-error",
        type=click.Choice(["raise", "unstable"]),
        default="raise",
        show_default=True,
        help="A failed fit ends the run (raise), or its trial counts against stable (unstable).",
    ),
    "random_state": click.option(
        "--seed",
        "random_state",
        type=click.IntRange(min=0),
        help="The same seed gives the same changes.",
    ),
    "n_jobs": click.option(
        "--jobs",
        "-j",
        "n_jobs",
        type=int,
        help="Number of trials at the same time; -1: one per core.",
    ),
    "backend": click.option(
        "--backend", metavar="NAME", help="Where trials run: loky, threading, dask or ray."
    ),
    "address": click.option(
        "--address", metavar="HOST:PORT", help="Scheduler of a Dask or Ray cluster."
    ),
    "timeout": click.option(
        "--timeout", metavar="SECONDS", type=float, help="Time for one fit; needs --jobs 2 or more."
    ),
    "on_timeout": click.option(
        "--on-timeout",
        type=click.Choice(["raise", "unstable"]),
        default="raise",
        show_default=True,
        help="A fit that takes too long ends the run, or its trial counts against stable.",
    ),
}

_JOURNAL: dict[str, Decorator] = {
    "journal": click.option(
        "--journal",
        metavar="FILE",
        type=FILE,
        help="Write each trial when it is done; an interrupted run continues from there.",
    ),
}

_LEDGER: dict[str, Decorator] = {
    "ledger": click.option(
        "--ledger",
        metavar="FILE",
        type=FILE,
        help="Write down every question put to these rows; say which verdicts hold together.",
    ),
}

# The options that say which rows to read, for every command that reads a file.
DATA_OPTIONS = ("data", "target", "drop", "unlabeled", *_FIT_PARAMS, *_TEXT)

# In the order of `--help`.
_ALL = _FILES | _FIT_PARAMS | _TEXT | _ALGORITHM | SETTINGS | _JOURNAL | _LEDGER


def fit_options(
    only: Iterable[str] | None = None,
    without: Container[str] = (),
    instead: Mapping[str, Decorator] | None = None,
) -> Callable[[Command], Command]:
    """Return the options that say what to fit; a command gets them as ``fit``.

    Parameters
    ----------
    only : names, optional
        The options that the command needs; by default all of them.
    without : names
        Options that the command has in another form.
    instead : dict, optional
        The same options in the form that this command has.
    """
    names = [name for name in (_ALL if only is None else only) if name not in without]
    options = {name: (instead or {}).get(name, _ALL[name]) for name in names}
    return gathered("fit", options, lambda **given: FitOptions(given))
