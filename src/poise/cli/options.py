"""Options of the commands: made from the settings of the library, which declare them once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from poise import checks
from poise.cli.inputs import CommandLine
from poise.settings import COMMAND, REQUIRED, Every, Everything, Setting, settings_of

if TYPE_CHECKING:
    _Type = click.ParamType[Any]  # generic since click 8.4 only
else:
    _Type = click.ParamType

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SETTINGS = settings_of(Everything)
_METAVARS = {"X_unlabeled": "FILE", "journal": "FILE", "without": "ROWS"}
_NONE = "none"  # how None is written, where the default is another value


class Value(_Type):
    """A value of a setting, as it is typed.

    Examples
    --------
    >>> Value(SETTINGS["max_trials"]).name, Value(SETTINGS["max_trials"]).read("1e3")
    ('INTEGER|none', 1000)
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        default = setting.said.default
        self.is_count = isinstance(default, int) and object in setting.kinds  # a seed
        self.is_number = self.is_count or float in setting.kinds or int in setting.kinds
        self.takes_none = setting.optional and default is not None
        self.name = self._metavar()

    def _metavar(self) -> str:
        setting = self.setting
        kinds = ["NUMBER" if float in setting.kinds else "INTEGER"] if self.is_number else []
        names = [*kinds, *setting.words, *([_NONE] if self.takes_none else [])]
        if setting.name in _METAVARS:
            return _METAVARS[setting.name]
        if object in setting.kinds and not self.is_count:
            names.append("NAME" if names or str in setting.kinds else "COLUMN")
        return "|".join(names) or "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value that the library gets."""
        return self.read(value) if isinstance(value, str) else value

    def read(self, text: str) -> Any:
        """Read what was typed; what is wrong with it is said in the words of the setting."""
        if text == _NONE and self.takes_none:
            return None
        value = _number(text) if self.is_number and text not in self.setting.words else text
        if self.is_count:
            return checks.count(self.setting.name, value)
        return self.setting.check(value)


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


class Shown(click.Option):
    """An option that knows whether it stands on the first screen of the help."""

    def __init__(self, *names: Any, first: bool = True, **more: Any) -> None:
        super().__init__(*names, **more)
        self.first = first


def setting(which: str | Setting, default: object = ..., help: str = "") -> Decorator:
    """Return the option for a setting; what nobody gives is left to the library's default."""
    declared = SETTINGS[which] if isinstance(which, str) else which
    said = declared.said
    default = said.default if default is ... else default
    names = said.option or f"--{declared.name.replace('_', '-')}"
    kind: dict[str, Any] = {"type": Value(declared)}
    if declared.kinds == (bool,):
        names += f"/--no-{names[2:]}" if default is True and "/" not in names else ""
        kind = {"is_flag": True}
    else:
        kind["metavar"] = kind["type"].name
    is_told = not (default is REQUIRED or default is None or isinstance(default, bool))
    help = help or said.help.replace(", or the name of a column", "")  # the only way here
    told = f"{help}  [default: {default}]" if is_told else help
    return click.option(
        names, declared.name, cls=Shown, first=said.first, default=None, help=told, **kind
    )


def _all_of(*made: Decorator) -> Decorator:
    """Return a decorator that adds options in this order."""
    return lambda function: reduce(lambda found, option: option(found), reversed(made), function)


def settings(leave: Collection[str] = (), declared: type = Every, **defaults: object) -> Decorator:
    """Return a decorator that adds an option for every setting that has one."""
    known = settings_of(declared).items()
    names = [n for n, each in known if each.said.option != "-" and n not in leave]
    made = [setting(name, defaults.get(name, ...)) for name in names]
    if "backend" in names:
        made.append(rare("--address", metavar="HOST:PORT", help="Address of the cluster."))
    return _all_of(*made)


def given(ctx: click.Context) -> dict[str, Any]:
    """Return the settings that were typed, for a function of the library."""
    typed = ParameterSource.COMMANDLINE
    return {
        n: v
        for n, v in ctx.params.items()
        if n in SETTINGS and ctx.get_parameter_source(n) is typed
    }


