"""Some trials of a certificate computed again, in the same way as the first time."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.arguments import counted
from poise.arguments.printed_numbers import exactly
from poise.errors import ArgumentError
from poise.protocol.messages import FIT_BY_FIT, Batch
from poise.questions.certificates.findings import Findings
from poise.questions.certificates.same_question import origin_of
from poise.questions.measurement import Measurement
from poise.results.trials import Trials

__all__ = ["ChosenTrials", "repeat_trials"]

_MOST_SHOWN = 3


@dataclass(frozen=True)
class ChosenTrials:
    """Which trials are computed again: chosen at random, after the certificate was made.

    Parameters
    ----------
    seed : int
        The seed of the choice. Whoever made the certificate must not know it beforehand.
    numbers : tuple of int
        The trials, counted from 0, in ascending order.

    Examples
    --------
    >>> ChosenTrials.of(100, 3, random_state=7).numbers
    (26, 42, 88)
    >>> ChosenTrials.of(3, "all").numbers
    (0, 1, 2)
    """

    seed: int
    numbers: tuple[int, ...]

    @classmethod
    def of(
        cls, n_observed: int, trials: int | str, random_state: int | None = None
    ) -> ChosenTrials:
        """Choose so many trials, or "all"; with fresh randomness unless a seed is given."""
        if isinstance(trials, str) and trials != "all":
            raise ArgumentError(f"trials must be a whole number >= 1 or 'all', got {trials!r}")
        wanted = n_observed if trials == "all" else int(arguments.count("trials", trials, 1))
        if random_state is None:
            random_state = secrets.randbits(48)
        seed = int(arguments.count("random_state", random_state, 0))
        chosen = np.random.default_rng(seed).permutation(n_observed)[:wanted]
        return cls(seed, tuple(sorted(int(number) for number in chosen)))


def repeat_trials(
    measurement: Measurement,
    trials: Trials,
    epsilon: float,
    chosen: ChosenTrials,
    findings: Findings,
) -> int:
    """Compute the chosen trials again and compare them bit for bit; return how many are equal."""
    numbers = list(chosen.numbers)
    found, path = _computed(measurement, trials, numbers)
    there = trials.changes[numbers]
    other = [k for k in range(len(numbers)) if not _equal(there[k], found[k])]
    if path != trials.design.path:
        findings.differs(
            f"the changes were computed by {trials.design.path!r}, and here by {path!r}"
        )
    if other:
        findings.differs(_about_different(numbers, there, found, other, epsilon))
    elif numbers:
        how = "fit by fit" if path == FIT_BY_FIT else f"by the same shortcut ({path})"
        findings.checked.append(
            f"{len(numbers):,} of {counted(trials.n_observed, 'trial')}, chosen with seed "
            f"{chosen.seed}, were computed again {how}: their changes are equal bit for bit"
        )
        _note_versions(findings)
    return len(numbers) - len(other)


def _computed(
    measurement: Measurement, trials: Trials, numbers: list[int]
) -> tuple[NDArray[np.float64], str]:
    about = measurement.design, measurement.sample, measurement.randomness
    split = measurement.trials.split(*about)
    points = origin_of(trials).decision_points
    oracle = replace(measurement.oracle)  # with counts of its own
    if trials.design.path != FIT_BY_FIT:
        return oracle.answer_some(Batch(split, decision_points=points), numbers)
    if not numbers:
        return np.empty((0, *trials.design.shape)), FIT_BY_FIT
    chosen = [split[number] for number in numbers]
    answers = oracle.answer(Batch(chosen, decision_points=points))
    return answers.changes, answers.path


def _equal(there: NDArray[np.float64], here: NDArray[np.float64]) -> bool:
    return np.array_equal(there, here, equal_nan=True)


def _about_different(
    numbers: list[int],
    there: NDArray[np.float64],
    here: NDArray[np.float64],
    other: list[int],
    epsilon: float,
) -> str:
    """Say how many trials differ, whether that matters for their verdict, and show the first."""
    shown = "; ".join(
        f"trial {numbers[k]} is {_largest(there[k])} in the certificate and {_largest(here[k])} "
        "here"
        for k in other[:_MOST_SHOWN]
    )
    crossed = np.any((there > epsilon) != (here > epsilon), axis=tuple(range(1, there.ndim)))
    sides = "all of them on the same side of" if not crossed.any() else f"{crossed.sum()} across"
    return (
        f"{len(other):,} of {counted(len(numbers), 'repeated trial')} differ, {sides} epsilon = "
        f"{exactly(epsilon)}: {shown}"
    )


def _largest(changes: NDArray[np.float64]) -> str:
    values = np.ravel(changes)
    return repr(float(values[0])) if len(values) == 1 else f"{values.tolist()[:4]}"


def _note_versions(findings: Findings) -> None:
    other = findings.other_versions
    if other:
        findings.checked.append(f"they are equal although versions differ: {', '.join(other)}")
