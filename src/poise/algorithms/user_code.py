"""Errors of user code outside a fit: in a constructor, in get_params, in its own words.

Nothing of that may end a program without a word, least of all with status 0, which
means "stable" to whoever asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from poise.errors import AlgorithmError, PoiseError, in_one_line

__all__ = ["blamed_on_user_code"]


@contextmanager
def blamed_on_user_code(what: str) -> Iterator[None]:
    """Context in which whatever user code raises becomes an error that says so.

    Errors of poise, and Ctrl-C, stay what they are.

    Examples
    --------
    >>> with blamed_on_user_code("algorithm cannot be created"):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    poise.errors.AlgorithmError: algorithm cannot be created: SystemExit: 0
    """
    try:
        yield
    except (PoiseError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise AlgorithmError(f"{what}: {in_one_line(error)}") from error
