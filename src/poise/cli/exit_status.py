"""The exit status of every command, and of every kind of error."""

from __future__ import annotations

from enum import IntEnum

import click

from poise.errors import PoiseError, TrialError

__all__ = ["ExitStatus", "Terminated"]


class Terminated(KeyboardInterrupt):
    """SIGTERM: it ends a run as Ctrl-C does, with another exit status."""


class ExitStatus(IntEnum):
    """The exit status of a command.

    Examples
    --------
    >>> ExitStatus.of_result(False)
    <ExitStatus.NOT_STABLE: 1>
    >>> int(ExitStatus.of_error(TrialError("trial 3 failed")))
    3
    """

    STABLE = 0  # or every check passed
    DONE = 0  # no verdict was asked for
    NOT_STABLE = 1  # unstable, inconclusive or not certified stable; a check failed
    USAGE = 2  # wrong usage, or data that cannot be used
    FIT_FAILED = 3
    NOT_REPEATED = 4  # a certificate could not be repeated with these versions
    DEFECT = 70  # an error in poise itself must not look like a verdict
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143

    @classmethod
    def of_result(cls, passed: bool) -> ExitStatus:
        """Return the status of a result: 0 if everything that was asked is stable."""
        return cls.STABLE if passed else cls.NOT_STABLE

    @classmethod
    def of_verification(cls, verified: bool, wrong: bool) -> ExitStatus:
        """Return the status of a certificate: 0 verified, 1 not what it claims, 4 not repeated."""
        return cls.of_result(verified) if verified or wrong else cls.NOT_REPEATED

    @classmethod
    def of_error(cls, error: BaseException) -> ExitStatus:
        """Return the status of a command that ended with this error."""
        if isinstance(error, (click.Abort, KeyboardInterrupt)):
            terminated = isinstance(error.__cause__ or error, Terminated)
            return cls.TERMINATED if terminated else cls.INTERRUPTED
        if isinstance(error, TrialError):
            return cls.FIT_FAILED
        if not isinstance(error, Exception):  # sys.exit and the like, which poise never raises
            return cls.FIT_FAILED
        if isinstance(error, BrokenPipeError):
            return cls.PIPE_CLOSED
        if isinstance(error, (click.ClickException, PoiseError, OSError)):
            return cls.USAGE
        return cls.DEFECT
