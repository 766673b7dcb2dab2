"""The command line: ``poise demo``, ``test``, ``profile``, ``plan``, ``show``.

Verdicts and tables go to stdout; progress, warnings and errors to stderr.
"""

from __future__ import annotations

import click

from poise import __version__
from poise.cli.group import USAGE, LazyGroup

__all__ = ["main"]

# One module of this package per command, imported when it is called: what a
# command needs is paid for by that command, and `poise --help` needs nothing.
COMMANDS = {
    "demo": "Take a tour: three algorithms on bundled data, a verdict each.",
    "test": "Test whether an algorithm is stable on the rows of a file.",
    "check": "Check an algorithm before it is tested.",
    "compare": "Test several algorithms on the same trials.",
    "run": "Answer all the questions of a TOML file.",
    "profile": "Measure the probability of a change larger than ε, for every ε.",
    "plan": "Find how much data a question needs, or what data can answer.",
    "show": "Judge saved trials again, without fitting anything.",
    "status": "Tell how far a run is, from its journal.",
    "resume": "Go on with a run that was cut short.",
    "audit": "Find out whether a black-box test is valid, also on traps.",
    "reproduce": "Reproduce the paper: every claim, expected beside measured.",
}

EXIT_STATUS = """\b
Exit status:
  0    stable, or nothing was asked
  1    unstable or inconclusive
  2    wrong usage, or data that cannot be used
  3    a fit failed
  130  interrupted
"""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    epilog=EXIT_STATUS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", message="poise %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the code an error arose.")
@click.pass_context
def main(ctx: click.Context, /, traceback: bool) -> int:
    """Tell whether a learning algorithm is stable.

    Do its predictions stay put, within ε except with probability δ, when one
    training row is removed? The algorithm is run as a black box, and the answer
    has a guaranteed error level. Start with `poise demo`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return USAGE  # kept only where no command was given; else the command's own status counts
