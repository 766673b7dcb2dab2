"""An error of poise in the words of a command; what it quotes of user code stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

from poise.cli.option_words import in_options
from poise.errors import PoiseError, in_one_line

__all__ = ["around_quotes"]


def around_quotes(message: str, error: PoiseError, command: str | None) -> str:
    """Replace Python's keywords by options, but not in the words of user code.

    Examples
    --------
    >>> error = PoiseError("n_jobs=2: ValueError: n_jobs=3")
    >>> error.__cause__ = ValueError("n_jobs=3")
    >>> around_quotes(str(error), error, "test")
    '--jobs 2: ValueError: n_jobs=3'
    """
    for cause in _causes(error):
        quoted = in_one_line(cause).partition(": ")[2].rstrip(".")
        if quoted and quoted in message:
            before, _, after = message.rpartition(quoted)
            return in_options(before, command) + quoted + in_options(after, command)
    return in_options(message, command)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that led to this one, but not those of poise: its words are no quotes."""
    while error.__cause__ is not None:
        error = error.__cause__
        if not isinstance(error, PoiseError):
            yield error
