"""Guides for readers of the code name files that exist, and the way that a row really takes."""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path

import pytest

import poise
from shared.paths import ROOT
from shared.processes import python

SOURCE = Path(poise.__file__).parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.+) \| (`.+`) \|$", GUIDE, flags=re.MULTILINE)
WALK = re.findall(r"^\d+\. `(.+?)`: ", GUIDE, flags=re.MULTILINE)


def _paths(text: str) -> list[str]:
    return re.findall(r"`([\w/]+(?:\.py|/))`", text)


BESIDE = _paths(GUIDE[GUIDE.index("\nThese files are shown") : GUIDE.index("\n## Laws")])


@pytest.mark.parametrize(("change", "files"), TABLE, ids=[change for change, _ in TABLE])
def test_the_table_names_files_that_exist(change: str, files: str) -> None:
    paths = _paths(files)
    assert paths
    assert [path for path in paths if not (SOURCE / path).is_file()] == []


def _fits_the_algorithm(path: Path) -> bool:
    """Say whether a file trains the algorithm of the user, or an unfitted copy of it."""
    calls = [
        n.func for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)
    ]
    trained = [f.value for f in calls if isinstance(f, ast.Attribute) and f.attr in _TRAINS]
    return any(
        re.search(r"algorithm$|^unfitted$|^cloned?\(", ast.unparse(whose)) for whose in trained
    )


_TRAINS = ("fit", "fit_with")
_MAY_TRAIN = ("algorithms", "running", "simulation")  # wrappers, the workers, made-up worlds


def test_the_guide_names_all_who_call_user_code_outside_a_test() -> None:
    paths = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    others = [path for path in paths if path.parts[0] not in _MAY_TRAIN]
    found = {path.as_posix() for path in others if _fits_the_algorithm(SOURCE / path)}
    shape = GUIDE[GUIDE.index("## The shape of the code") : GUIDE.index("## Where to look")]
    named = set(_paths(shape[shape.index("What is no test") : shape.index("Each folder")]))
    assert found == named


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 30


def test_the_guides_name_paths_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    reading = readme[readme.index("## Reading the code") :]
    for path in [*_paths(GUIDE), *_paths(reading)]:
        assert (SOURCE / path).exists() or (ROOT / path).exists(), path
    assert len(_paths(reading)) >= 4
    assert (ROOT / re.findall(r"pytest (tests/\S+\.py)", GUIDE)[0]).is_file()


def test_a_row_goes_through_fewer_than_30_files() -> None:
    assert len(WALK) < 30
    assert len(WALK) + len(BESIDE) <= 70


def test_a_row_goes_one_way_but_for_what_a_room_asks_of_another() -> None:
    """The command reads the row and prints the verdict; between these rooms follow each other."""
    rooms = [room for room, _ in groupby(path.partition("/")[0] for path in WALK)]
    asked = {"questions": "data", "running": "algorithms", "results": "theory"}
    way = "data cli questions procedures protocol running results cli"
    there_and_back = " ".join(f"{room} {asked[room]} {room}" if room in asked else room
                              for room in way.split())  # fmt: skip
    assert rooms == there_and_back.split()


def test_no_file_is_named_twice() -> None:
    assert len({*WALK, *BESIDE}) == len(WALK) + len(BESIDE)


def test_the_guide_names_every_file_that_handles_the_row_and_no_other(tmp_path: Path) -> None:
    # In a process of its own: what other tests have imported or changed must not matter.
    done = python(str(Path(__file__).parent / "shared" / "row_trace.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted([*WALK, *BESIDE]) == done.stdout.split()
