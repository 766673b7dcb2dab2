"""One-shot programs: one process per prediction, with CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.program import predictions
from poise.algorithms.program.command import Command
from poise.algorithms.program.process import Late, Problem, Process, Watchdog, failure
from poise.algorithms.program.scratch_folders import Scratch
from poise.algorithms.program.task_files import Task, to_csv
from poise.arguments.printed_numbers import exactly

__all__ = ["run_once"]


def run_once(command: Command, task: Task, timeout: float | None) -> NDArray[np.float64]:
    """Train and predict in a fresh process, with a folder of its own that is then removed."""
    scratch = Scratch()
    try:
        words = command.filled(_files(scratch.path, task))
        with Process(command, words, scratch) as process:
            problem = _wait(process, timeout)
        # The processes have ended and their output is complete: only now report it.
        try:
            if problem is not None:
                raise problem
            return predictions.from_file(scratch.path / "predictions.csv", task.n_predictions)
        except Problem as found:
            raise failure(command, found, process) from None
    finally:
        scratch.remove()


def _files(folder: Path, task: Task) -> dict[str, str]:
    """Write the two input files and name everything the program is told."""
    train, test = folder / "train.csv", folder / "test.csv"
    train.write_text(to_csv(task.train), encoding="utf-8")
    test.write_text(to_csv(task.test), encoding="utf-8")
    return {
        "train": str(train),
        "test": str(test),
        "predictions": str(folder / "predictions.csv"),
        "seed": str(task.seed),
    }


def _wait(process: Process, timeout: float | None) -> Problem | None:
    with Watchdog(timeout, process.kill) as watchdog:
        status = process.popen.wait()
    if watchdog.expired:
        return Late(f"did not finish within {exactly(timeout)} s and was killed")
    return Problem(f"failed ({process.ending()})") if status else None
