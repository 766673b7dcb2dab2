"""What two test files need stands once, in ``tests/shared``."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
# A function or class of a module, with the lines that belong to it. To parse only those whose
# name is there twice takes a tenth of the time.
DEFINITION = re.compile(r"^(?:def|class) (?!test_)_*(\w+).*\n(?:(?:[ \t)].*)?\n)*", re.MULTILINE)


def _definitions() -> dict[str, list[tuple[str, str]]]:
    """Return (file, text) of the functions and classes of each name."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        for match in DEFINITION.finditer(path.read_text(encoding="utf-8")):
            found[match[1]].append((path.relative_to(TESTS).as_posix(), match[0]))
    return found


def _content(text: str) -> str:
    """Return what a definition does: neither its annotations nor what it says of itself."""
    [node] = ast.parse(text).body
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part):
            part.body = part.body[1:] or [ast.Pass()]
        for annotation in {"annotation", "returns"} & set(part._fields):
            setattr(part, annotation, None)
    node.name = ""
    return ast.dump(node)


def _copies(definitions: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Return the names that mean the same in two files, with these files."""
    copies = []
    for name, places in definitions.items():
        files = defaultdict(list)
        for file, text in places if len(places) > 1 else []:
            files[_content(text)].append(file)
        copies += [f"{name}: {', '.join(same)}" for same in files.values() if len(set(same)) > 1]
    return copies


def test_no_function_or_class_stands_in_two_files() -> None:
    assert not _copies(_definitions())


def test_a_copy_is_found_whatever_it_says_of_itself() -> None:
    first = 'def mean(X: Any) -> float:\n    """Return it."""\n\n    return X.mean()\n'
    second = "def _mean(X):\n    return X.mean()\n"
    other = "def mean(X):\n    return np.mean(X)\n"
    same = {"mean": [("a.py", first), ("b.py", second), ("c.py", other)]}
    assert _copies(same) == ["mean: a.py, b.py"]
    assert DEFINITION.findall(f"{first}\n\n{second}{other}") == ["mean", "mean", "mean"]
