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
        Reads a path, or the bytes of a file where poise itself opens none; it returns a valid
        object or raises an error of poise.
    damages : tuple of callables
        Ways to damage a sample; one of them is chosen.
    use : callable
        Does everything with an object that one can do with a valid one.
    draw : callable
        Draws it, where it can be drawn.
    takes_bytes : bool
        Whether ``read`` takes bytes: to write and open thousands of files would take longer than
        to read what is in them.
    """

    name: str
    ending: str
    samples: tuple[bytes, ...]
    read: Callable[[Any], Any]
    damages: tuple[Damage, ...]
    use: Callable[[Any], object] = lambda found: None
    draw: Callable[[Any], object] = lambda found: None
    takes_bytes: bool = False

    def read_content(self, content: bytes, path: Path) -> Any:
        """Read what such a file holds; ``path`` is where it is put if there must be a file."""
        if self.takes_bytes:
            return self.read(content)
        path.unlink(missing_ok=True)  # a file written over is put on the disk at once: that waits
        path.write_bytes(content)
        return self.read(path)

    def damaged(self, chance: Random) -> bytes:
        """Return one damaged file."""
        return chance.choice(self.damages)(chance.choice(self.samples), chance)


def file_written(write: Callable[[Path], object], ending: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"sample{ending}"
        write(path)
        return path.read_bytes()
