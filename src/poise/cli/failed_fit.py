"""What the command line says about a trial that failed: the cause and the remedy."""

from __future__ import annotations

from poise.cli.option_words import in_options, options_by_argument
from poise.cli.quoted_errors import around_quotes
from poise.errors import PoiseError, TrialError, in_one_line

__all__ = ["failed_fit"]


def failed_fit(error: TrialError, command: str | None = None) -> str:
    """Say why a trial failed, and how such trials can be counted, in the words of the command.

    Examples
    --------
    >>> error = TrialError("trial 7 failed: its worker died. What was measured …", trial=7)
    >>> print(failed_fit(error).rpartition(": ")[2], "/", failed_fit(error, "run")[-21:])
    --on-error unstable / on_error = "unstable"
    """
    remedy = _remedy("on_timeout" if error.kind == "timeout" else "on_error", command)
    if error.__cause__ is None:  # the attribute of the error is for users of Python
        # A journal keeps the words of user code, and not whose they are: none is translated.
        what = str(error).partition(". What was measured before it")[0]
        return f"{what}{remedy}"
    said = f"trial {error.trial} failed: {_cause(error.__cause__, command)}{remedy}"
    # A run of many questions goes on after a failed fit, and so shows no traceback.
    return said if command == "run" else f"{said}. To see where it failed: poise --traceback …"


def _remedy(policy: str, command: str | None) -> str:
    """Say how failed trials can be counted; nothing where the command has no option for it."""
    if command != "run" and policy not in options_by_argument(command):
        return ""
    return in_options(f". To count a failed trial against stability: {policy}='unstable'", command)


def _cause(error: BaseException, command: str | None) -> str:
    """Return the cause in one line; only the words of poise name options.

    The error of an external program quotes its command and its output, and names no keyword.
    """
    cause = in_one_line(error).rstrip(".")
    if "Traceback (most recent call last)" in cause:  # from an exception that is not picklable
        cause = str(error).rstrip().rpartition("\n")[2]
    if isinstance(error, PoiseError) and not isinstance(error, TrialError):
        return around_quotes(cause, error, command)
    return cause
