"""Running an algorithm on the rows of files, as most commands do: what is read, asked and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from poise import checks
from poise.cli.errors import SOURCE, Exit, Warned, say, stdout_is_for_the_answer
from poise.cli.inputs import Source, code_file, load_algorithm, load_named, parse_parameters
from poise.cli.options import SETTINGS, given
from poise.cli.output import Output
from poise.cli.screen import tell
from poise.errors import RecordError, TrialError
from poise.settings import ON_DASK, REQUIRED

_OWN = {"distance", "coupling"}  # may be a user's own object


def answer(
    ctx: click.Context,
    function: str,
    data: str,
    tell: Callable[[Any, Output, Warned], Exit] = tell,
    read: Callable[[Source], dict[str, Any]] = Source.read,
    folder: bool = False,
    **more: object,
) -> Exit:
    """Put the question of the options, by a function of the library, and tell its answer.

    Where several algorithms can be named, the library gets a list of them.
    """
    output, asked = Output.of(ctx, folder), given(ctx) | more
    _require_what_is_needed(ctx, data)
    unlabeled = asked.pop("X_unlabeled", None)
    on_dask = ctx.params.get("backend") == "dask" and function in ON_DASK
    source = Source(data, {**ctx.params, "unlabeled": unlabeled}, on_dask)
    ctx.meta[SOURCE] = source
    _check_what_costs_nothing(asked)
    named = ctx.params["algorithm"]
    places = [named] if isinstance(named, str) else named
    code = [*map(code_file, places), *map(code_file, asked.values())]
    journal = asked.get("journal")
    output.check([*source.files, *code, None if journal is None else Path(journal)])
    with Warned(output.quiet).listening() as warned:
        with stdout_is_for_the_answer():
            asked |= read(source)
            parameters = parse_parameters(ctx.params.get("params", ()))
            loaded = [load_algorithm(place, parameters) for place in places]
            algorithm = loaded[0] if isinstance(named, str) else loaded
            asked |= {name: load_named(name, asked[name]) for name in _OWN & asked.keys()}
            if output.quiet:
                asked["progress"] = False
            found = fitted(function, output, algorithm, **asked)
        return tell(found, output, warned)


def fitted(function: str, output: Output, algorithm: Any, X: Any, y: Any, **asked: Any) -> Any:
    """Call the library; what was measured before it failed, or was interrupted, is kept."""
    import poise

    try:
        return getattr(poise, function)(algorithm, X, y, **asked)
    except (TrialError, RecordError, KeyboardInterrupt) as error:
        partial, journal = getattr(error, "partial", None), asked.get("journal")
        if output.save is not None and partial is not None and not output.folder:
            output.write(partial)
            say(f"what was measured before is in {output.save}")
        if journal and Path(journal).exists() and not isinstance(error, RecordError):
            say(f"what was measured is in {journal}: the same command goes on from there")
        raise


def _require_what_is_needed(ctx: click.Context, data: str) -> None:
    """Name all missing options at once, and what helps to choose them."""
    flags = {p.name: p.opts[0] for p in ctx.command.params}
    needed = ["algorithm"] if data.endswith(".npz") else ["target", "algorithm"]  # its array y
    needed += [n for n, each in SETTINGS.items() if each.said.default is REQUIRED and n in flags]
    defaults = {"check": "n", **dict.fromkeys(("measure", "curve", "deployed"), "delta")}
    needed = [name for name in needed if name != defaults.get(ctx.info_name or "")]
    missing = [flags[name] for name in needed if ctx.params[name] in (None, ())]
    if not missing:
        return
    if "delta" in needed and "epsilon" in flags and ctx.params["epsilon"] is None:
        missing.append("--epsilon (unless labels are compared)")
    help = f"`poise advise {data}` says what these rows can answer"
    if "epsilon" in flags:
        help += f", and `poise measure {data}` how large the changes are"
    raise click.UsageError(f"Missing {', '.join(missing)}: {help}.", ctx)


def _check_what_costs_nothing(asked: dict[str, Any]) -> None:
    """Answer what is wrong with numbers before scikit-learn is imported."""
    from poise.results.question import read_epsilon

    read_epsilon(asked.get("epsilon"))
    n = asked.get("n", ())
    sizes = n if isinstance(n, tuple) else (n,)
    for size in sizes:
        if not 0 < size < 1:
            checks.count("n", size, 2)