class Command(click.Command):
    """A command whose --help is one screen, and whose --help-all lists every option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; an error in one of them is told by this command."""
        if ctx.obj is not None:
            ctx.obj["command"] = ctx
        rest = super().parse_args(ctx, args)
        if ctx.params.get("program"):
            _take_program(ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; user code cannot end it as --help does."""
        try:
            with _connected(ctx), _typed(ctx):
                return super().invoke(ctx)
        except click.exceptions.Exit as error:
            raise SystemExit(error.exit_code) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add --help-all where --help leaves options out."""
        params = super().get_params(ctx)
        if all(_is_first(each) for each in params):
            return params
        everything = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_everything,
            help="Show every option.",
        )
        return [*params, everything]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of the first screen, then, if asked for, the others."""
        params = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        first = [row for p in params if _is_first(p) and (row := p.get_help_record(ctx))]
        others = [row for p in params if not _is_first(p) and (row := p.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(first)
        if others and ctx.meta.get("poise.everything"):
            with formatter.section("More options"):
                formatter.write_dl(others)


def command(name: str, examples: str, *made: Decorator) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command of a function, with these arguments and options."""
    several = "s" * (len(re.findall("^  poise ", examples, re.M)) > 1)

    def decorate(function: Callable[..., Any]) -> Command:
        inner = _all_of(*made)(click.pass_context(function))
        return click.command(name, cls=Command, epilog=f"\b\nExample{several}:\n{examples}")(inner)

    return decorate


def _take_program(ctx: click.Context) -> None:
    """Put the program of ``--program`` in the place of an algorithm, or beside other ones."""
    program, other = ctx.params["program"], ctx.params["algorithm"]
    if isinstance(program, tuple):
        ctx.params["algorithm"] = (*other, *map(CommandLine, program))
    elif other is None:
        ctx.params["algorithm"] = CommandLine(program)
    else:
        raise click.UsageError("Give --algorithm or --program, not both.", ctx)


def _connected(ctx: click.Context) -> AbstractContextManager[object]:
    """Connect to the cluster that the options name, for as long as the command runs."""
    backend, address = ctx.params.get("backend"), ctx.params.get("address")
    if (backend is None) != (address is None):
        raise click.UsageError("--backend and --address are needed together, or neither.", ctx)
    if backend is None or address is None:
        return nullcontext()
    from poise.engine.clusters import connection

    return connection(backend, address)


@contextmanager
def _typed(ctx: click.Context) -> Iterator[None]:
    """Let the files that are written meanwhile say by which command."""
    token = COMMAND.set(shlex.join(["poise", *(ctx.obj or {}).get("words", [])]))
    try:
        yield
    finally:
        COMMAND.reset(token)


def _is_first(param: click.Parameter) -> bool:
    return getattr(param, "first", True)


def _show_everything(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["poise.everything"] = True
        click.echo(ctx.get_help())
        ctx.exit()


# options that are not settings: what is read and what is written

rare = partial(click.option, cls=Shown, first=False)


data = click.argument("data", metavar="DATA")
rows = _all_of(
    click.option("--target", metavar="COLUMN", help="Column that is predicted."),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; repeatable."),
    rare("--drop-missing", is_flag=True, help="Leave out incomplete rows."),
    rare("--sep", metavar="CHAR", help="What separates columns."),
    rare("--decimal", metavar="CHAR", help="Decimal mark.  [default: .]"),
    rare("--encoding", metavar="NAME", help="Encoding of the text.  [default: utf-8]"),
    rare("--sheet", metavar="NAME", help="Sheet of an Excel file."),
)
algorithm = _all_of(
    click.option(
        "--algorithm", metavar="PLACE", help="Ridge, 'Ridge(alpha=2.0)', module:Name, file.py:name."
    ),
    rare("--program", metavar="COMMAND", help="Program in any language instead: 'Rscript fit.R'."),
    rare("--param", "params", metavar="NAME=VALUE", multiple=True, help="Parameter; repeatable."),
)


def _kept(metavar: str, help: str) -> Decorator:
    return _all_of(
        click.option("--save", metavar=metavar, help=help),
        click.option("--report", metavar="FILE", help="Write a page with a picture, FILE.html."),
        rare("--force", is_flag=True, help="Replace a file that poise did not write."),
    )


save = _kept("FILE", "Save the answer, for `poise show`.")
save_each = _kept("FOLDER", "Save one file for each, for `poise show`.")
verdict = _all_of(
    rare("--latex", is_flag=True, help="Print a LaTeX table."),
    rare("--details", is_flag=True, help="Print all details."),
)
form = _all_of(
    click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else."),
    click.option("--quiet", "-q", is_flag=True, help="Print the answer in one word."),
)
run = _all_of(data, rows, algorithm)  # what most commands begin with
told = _all_of(save, verdict, form)  # and end with
