"""Guides for readers of the code name files that exist, and the way that a row really takes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import poise
from shared.paths import ROOT

SOURCE = Path(poise.__file__).parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.+) \| (`.+`) \|$", GUIDE, flags=re.MULTILINE)
WALK = re.findall(r"^\d+\. `(.+?)`: ", GUIDE, flags=re.MULTILINE)


def _paths(text: str) -> list[str]:
    return re.findall(r"`([\w/]+(?:\.py|/))`", text)


@pytest.mark.parametrize(("wish", "files"), TABLE, ids=[wish for wish, _ in TABLE])
def test_the_table_names_files_that_exist(wish: str, files: str) -> None:
    paths = _paths(files)
    assert paths
    assert [path for path in paths if not (SOURCE / path).is_file()] == []


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 30


def test_the_guides_name_paths_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    reading = readme[readme.index("## Reading the code") :]
    for path in [*_paths(GUIDE), *_paths(reading)]:
        assert (SOURCE / path).exists() or (ROOT / path).exists(), path
    assert len(_paths(reading)) >= 4
    assert (ROOT / re.findall(r"pytest (tests/\S+\.py)", GUIDE)[0]).is_file()


def test_a_row_goes_one_way_through_fewer_than_30_files() -> None:
    assert 20 <= len(set(WALK)) == len(WALK) < 30
    first = [
        WALK.index(next(path for path in WALK if path.startswith(room)))
        for room in ("data/", "questions/", "running/", "results/", "cli/")
    ]
    assert first == sorted(first)


# In a process of its own: what other tests have imported or changed must not matter.
# What others wrote is imported before calls are noted: each would be a call into this script.
PROFILED = """
import inspect, sys
import pandas, scipy.stats, sklearn.tree
from click.testing import CliRunner
from poise.cli import main
entered = set()
def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # no bodies of classes
        entered.add(frame.f_code.co_filename)
words = "test rows.csv --target y --algorithm sklearn.tree:DecisionTreeRegressor --n 20 "
sys.setprofile(note)
done = CliRunner().invoke(main, (words + "--epsilon 1 --delta 0.5 --seed 0").split())
sys.setprofile(None)
assert done.exit_code in (0, 1), done.output
print("\\n".join(entered))
"""


def test_every_file_on_the_way_takes_part_in_a_real_run(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(120, 2))
    lines = "".join(f"{x},{y}\n" for x, y in rows)
    (tmp_path / "rows.csv").write_text("x,y\n" + lines, encoding="utf-8")
    said = subprocess.check_output([sys.executable, "-c", PROFILED], cwd=tmp_path, text=True)
    assert [path for path in WALK if str(SOURCE / path) not in said.splitlines()] == []


FOLDERS = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(path.relative_to(SOURCE)) for path in FOLDERS])
def test_the_map_of_a_folder_names_its_files(folder: Path) -> None:
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = re.findall(r"^    (\w+)/?  +\S", text, flags=re.MULTILINE)
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert sorted(named) == sorted(files | folders)
