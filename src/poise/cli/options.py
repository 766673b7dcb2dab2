"""Options that several commands share, each group handed over as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = [
    "Measurement",
    "Output",
    "WholeNumber",
    "alpha_option",
    "measurement_options",
    "output_options",
    "question_options",
    "some_measurement_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_FILE = click.Path(path_type=Path)


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A count, which people also write as 1e6 or 1_000_000."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or say that it is none."""
        try:
            number = float(value)
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return int(number)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What to fit, on which rows, and how: the options of every command that fits.

    A command that has no use for one of them leaves it at its default.
    """

    data: Path
    target: str | None
    drop: tuple[str, ...]
    unlabeled: Path | None
    algorithm: str = ""
    param: tuple[str, ...] = ()
    n: int
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
        algorithm = self.loaded()
        return {
            "algorithm": algorithm,
            **self.rows(algorithm),
            **self.settings(progress),
            "journal": self._journal(),
        }

    def loaded(self) -> Any:
        """Return the algorithm with its parameters."""
        from poise.cli.algorithms import load_algorithm, parse_parameters

        return load_algorithm(self.algorithm, parse_parameters(self.param))

    def settings(self, progress: bool | None) -> dict[str, Any]:
        """Return what does not depend on the algorithm or the files."""
        from poise.cli.algorithms import load_object

        return {
            "n": self.n,
            "coupling": self.coupling,
            "distance": load_object(self.distance) if ":" in self.distance else self.distance,
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
        from poise.journal import Journal

        given = click.get_current_context().find_root().obj
        return Journal(self.journal, {"arguments": given, "folder": str(Path.cwd())})

    def rows(self, *algorithms: Any) -> dict[str, Any]:
        """Read the files; as arrays if they hold only numbers and nobody asks for names."""
        from poise.cli.algorithms import ignores_names
        from poise.readers import as_numbers, read_features, read_table

        X, y = read_table(self.data, self.target, self.drop)
        columns = list(X.columns) if hasattr(X, "columns") else None
        more = None if self.unlabeled is None else read_features(self.unlabeled, columns)
        rows = {"X": X, "y": y} if more is None else {"X": X, "y": y, "X_unlabeled": more}
        if not all(ignores_names(algorithm) for algorithm in algorithms):
            return rows
        numbers = {name: as_numbers(table) for name, table in rows.items()}
        # Text in one of them keeps both as they are: X and X_unlabeled must be of one kind.
        alike = type(numbers["X"]) is type(numbers.get("X_unlabeled", numbers["X"]))
        return (numbers if alike else rows) | {"y": numbers["y"]}


@dataclass(frozen=True)
class Output:
    """Where results go; a command offers the files that make sense for it."""

    as_json: bool
    quiet: bool
    save: Path | None = None
    plot: Path | None = None
    report: Path | None = None

    @property
    def needs_changes(self) -> bool:
        """Whether the changes themselves are wanted, not only the verdict."""
        return any(path is not None for path in (self.save, self.plot, self.report))

    @property
    def progress(self) -> bool | None:
        """Whether to draw a bar; None leaves it to the terminal."""
        return False if self.quiet else None


def _packed(kind: type, keyword: str, *options: Decorator) -> Callable[[Command], Command]:
    """Add options to a command and hand them to it as one object of ``kind``."""

    def decorate(function: Command) -> Command:
        @wraps(function)
        def packed(**values: Any) -> Any:
            names = [field.name for field in fields(kind) if field.name in values]
            own = {name: values.pop(name) for name in names}
            return function(**values, **{keyword: kind(**own)})

        return _all_of(*options)(packed)  # type: ignore[return-value]

    return decorate


def _all_of(*options: Decorator) -> Callable[[Command], Command]:
    """Return one decorator for several options, listed by `--help` in this order."""

    def decorate(function: Command) -> Command:
        decorated: Any = function
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


_MEASUREMENT: dict[str, Decorator] = {
    "data": click.argument("data", type=_FILE),
    "target": click.option(
        "--target", metavar="COL", help="Column with the responses (npz: an array, by default y)."
    ),
    "drop": click.option(
        "--drop", metavar="COL", multiple=True, help="Leave out a column. Repeatable."
    ),
    "unlabeled": click.option(
        "--unlabeled", metavar="FILE", type=_FILE, help="More rows, without responses."
    ),
    "algorithm": click.option(
        "--algorithm",
        metavar="PLACE:NAME",
        required=True,
        help="sklearn.linear_model:Ridge, or path/to/file.py:name: an estimator, its class, "
        "or a function fit(X, y, seed) that returns a prediction function.",
    ),
    "param": click.option(
        "--param",
        metavar="NAME=VALUE",
        multiple=True,
        help="Parameter of the algorithm, as alpha=1.0. Repeatable.",
    ),
    "n": click.option(
        "--n",
        type=WholeNumber(),
        metavar="N",
        required=True,
        help="Training size asked about, at least 2.",
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
        help="Between two predictions: auto, absolute, euclidean, label, or PLACE:NAME.",
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
        help="A failed fit ends the run, or counts as an infinite change.",
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
        help="A fit beyond its time ends the run, or counts as an infinite change.",
    ),
    "journal": click.option(
        "--journal",
        metavar="FILE",
        type=_FILE,
        help="Write every trial down at once; a run cut short goes on from there.",
    ),
}

measurement_options = _packed(Measurement, "measurement", *_MEASUREMENT.values())


def some_measurement_options(*names: str) -> Callable[[Command], Command]:
    """Return those of the options that say what to fit, for a command that needs no others."""
    return _packed(Measurement, "measurement", *(_MEASUREMENT[name] for name in names))


_FILES = {
    "save": click.option(
        "--save", metavar="TRIALS", type=_FILE, help="Keep the changes, for poise show."
    ),
    "plot": click.option(
        "--plot", metavar="FILE", type=_FILE, help="Draw changes and profile: png, svg or pdf."
    ),
    "report": click.option(
        "--report", metavar="FILE", type=_FILE, help="Write a self-contained HTML page."
    ),
}


def output_options(*files: str) -> Callable[[Command], Command]:
    """Return the options that say where results go, with those for ``files`` among them."""
    return _packed(
        Output,
        "output",
        *(_FILES[name] for name in files),
        click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else."),
        click.option("--quiet", "-q", is_flag=True, help="Print the bare answer; no progress."),
    )


alpha_option = click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Error level, in (0, 1)."
)


def question_options(required: bool) -> Callable[[Command], Command]:
    """Return the options that say what is asked; where not ``required``, any may be left out."""
    return _all_of(
        click.option(
            "--epsilon",
            type=float,
            required=required,
            help="Allowed change, >= 0, in the units of the predictions.",
        ),
        click.option(
            "--delta",
            type=float,
            required=required,
            help="Allowed probability of a larger change, in [0, 1).",
        ),
        alpha_option,
        click.option(
            "--randomized", is_flag=True, help="Toss the paper's coin in a tie; size exactly α."
        ),
    )
