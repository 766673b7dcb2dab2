"""What to fit, on which rows, and how: the options of every command that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.options import FILE, Command, Decorator, WholeNumber, packed

if TYPE_CHECKING:
    from poise.cli.read_rows import FileRows

__all__ = [
    "DATA_OPTIONS",
    "Measurement",
    "command_given",
    "measurement_options",
    "some_measurement_options",
]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What to fit, on which rows, and how: the options of every command that fits.

    A command that has no use for one of them leaves it at its default.
    """

    data: Path
    target: str | None
    drop: tuple[str, ...]
    unlabeled: Path | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    algorithm: str | None = None
    param: tuple[str, ...] = ()
    program: str | None = None
    serving: bool = False
    n: int
    response: str = "predict"
    groups: str | None = None
    remove: int = 1
    replace: bool = False
    coupling: str = "shared"
    distance: str = "auto"
    shuffle: bool = True
    fast: bool = True
    on_error: str = "raise"
    on_timeout: str = "raise"
    timeout: float | None = None
    seed: int | None
    jobs: int | None = None
    backend: str | None = None
    address: str | None = None
    journal: Path | None = None

    def arguments(self, progress: bool | None) -> dict[str, Any]:
        """Return the arguments of :func:`poise.measure`, with the files read."""
        rows = self.rows()  # a wrong file or column is answered before scikit-learn is imported
        algorithm = self.loaded()
        return {
            "algorithm": algorithm,
            **rows.given_to(algorithm),
            **self.settings(progress),
            "journal": self._journal(),
        }

    def loaded(self) -> Any:
        """Return the algorithm with its parameters, or the program."""
        from poise.cli.load_algorithm import load_algorithm, parse_parameters

        if (self.algorithm is None) == (self.program is None):
            raise click.UsageError("give either --algorithm or --program.", _context())
        if self.program is None:
            return load_algorithm(str(self.algorithm), parse_parameters(self.param))
        if self.param:
            raise click.UsageError("--param is for --algorithm; a program has its own.", _context())
        from poise.algorithms.program import Program

        return Program(self.program, mode=self.mode)

    @property
    def mode(self) -> str:
        """The contract of the program."""
        return "serving" if self.serving else "one-shot"

    def settings(self, progress: bool | None) -> dict[str, Any]:
        """Return what does not depend on the algorithm or the files."""
        from poise.cli.load_algorithm import load_distance

        return {
            "n": self.n,
            "response": self.response,
            "remove": self.remove,
            "replace": self.replace,
            "coupling": self.coupling,
            "distance": load_distance(self.distance),
            "shuffle": self.shuffle,
            "fast": self.fast,
            "on_error": self.on_error,
            "on_timeout": self.on_timeout,
            "timeout": self.timeout,
            "random_state": self.seed,
            "n_jobs": self.jobs,
            "backend": self.backend,
            "address": self.address,
            "progress": progress,
        }

    def _journal(self) -> Any:
        """Return the journal, which keeps how it was begun for `poise resume`."""
        if self.journal is None:
            return None
        from poise.storage.journal import Journal

        return Journal(self.journal, command_given())

    def journals(self) -> Any:
        """Return a folder of journals, for a command that measures more than once."""
        from poise.storage.journal import JournalFolder

        return JournalFolder(self.journal, command_given())

    def rows(self) -> FileRows:
        """Read the files."""
        from poise.cli.read_rows import read_rows
        from poise.data.files.row_source import RowSource
        from poise.data.files.text_format import TextFormat

        form = TextFormat(self.sep, self.decimal, self.encoding, self.header)
        files = (self.data, self.target, self.drop, self.unlabeled, self.groups)
        return read_rows(RowSource(*files, form=form))


def command_given() -> dict[str, Any]:
    """Return how poise was called, and where, so that it can be called again."""
    given = click.get_current_context().find_root().obj
    return {"arguments": given, "folder": str(Path.cwd())}


