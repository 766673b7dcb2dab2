"""Options that several commands share; each group becomes one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from poise.errors import ArgumentError

__all__ = [
    "FILE",
    "ROWS",
    "AllowedChange",
    "Command",
    "Decorator",
    "Output",
    "WholeNumber",
    "algorithms_option",
    "alpha_option",
    "gamma_option",
    "gathered",
    "journals_option",
    "losses_option",
    "output_options",
    "question_options",
    "remove_option",
    "replace_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FILE = click.Path(path_type=Path)


class _Rows(click.Path):
    """A file, folder or pattern as a path; an address stays text, with both of its slashes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "://" in str(value) else super().convert(value, param, ctx)


ROWS = _Rows(path_type=Path)


class AllowedChange(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A number, or a share as in "5% of spread"."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the share, or say that it is neither."""
        from poise.results.relative_epsilon import read_epsilon

        try:
            return read_epsilon(value) if isinstance(value, str) else value
        except ArgumentError as error:
            self.fail(f"{error}.", param, ctx)


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A count, which people also write as 1e6 or 1_000_000."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or say that it is not one."""
        try:
            number = float(value)
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return int(number)


class WholeNumberOr(WholeNumber):
    """A count, or a word that stands for one.

    Parameters
    ----------
    word : str
        The word.
    """

    def __init__(self, word: str) -> None:
        self.word = word
        self.name = f"integer|{word}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word."""
        return value if value == self.word else super().convert(value, param, ctx)


@dataclass(frozen=True)
class Output:
    """Where results go; each command offers only the files that make sense for it."""

    as_json: bool
    quiet: bool
    save: Path | None = None
    plot: Path | None = None
    report: Path | None = None
    table: Path | None = None
    certificate: Path | None = None
    force: bool = False

    @property
    def needs_changes(self) -> bool:
        """Whether the changes themselves are wanted, not only the verdict."""
        return any(path is not None for path in (self.save, self.plot, self.report))

    @property
    def progress(self) -> bool | None:
        """Whether to show progress: a bar in a terminal, one line per minute elsewhere."""
        return False if self.quiet else None


def gathered(
    keyword: str, options: Mapping[str, Decorator], kind: Callable[..., Any] = dict
) -> Callable[[Command], Command]:
    """Add options to a command, in the order of `--help`, and pass them on as one object.

    Parameters
    ----------
    keyword : str
        The argument of the command that gets the object.
    options : dict
        The options, by the names that click gives their values.
    kind : callable
        The function that makes the object; it gets the values as keywords.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def called(**values: object) -> Any:
            given = {name: values.pop(name) for name in options}
            return function(**values, **{keyword: kind(**given)})

        decorated: Any = called
        for option in reversed(list(options.values())):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


_FILES = {
    "save": click.option(
        "--save", metavar="TRIALS", type=FILE, help="Save the changes, for poise show."
    ),
    "plot": click.option(
        "--plot", metavar="FILE", type=FILE, help="Draw a picture: png, svg or pdf."
    ),
    "report": click.option(
        "--report", metavar="FILE", type=FILE, help="Write a self-contained HTML page."
    ),
    "table": click.option("--table", metavar="FILE", type=FILE, help="Write a CSV file."),
    "certificate": click.option(
        "--certificate",
        metavar="FILE",
        type=FILE,
        help="Write a certificate that somebody else can check with poise verify.",
    ),
}


_FORCE = click.option(
    "--force", is_flag=True, help="Replace files that poise did not write; never the input."
)


def output_options(*files: str) -> Callable[[Command], Command]:
    """Return the options that say where results go, including those for ``files``."""
    written = {name: _FILES[name] for name in files} | ({"force": _FORCE} if files else {})
    options = written | {
        "as_json": click.option(
            "--json", "as_json", is_flag=True, help="Print JSON and nothing else."
        ),
        "quiet": click.option(
            "--quiet", "-q", is_flag=True, help="Print only the answer, and no progress."
        ),
    }
    return gathered("output", options, Output)


journals_option = click.option(
    "--journal",
    metavar="FOLDER",
    type=FILE,
    help="Write each trial when it is done, a file per measurement; interrupted runs continue.",
)

alpha_option = click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Error level, in (0, 1)."
)

algorithms_option = click.option(
    "--algorithms",
    type=WholeNumber(),
    metavar="K",
    default=1,
    show_default=True,
    help="Algorithms that share the error level: each is tested at ALPHA / K.",
)

losses_option = click.option(
    "--losses", is_flag=True, help="Losses are compared: test rows need a response."
)

remove_option = click.option(
    "--remove",
    type=WholeNumber(),
    metavar="K",
    default=1,
    show_default=True,
    help="How many of the N rows (or groups) are removed.",
)

replace_option = click.option(
    "--replace", is_flag=True, help="Replace the removed rows by fresh rows."
)

gamma_option = click.option(
    "--gamma",
    type=float,
    help="Tolerated share of larger changes, in [0, 1): asks how often it is exceeded.",
)


def question_options(required: bool, choice: bool = False) -> Callable[[Command], Command]:
    """Return the options that say what is asked; a command gets them as ``asked``.

    They are keywords of :meth:`poise.Trials.test`. Where they are not ``required``,
    any may be left out. ``choice`` adds the choice of the test, for commands that run trials.
    """
    which = {"test": choice_of_test} if choice else {}
    return gathered("asked", _epsilon_and_delta(required) | _DECISION | which)


choice_of_test = click.option(
    "--test",
    type=click.Choice(["auto", "binomial", "averaged"]),
    default="auto",
    show_default=True,
    help="The paper's test, the averaged test (more power from spare rows), or the better one.",
)


def _epsilon_and_delta(required: bool) -> dict[str, Decorator]:
    return {
        "epsilon": click.option(
            "--epsilon",
            type=AllowedChange(),
            required=required,
            help="Allowed change, >= 0, in the units of the predictions; or '5% of spread'.",
        ),
        "delta": click.option(
            "--delta",
            type=float,
            required=required,
            help="Allowed probability of a larger change, in [0, 1).",
        ),
    }


_DECISION: dict[str, Decorator] = {
    "alpha": alpha_option,
    "randomized": click.option(
        "--randomized",
        is_flag=True,
        help="Toss the paper's coin in a tie, so that the size is exactly α.",
    ),
}
