"""Errors of user code outside a fit, such as in a constructor or in repr.

Such an error must not end a program without a message, and not with exit status 0, which
means "stable".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from poise.errors import AlgorithmError, PoiseError, in_one_line

__all__ = ["blamed_on_user_code"]


@contextmanager
def blamed_on_user_code(what: str) -> Iterator[None]:
    """Context in which any exception of user code becomes an error that names user code.

    Errors of poise, and Ctrl-C, are not changed.

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
