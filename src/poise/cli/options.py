"""Options of the commands: made from the settings of the library, which declare them once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from functools import partial, reduce
from typing import Any

import click
from click.core import ParameterSource

from poise import checks
from poise.cli.errors import Running
from poise.settings import REQUIRED, Every, Everything, Setting, settings_of

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SETTINGS = settings_of(Everything)
_METAVARS = {
    **dict.fromkeys(("X_unlabeled", "journal"), "FILE"),
    **dict.fromkeys(("groups", "sample_weight", "ids"), "COLUMN"),
    "without": "ROWS",
    "distance": "NAME",
    "coupling": "shared|independent|NAME",
}
_PLACES = "Ridge, 'Ridge(alpha=2.0)', module:Name, file.py:name."
_NONE = "none"  # how None is written, where the default is another value


class Value(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A value of a setting, as it is typed.

    Examples
    --------
    >>> value = Value(SETTINGS["max_trials"])
    >>> value.name, value.convert("1e3", None, None)
    ('INTEGER|none', 1000)
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.is_seed = setting.name == "random_state"
        self.is_number = self.is_seed or float in setting.kinds or int in setting.kinds
        takes_none = setting.optional and setting.said.default is not None
        self.words = (*setting.words, *[_NONE] * takes_none)
        kind = ["NUMBER" if float in setting.kinds else "INTEGER"] * self.is_number
        self.name = _METAVARS.get(setting.name) or "|".join([*kind, *self.words]) or "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read what was typed; what is wrong with it is said in the words of the setting."""
        if value in self.words:
            return None if value == _NONE else value
        found = _number(value) if self.is_number else value
        if self.is_seed:
            return checks.count(self.setting.name, found)
        found = self.setting.check(found)
        if self.setting.name == "epsilon":
            from poise.results.question import read_epsilon

            read_epsilon(found)
        if self.setting.name == "n" and not 0 < found < 1:
            return checks.count("n", found, 2)
        return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def setting(which: str | Setting, default: object = ..., help: str = "", **more: Any) -> Decorator:
    """Return the option for a setting; what nobody gives is left to the library's default."""
    declared = SETTINGS[which] if isinstance(which, str) else which
    said = declared.said
    default = said.default if default is ... else default
    names = said.option or f"--{declared.name.replace('_', '-')}"
    kind: dict[str, Any] = {"type": (value := Value(declared)), "metavar": value.name}
    if declared.kinds == (bool,):
        names += f"/--no-{names[2:]}" if default is True and "/" not in names else ""
        kind = {"is_flag": True}
    is_told = not (default is REQUIRED or default is None or isinstance(default, bool))
    help = help or said.help.replace(", or the name of a column", "")  # the only way here
    told = f"{help}  [default: {default}]" if is_told else help
    return click.option(
        names, declared.name, hidden=not said.first, default=None, help=told, **kind, **more
    )


def all_of(*made: Decorator) -> Decorator:
    """Return a decorator that adds options in this order."""
    return lambda function: reduce(lambda found, option: option(found), reversed(made), function)


def settings(leave: Collection[str] = (), declared: type = Every, **defaults: object) -> Decorator:
    """Return a decorator that adds an option for every setting that has one."""
    known = settings_of(declared).items()
    names = [n for n, each in known if each.said.option != "-" and n not in leave]
    made = [setting(name, defaults.get(name, ...)) for name in names]
    if "backend" in names:
        made.append(rare("--address", metavar="HOST:PORT", help="Address of the cluster."))
    return all_of(*made)


def is_typed(ctx: click.Context, name: str) -> bool:
    """Tell whether an option was given."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def given(ctx: click.Context) -> dict[str, Any]:
    """Return the settings that were typed, for a function of the library."""
    return {n: value for n, value in ctx.params.items() if n in SETTINGS and is_typed(ctx, n)}


class Command(click.Command):
    """A command that tells its warnings, and of which user code cannot make an end."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; an error in one of them is told by this command."""
        if ctx.obj is not None:
            ctx.obj["command"] = ctx
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and tell its warnings."""
        try:
            with _connected(ctx), Running(ctx).listening():
                return super().invoke(ctx)
        except click.exceptions.Exit as error:  # as --help ends
            raise SystemExit(error.exit_code) from error


def _connected(ctx: click.Context) -> AbstractContextManager[object]:
    """Connect to the cluster that the options name, for as long as the command runs."""
    backend, address = ctx.params.get("backend"), ctx.params.get("address")
    if backend is None and address is None:
        return nullcontext()
    if backend != "dask" or address is None:
        ray = "for Ray, call ray.init() in Python"
        raise click.UsageError(f"Commands connect by --backend dask and --address; {ray}.", ctx)
    from poise.engine.clusters import connection

    return connection(address)


def command(*made: Decorator) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command of its name of a function, with these options.

    Its help is one screen; where options are hidden from it, ``--help-all`` lists them.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        help = inspect.cleandoc(function.__doc__ or "")
        help = help.replace("\nFor example:", "\n\b\nFor example:")
        inner = all_of(*made)(click.pass_context(function))
        found = click.command(function.__name__, cls=Command, help=help)(inner)
        return _help_all(found) if any(getattr(p, "hidden", False) for p in found.params) else found

    return decorate


def _show_everything(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        hidden = [each for each in ctx.command.params if getattr(each, "hidden", False)]
        for each in hidden:
            each.hidden = False  # type: ignore[attr-defined]
        click.echo(ctx.get_help())
        for each in hidden:
            each.hidden = True  # type: ignore[attr-defined]
        ctx.exit()


_help_all = click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_everything,
    help="Show every option.",
)


# options that are not settings: what is read and what is written

rare = partial(click.option, hidden=True)

data = click.argument("data", metavar="DATA")
rows = all_of(
    click.option("--target", metavar="COLUMN", help="Column that is predicted."),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out; repeatable."),
    rare("--drop-missing", is_flag=True, help="Leave out incomplete rows."),
    rare("--sep", metavar="CHAR", help="What separates columns."),
    rare("--decimal", metavar="CHAR", help="Decimal mark.  [default: .]"),
    rare("--encoding", metavar="NAME", help="Encoding of the text.  [default: utf-8]"),
    rare("--sheet", metavar="NAME", help="Sheet of an Excel file."),
)
algorithm = all_of(
    click.option("--algorithm", metavar="PLACE", multiple=True, help=_PLACES),
    rare("--program", metavar="COMMAND", multiple=True, help="Any program: 'Rscript fit.R'."),
)


save = all_of(
    click.option("--save", metavar="PATH", help="Save the answer, for `poise show`."),
    click.option("--report", metavar="FILE", help="Write a page with a picture, FILE.html."),
    rare("--force", is_flag=True, help="Replace a file that poise did not write."),
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
quiet = click.option("--quiet", "-q", is_flag=True, help="Print the answer in one word.")
form = all_of(as_json, quiet)
run = all_of(data, rows, algorithm)  # what most commands begin with
told = all_of(  # and end with
    save,
    rare("--latex", is_flag=True, help="Print a LaTeX table."),
    rare("--details", is_flag=True, help="Print all details."),
    form,
)