def _context() -> click.Context | None:
    return click.get_current_context(silent=True)


_MEASUREMENT: dict[str, Decorator] = {
    "data": click.argument("data", type=FILE),
    "target": click.option(
        "--target", metavar="COL", help="Column with the responses (npz: an array, by default y)."
    ),
    "drop": click.option(
        "--drop", metavar="COL", multiple=True, help="Leave out a column. Repeatable."
    ),
    "unlabeled": click.option(
        "--unlabeled", metavar="FILE", type=FILE, help="More rows, without responses."
    ),
    "sep": click.option(
        "--sep",
        metavar="CHAR",
        help="Text files: what separates values, also tab or space. Default: as in line 1.",
    ),
    "decimal": click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Text files: the decimal mark. Default: a point.",
    ),
    "encoding": click.option(
        "--encoding",
        metavar="NAME",
        help="Text files: such as latin-1. Default: UTF-8, or UTF-16 with its mark.",
    ),
    "header": click.option(
        "--header/--no-header",
        default=True,
        show_default=True,
        help="Text files: line 1 holds names. Without, columns are called 1, 2, 3, ...",
    ),
    "algorithm": click.option(
        "--algorithm",
        metavar="PLACE:NAME",
        help="sklearn.linear_model:Ridge, or path/to/file.py:name: an estimator, its class, "
        "or a function fit(X, y, seed) that returns a prediction function.",
    ),
    "param": click.option(
        "--param",
        metavar="NAME=VALUE",
        multiple=True,
        help="Parameter of the algorithm, as alpha=1.0. Repeatable.",
    ),
    "program": click.option(
        "--program",
        metavar="COMMAND",
        help="Instead of --algorithm: a program with {train} {test} {predictions} {seed}.",
    ),
    "serving": click.option(
        "--serving", is_flag=True, help="The program answers JSON lines; see the page on programs."
    ),
    "n": click.option(
        "--n",
        type=WholeNumber(),
        metavar="N",
        required=True,
        help="Training size asked about, at least 2.",
    ),
    "response": click.option(
        "--response",
        type=click.Choice(["predict", "predict_proba", "decision_function"]),
        default="predict",
        show_default=True,
        help="Which method of a fitted estimator is asked.",
    ),
    "groups": click.option(
        "--groups",
        metavar="COL",
        help="Rows with equal values here are kept and removed together; n counts groups.",
    ),
    "remove": click.option(
        "--remove",
        type=WholeNumber(),
        default=1,
        show_default=True,
        help="How many of the N rows (or groups) are removed.",
    ),
    "replace": click.option(
        "--replace", is_flag=True, help="Put fresh rows in the place of those removed."
    ),
    "coupling": click.option(
        "--coupling",
        default="shared",
        show_default=True,
        help="Randomness of the two fits of a trial: shared or independent.",
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
        help="A failed fit ends the run, or its trial counts against stable.",
    ),
    "seed": click.option(
        "--seed", type=click.IntRange(min=0), help="The same seed gives the same changes."
    ),
    "jobs": click.option("--jobs", "-j", type=int, help="Trials at once; -1 for one per core."),
    "backend": click.option(
        "--backend", metavar="NAME", help="Where they run: loky, threading, dask or ray."
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
        help="A fit beyond its time ends the run, or its trial counts against stable.",
    ),
    "journal": click.option(
        "--journal",
        metavar="FILE",
        type=FILE,
        help="Write every trial down at once; a run cut short goes on from there.",
    ),
}

# The options that say which rows, for every command that reads a file.
DATA_OPTIONS = ("data", "target", "drop", "unlabeled", "sep", "decimal", "encoding", "header")

measurement_options = packed(Measurement, "measurement", *_MEASUREMENT.values())


def some_measurement_options(*names: str) -> Callable[[Command], Command]:
    """Return those of the options that say what to fit, for a command that needs no others."""
    return packed(Measurement, "measurement", *(_MEASUREMENT[name] for name in names))
