""":class:`Program`: a command line as an algorithm."""

from __future__ import annotations

import copy
import math
import numbers
import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.program.command import Command, as_command
from poise.algorithms.program.one_shot import run_once
from poise.algorithms.program.rows_as_text import Columns, read_columns, read_training
from poise.algorithms.program.scratch_folders import sweep
from poise.algorithms.program.server_pool import ask_server, servers
from poise.algorithms.program.task_files import Task
from poise.data.sample import Sample
from poise.errors import ArgumentError

__all__ = ["Program", "seed_of"]

_CONTRACTS = {"one-shot": run_once, "serving": ask_server}
_SEEDS = 2**31 - 1  # R, C and Java agree on signed 32-bit integers; this one is prime


def seed_of(xi: int) -> int:
    """Turn a 64-bit random term into a seed from 0 to 2³¹ − 2 that depends on all its bits.

    Examples
    --------
    >>> seed_of(7), seed_of(2**64 - 1)
    (7, 3)
    """
    return int(xi) % _SEEDS


class Program(Algorithm):
    """A program in any language, as an algorithm.

    *One-shot*: the command is run once per prediction, with the paths of CSV
    files in place of ``{train}``, ``{test}`` and ``{predictions}`` and a whole
    number in place of ``{seed}``. *Serving*: the command is started once per
    worker and answers JSON lines, one per request, until its input ends; it
    saves the time to start, which for R is nearly all of it.

    The program trains when predictions are needed: only then it has both inputs. A program
    that fails, is late, or does not answer with exactly one number per row raises
    :class:`~poise.errors.TrialError`; the fit is not tried again. A prediction may be NaN.

    Parameters
    ----------
    command : str or list of str
        The program and its arguments. A string is split as a shell would; no
        shell is ever involved, so ``|``, ``>`` and ``*`` mean nothing.
    mode : {"one-shot", "serving"}
        The contract.
    timeout : float > 0, optional
        Seconds for one answer, the start of the program included. After them
        the program and everything it has started are killed.
    env : dict of str to str, optional
        Variables added to those that poise sees. Unless set in either,
        ``OMP_NUM_THREADS`` and its kin are 1: workers fill the cores already.
    cwd : path, optional
        The folder to run in; by default that of the worker.
    name : str, optional
        How results call it; by default the command.

    See Also
    --------
    as_algorithm, jax_algorithm, stability_test

    Notes
    -----
    What stays alive between two requests belongs to the worker process: a
    Program can be pickled at any time and each thread has its own server. An
    idle server is ended after a minute, at exit, by :meth:`close`, or with
    the last reference to the Program that was constructed.

    A seed that the program ignores makes it no less testable, as long as it
    then has no randomness of its own.

    Examples
    --------
    The mean of the responses, in awk. Code with braces belongs in a file, or
    in a list whose entries need no quoting:

    >>> mean = '{ if (FILENAME == ARGV[1]) { if (FNR > 1) { n++; s += $NF } } '
    >>> mean += 'else if (FNR > 1) print s / n > out }'
    >>> program = Program(["awk", "-F,", "-v", "out={predictions}", mean, "{train}", "{test}"])
    >>> predict = program.fit([[1.0], [2.0]], [10.0, 20.0], xi=0)
    >>> predict([[3.0], [4.0]])
    array([15., 15.])
    """

    natural_distance = "absolute"

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        mode: str = "one-shot",
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.mode = arguments.choice("mode", mode, tuple(_CONTRACTS))
        self.command = as_command(command, mode, env, cwd)
        self.timeout = None if timeout is None else _seconds(timeout)
        self.name = str(self.command) if name is None else name
        # Not for copies: a worker unpickles one per task, and the server must stay.
        weakref.finalize(self, _finish, self.command)

    def __repr__(self) -> str:
        return f"Program({str(self.command)!r}, mode={self.mode!r})"

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse rows that cannot be written as CSV or JSON; the first one is tried."""
        super().prepared(sample)
        read_training(*sample.training(slice(0, 1)))
        return self

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Keep the training rows and the seed; the program is run by the predictor.

        Examples
        --------
        >>> Program("cp {test} {predictions} {train}").fit([[1.0]], [1.0], xi=0)([[2.0]])
        Traceback (most recent call last):
        poise.errors.TrialError: the program `cp ...` failed (exit status 1); ...
        """
        train, seed = read_training(X, y), seed_of(xi)
        return lambda rows: self._predict(train, seed, rows)

    def _predict(self, train: Columns, seed: int, rows: object) -> NDArray[np.float64]:
        features = list(train)[:-1]
        task = Task(train, read_columns(rows, expected=features), seed)
        if task.n_predictions == 0:
            return np.empty(0)
        return _CONTRACTS[self.mode](self.command, task, self.timeout)

    def with_timeout(self, seconds: float) -> Program:
        """Return the same program with at most this time; then its process group is killed."""
        limited = copy.copy(self)
        limited.timeout = min(_seconds(seconds), self.timeout or math.inf)
        return limited

    def close(self) -> None:
        """End this process's idle servers of this program now; the next fit starts a new one."""
        servers.end(self.command)


def _finish(command: Command) -> None:
    """End the servers of this process, and clean up after workers that were killed."""
    servers.end(command)
    sweep()


def _seconds(timeout: Any) -> float:
    is_number = isinstance(timeout, numbers.Real) and not isinstance(timeout, bool)
    if not (is_number and 0 < timeout < math.inf):
        raise ArgumentError(
            f"timeout must be a number of seconds > 0, or None for no limit, got {timeout!r}"
        )
    return float(timeout)
