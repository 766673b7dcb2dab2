"""``poise monitor``: add fresh rows to a record, and tell where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from poise.cli.fit_options import DATA_OPTIONS, SETTINGS, FitOptions, fit_options
from poise.cli.help_sections import SectionedCommand
from poise.cli.options import (
    FILE,
    ROWS,
    Output,
    WholeNumber,
    alpha_option,
    gathered,
    output_options,
)
from poise.cli.output_files import check_files
from poise.cli.run_and_print import tell_result
from poise.cli.stderr import fits_print_to_stderr, one_line_warnings

if TYPE_CHECKING:
    from poise.questions.monitor.monitor import Monitor
    from poise.results.monitor_status import MonitorStatus
    from poise.storage.monitor_record import RecordHeader

__all__ = ["command"]

EXAMPLE = """\b
Examples:
  poise monitor ridge.record monday.csv --target price \\
      --algorithm sklearn.linear_model:Ridge --n 40 --epsilon 5 --delta 0.1
  poise monitor ridge.record tuesday.csv
  poise monitor ridge.record --plot ridge.png
"""

_NOT_HERE = ("data", "weights", "fit_param")
# Settings of other commands that this one does not offer as they do: n may be left out here, a
# trial of a record removes one row at a time, and a record puts rows in order itself.
_NOT_OFFERED = ("n", "remove", "replace", "shuffle")
_ALGORITHM = ("algorithm", "param", "program", "serving")
_SETTINGS = tuple(name for name in SETTINGS if name not in _NOT_OFFERED)
_OPTIONS = (*DATA_OPTIONS, *_ALGORITHM, *_SETTINGS)
_QUESTION = ("n", "epsilon", "delta", "alpha")
_OF_ONE_CALL = ("unlabeled", "random_state", "skip_used", "key_file")  # not kept for later calls

_asked = gathered(
    "asked",
    {
        "n": click.option("--n", type=WholeNumber(), metavar="N", help="Training size, >= 2."),
        "epsilon": click.option("--epsilon", type=float, help="Allowed change, >= 0."),
        "delta": click.option(
            "--delta", type=float, help="Allowed probability of a larger change, in [0, 1)."
        ),
        "alpha": alpha_option,
    },
)
_rows = gathered(
    "rows",
    {
        "id": click.option(
            "--id", metavar="COL", help="Column that names the rows; else their content does."
        ),
        "skip_used": click.option(
            "--skip-used", is_flag=True, help="Leave out rows already used: for a growing file."
        ),
        "keep_leftovers": click.option(
            "--keep-leftovers",
            is_flag=True,
            help="Keep rows too few for a trial in a file beside RECORD.",
        ),
        "key_file": click.option(
            "--key-file",
            metavar="FILE",
            type=FILE,
            help="Secret that several sites share, to compare rows (16 bytes or more).",
        ),
    },
)


@click.command("monitor", cls=SectionedCommand, epilog=EXAMPLE)
@click.argument("record", type=FILE)
@click.argument("data", type=ROWS, required=False)
@fit_options(only=_OPTIONS, without=_NOT_HERE)
@_asked
@_rows
@click.option("--restart", is_flag=True, help="Begin a new epoch: older evidence does not count.")
@click.option("--abandon", is_flag=True, help="Count an interrupted call's missing trials failed.")
@output_options("plot")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    record: Path,
    data: Path | str | None,
    fit: FitOptions,
    asked: dict[str, Any],
    rows: dict[str, Any],
    restart: bool,
    abandon: bool,
    output: Output,
) -> int:
    """Add the rows of DATA to RECORD, and tell where it stands; without DATA only tell.

    The first call begins the record and needs --algorithm, --n, --epsilon and --delta;
    later calls need RECORD and DATA. Rows that RECORD has used are refused. The error
    level ALPHA holds for all looks together, however many, for rows from one
    distribution; after drift, --restart. Rows too few for a trial are not marked as
    used: give them again with the next file, or use --keep-leftovers.

    Exit status: 0 stable, 1 any other verdict, 2 usage or data, 3 a fit failed.
    """
    check_files(output)
    given = _given(ctx, {**fit.given, **asked, **rows})
    _act(record, restart, abandon)
    with one_line_warnings(output.quiet), fits_print_to_stderr():
        status = _status(record) if data is None else _added(record, data, given, output)
    if output.plot is not None:
        from poise.results.plots import save_figure

        save_figure(status.plot(), output.plot)
    return tell_result(status, output)


def _given(ctx: click.Context, options: dict[str, Any]) -> dict[str, tuple[Any, bool]]:
    """Return each option with whether it was given in this call."""
    said = ParameterSource.COMMANDLINE
    return {
        name: (value, ctx.get_parameter_source(name) is said) for name, value in options.items()
    }


def _act(record: Path, restart: bool, abandon: bool) -> None:
    from poise.questions.monitor.leftovers import Leftovers
    from poise.questions.monitor.record_actions import abandon_call, begin_epoch

    if abandon:
        abandon_call(record)
    if restart:
        begin_epoch(record)
        Leftovers(record, keep=False).forget()


def _status(record: Path) -> MonitorStatus:
    from poise.questions.monitor.leftovers import Leftovers
    from poise.questions.monitor.record_status import status_of
    from poise.storage.monitor_record import read_record

    return status_of(read_record(record), len(Leftovers(record, keep=True)) or None)


def _added(
    record: Path, data: Path | str, given: dict[str, tuple[Any, bool]], output: Output
) -> MonitorStatus:
    """Read the rows and add them to the record."""
    options = _options(record, given)
    if options["id"] is not None and options["unlabeled"] is not None:
        raise click.UsageError("--id names labelled rows; it cannot be given with --unlabeled.")
    files = {"data": data, "groups": options["id"]}
    read = FitOptions({name: options[name] for name in _OPTIONS if name in options} | files)
    table = read.rows()
    algorithm = read.algorithm()
    tables = dict(table.given_to(algorithm))
    tables["ids"] = tables.pop("groups", None)
    monitor = _monitor(record, algorithm, options, read.settings(), output)
    return monitor.add(**tables, skip_used=options["skip_used"])


def _monitor(
    record: Path,
    algorithm: Any,
    options: dict[str, Any],
    settings: dict[str, Any],
    output: Output,
) -> Monitor:
    from poise.questions.monitor.monitor import Monitor

    settings["points"] = settings["points"] or 1
    asked = {name: options[name] for name in _QUESTION}
    kept = {"keep_leftovers": options["keep_leftovers"], "progress": output.progress}
    monitor = Monitor(record, algorithm, **asked, **settings, **kept, key=_key(options["key_file"]))
    monitor.command = {name: value for name, value in options.items() if name not in _OF_ONE_CALL}
    return monitor


def _key(file: Path | None) -> bytes | None:
    """Read the secret that several sites share."""
    from poise.data.ordinary_files import MOST_KEY_BYTES, read_ordinary
    from poise.errors import ArgumentError

    return None if file is None else read_ordinary(file, MOST_KEY_BYTES, ArgumentError).strip()


def _options(record: Path, given: dict[str, tuple[Any, bool]]) -> dict[str, Any]:
    """Return the options of this call; those that are not given are those of the record."""
    before: dict[str, Any] = {}
    if record.exists() and record.stat().st_size:
        from poise.storage.monitor_record import read_record

        before = _of_record(read_record(record).header)
    options = {
        name: value if said or name not in before else before[name]
        for name, (value, said) in given.items()
    }
    missing = [f"--{name}" for name in _QUESTION if options[name] is None]
    if options["algorithm"] is None and options["program"] is None:
        missing.insert(0, "--algorithm")
    if missing:
        raise click.UsageError(f"{record} is not begun yet: give {', '.join(missing)}.")
    options["algorithm"] = _anywhere(options["algorithm"])
    return options


def _of_record(header: RecordHeader) -> dict[str, Any]:
    """Return the options of the call that began the record; some of one begun in Python."""
    described = ("algorithm", "distance")  # in words, which do not say where to find them
    asked = {name: value for name, value in header.question.items() if name not in described}
    return asked | {"name": header.name or None} | header.command


def _anywhere(place: str | None) -> str | None:
    """Write the path of a file in full, so that later calls may come from another folder."""
    source, colon, name = (place or "").rpartition(":")
    if not (colon and source.endswith(".py")):
        return place
    return f"{Path(source).resolve()}:{name}"
