"""The command line: one file per command, and what commands share.

Verdicts and tables go to stdout; progress, warnings and errors to stderr.

::

    advise           ``poise advise``: what the rows of a file can answer, before anything is tested
    audit            ``poise audit``: whether a procedure is valid, and its power
    check            ``poise check``: whether an algorithm meets the conditions of a stability test
    combine          ``poise combine``: the evidence of several records together
    command_list     the commands, with one line each; a command is imported when it is called
    compare          ``poise compare``: several algorithms on the same trials, with one error level
    curve            ``poise curve``: stability at several training sizes
    demo             ``poise demo``: three algorithms on example data, with all three verdicts
    deployed         ``poise deployed``: whether the model of exactly these rows is stable
    exit_status      the exit status of every command, and of every kind of error
    failed_fit       what the command line says about a trial that failed: the cause and the remedy
    fit_options      the options of every command that fits: algorithm, rows and settings
    help_sections    the help of commands with many options: sections, what everybody needs first
    input_files      the files that a command reads: no command overwrites them
    intervals        ``poise intervals``: prediction intervals for new rows, and their guarantee
    json_output      what ``--json`` prints: the result, its inputs, and errors
    lazy_group       commands that are imported when called; errors are printed in one line
    ledger           ``poise ledger``: the questions put to a data set, and which verdicts hold
    load_algorithm   from ``sklearn.linear_model:Ridge`` or ``model.py:name`` to an algorithm
    monitor          ``poise monitor``: add fresh rows to a record, and tell where it stands
    open_browser     open an address in the browser, where somebody can see it
    option_words     messages of the library, with options in place of Python's keywords
    options          options that several commands share; each group becomes one object
    output_files     files that a command writes: checked before the first fit, written at the end
    partial_verdict  the state of an unfinished run: trials done, and whether the verdict is open
    plan             ``poise plan``: what data a question needs, before anything is fitted
    profile          ``poise profile``: the probability of a larger change, for every ε
    quoted_errors    an error of poise in options; what it quotes of user code stays as it is
    read_fresh_rows  training rows and fresh rows, for questions about one training set
    read_rows        the rows of a question, read from its files
    reproduce        ``poise reproduce``: every claim of the paper, computed or simulated
    resume           ``poise resume``: continue a run that was interrupted
    run              ``poise run``: all questions of a TOML file, with one exit status
    run_and_print    measure as the options say, print the result, return the exit status
    screen           results on the terminal: width, colours and tables
    show             ``poise show``: ask saved trials another question, without a fit
    sign             ``poise sign``: sign a certificate, or make a key
    stabilize        ``poise stabilize``: a stable version of an estimator, and its guarantee
    status           ``poise status``: how far a run is, from its journal
    stderr           messages on stderr: one line per warning, and the output of fits
    terminal_tables  tables on the terminal: comparisons, checks and questions of a TOML file
    test             ``poise test``: a verdict on the rows of a file
    ui/              ``poise ui``: the results of a folder, in the browser
    verify           ``poise verify``: check a certificate, also by computing trials again
"""

from __future__ import annotations

import click

from poise import __version__
from poise.cli.command_list import COMMANDS
from poise.cli.exit_status import ExitStatus
from poise.cli.lazy_group import LazyGroup

__all__ = ["COMMANDS", "main"]

EXIT_STATUS = """\b
Exit status:
  0    stable, or nothing was asked
  1    unstable, inconclusive or not certified stable
  2    wrong usage, or data that cannot be used
  3    a fit failed
  4    a certificate could not be repeated: other versions
  130  interrupted (143 by SIGTERM)
"""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    epilog=EXIT_STATUS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", message="poise %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the code an error occurred.")
@click.pass_context
def main(ctx: click.Context, /, traceback: bool) -> int:
    """Tell whether a learning algorithm is stable.

    Do its predictions change by at most ε, except with probability δ, when one
    training row is removed? The algorithm is run as a black box, and the answer
    has a guaranteed error level. Start with `poise demo`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    # Used only if no command was given; otherwise the status of the command counts.
    return ExitStatus.USAGE
