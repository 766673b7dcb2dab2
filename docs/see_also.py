"""Add "See also" to the pages of the reference whose docstring has none.

The pages under ``reference/`` put what belongs together under one heading. So each object is
followed by the others of its heading, and nobody has to keep 180 lists up to date.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parent / "reference"
_MODULE = ".. currentmodule:: "


def sections(text: str) -> list[list[str]]:
    """Return the full names under each heading of a page of the reference."""
    found: list[list[str]] = [[]]
    module = ""
    for line, below in zip(text.splitlines(), [*text.splitlines()[1:], ""], strict=True):
        if below and set(below) <= set("-="):
            found.append([])
        elif line.startswith(_MODULE):
            module = line.removeprefix(_MODULE)
        elif re.fullmatch(r"   [\w.]+", line):
            found[-1].append(f"{module}.{line.strip()}")
    return [names for names in found if names]


@cache
def neighbours() -> dict[str, list[str]]:
    """Return what stands under the same heading as each documented object."""
    return {
        name: [other for other in names if other != name]
        for page in sorted(REFERENCE.glob("*.rst"))
        for names in sections(page.read_text(encoding="utf-8"))
        for name in names
    }


def add(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Append the section to a docstring, for numpydoc to put it where it belongs."""
    others = neighbours().get(name, [])
    if others and "See Also" not in lines:
        module = name.rpartition(".")[0] + "."
        lines += ["", "See Also", "--------", ", ".join(o.removeprefix(module) for o in others), ""]
