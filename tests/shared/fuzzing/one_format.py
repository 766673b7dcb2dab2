"""One kind of file: its samples, its reader, and the ways to damage it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["Format", "file_written"]

Damage = Callable[[bytes, Random], bytes]


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes
    ----------
    name, ending : str
        What it is called, and how its files end.
    samples : tuple of bytes
        Undamaged files.
    read : callable
        Reads a path; it returns a valid object or raises an error of poise.
    damages : tuple of callables
        Ways to damage a sample; one of them is chosen.
    use : callable
        Does everything with an object that one can do with a valid one.
    draw : callable
        Draws it, where it can be drawn.
    """

    name: str
    ending: str
    samples: tuple[bytes, ...]
    read: Callable[[Path], Any]
    damages: tuple[Damage, ...]
    use: Callable[[Any], object] = lambda found: None
    draw: Callable[[Any], object] = lambda found: None

    def damaged(self, chance: Random) -> bytes:
        """Return one damaged file."""
        return chance.choice(self.damages)(chance.choice(self.samples), chance)


def file_written(write: Callable[[Path], object], ending: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"sample{ending}"
        write(path)
        return path.read_bytes()
