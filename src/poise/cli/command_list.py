"""The commands, with one line each; a command is imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["COMMANDS", "import_command"]

# Each command is a module of the same name, in the order of `poise --help`.
COMMANDS = {
    "demo": "Show three algorithms on example data, with a verdict for each.",
    "advise": "List what the rows of a file can answer.",
    "test": "Test whether an algorithm is stable on the rows of a file.",
    "check": "Check an algorithm before it is tested.",
    "compare": "Test several algorithms on the same trials.",
    "run": "Answer all the questions of a TOML file.",
    "deployed": "Test the model of exactly these rows, at fresh rows.",
    "stabilize": "Make a stable version of an algorithm, at a stated cost.",
    "curve": "Measure stability at several training sizes.",
    "intervals": "Give prediction intervals whose coverage is guaranteed.",
    "monitor": "Add rows to a record as they come in; look as often as you like.",
    "ledger": "Tell which verdicts on a data set hold together.",
    "combine": "Put the evidence of several records together.",
    "profile": "Measure the probability of a change larger than ε, for every ε.",
    "plan": "Find how much data a question needs, or what data can answer.",
    "show": "Judge saved trials again, without fitting anything.",
    "ui": "Show the results of a folder in the browser.",
    "verify": "Check a certificate that somebody else made.",
    "sign": "Sign a certificate, or make a key for it.",
    "status": "Tell how far a run is, from its journal.",
    "resume": "Continue a run that was interrupted.",
    "audit": "Find out by simulation whether a black-box test is valid.",
    "reproduce": "Reproduce every claim of the paper: expected and measured.",
}


def import_command(name: str) -> click.Command:
    """Import the module of a command, so that `poise --help` imports none of them.

    Examples
    --------
    >>> import_command("plan").name
    'plan'
    """
    command: click.Command = import_module(f"poise.cli.{name}").command
    return command
