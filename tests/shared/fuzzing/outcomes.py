"""What came of reading: a valid object, an error of poise, or a raw error."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from poise.algorithms.program.process import Problem
from poise.errors import PoiseError
from shared.fuzzing.one_format import Format

_REFUSED = (PoiseError, Problem)  # a problem of a program becomes an error of the trial


@dataclass
class Tally:
    """What came of many inputs of one format.

    Attributes
    ----------
    accepted, refused : int
        Inputs that gave a valid object, and inputs that gave an error of poise.
    raw : Counter
        Other errors, by their name and place; with an input for each in ``examples``.
    slowest : float
        Seconds of CPU that one input took at most, and that input in ``slow``.
    """

    accepted: int = 0
    refused: int = 0
    raw: Counter[str] = field(default_factory=Counter)
    examples: dict[str, bytes] = field(default_factory=dict)
    slowest: float = 0.0
    slow: bytes = b""

    @property
    def inputs(self) -> int:
        """All inputs."""
        return self.accepted + self.refused + self.raw.total()


def fuzzed(kind: Format, count: int, seed: object, folder: Path, *, thorough: int = 7) -> Tally:
    """Read so many damaged files of one format.

    Every ``thorough``-th object that comes out is also written, described and asked questions,
    and every tenth of these is drawn.
    """
    chance, tally = Random(f"{kind.name} {seed}"), Tally()
    path = folder / f"damaged{kind.ending}"
    for number in range(count):
        content = kind.damaged(chance)
        _read(kind, content, path, tally, _uses(kind, number, thorough))
    return tally


def _uses(kind: Format, number: int, thorough: int) -> list[Callable[[Any], object]]:
    if number % thorough:
        return []
    return [kind.use] if number % (10 * thorough) else [kind.use, kind.draw]


def _read(
    kind: Format,
    content: bytes,
    path: Path,
    tally: Tally,
    uses: Sequence[Callable[[Any], object]],
) -> None:
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = kind.read_content(content, path)
            for use in uses:
                use(found)
    except _REFUSED:
        tally.refused += 1
    except Exception as error:
        name = f"{type(error).__name__}: {str(error)[:80]} in {_place(error)}"
        tally.raw[name] += 1
        tally.examples.setdefault(name, content)
    else:
        tally.accepted += 1
    took = time.process_time() - began
    if took > tally.slowest:
        tally.slowest, tally.slow = took, content


def _place(error: BaseException) -> str:
    """Name the last line of poise that an error passed through."""
    place, step = "nowhere", error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if "/poise/" in file:
            place = f"{file.rpartition('/poise/')[2]}:{step.tb_lineno}"
        step = step.tb_next
    return place
