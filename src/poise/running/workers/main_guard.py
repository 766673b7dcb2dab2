"""Refuse a script without ``if __name__ == "__main__":`` if new workers would run it again."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import FrameType

from poise.errors import ArgumentError

__all__ = ["is_guarded", "require_main_guard"]


def require_main_guard(backend: str) -> None:
    """Refuse to start processes that would import the user's script, and run it, once more."""
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    frame = _frame_of_script(script)
    if script is None or frame is None or not Path(script).is_file():
        return  # a notebook or a prompt: nothing there that could be imported
    if not is_guarded(Path(script).read_text(encoding="utf-8", errors="replace"), frame.f_lineno):
        raise ArgumentError(
            f"backend={backend!r} starts processes that import {Path(script).name} and would run "
            'it again: put what is to run below  if __name__ == "__main__":'
        )


def _frame_of_script(script: str | None) -> FrameType | None:
    """Return where the script itself is, if this call comes from it."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename == script:
            return frame if frame.f_globals.get("__name__") == "__main__" else None
        frame = frame.f_back
    return None


def is_guarded(text: str, line: int) -> bool:
    r"""Tell whether a line of a script is run only where the script is the main program.

    Examples
    --------
    >>> is_guarded("import poise\npoise.measure()", 2)
    False
    >>> is_guarded("if __name__ == '__main__':\n    poise.measure()", 2)
    True
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a notebook's own language: not ours to judge
        return True
    return any(
        isinstance(node, ast.If)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
        for node in ast.walk(tree)
    )
