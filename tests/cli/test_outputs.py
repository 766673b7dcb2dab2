"""Files that commands write: never over the input, nor over what poise did not write."""

from __future__ import annotations

from pathlib import Path

import pytest

import poise

TEST = (
    "test numbers.csv --target price --unlabeled more.csv --drop id --n 20 --epsilon 0.5 "
    "--delta 0.2 -q --algorithm poise_test_models.py:mean "
    "--distance poise_test_models.py:far --no-look --save"
)


@pytest.mark.parametrize(
    "name",
    ["numbers.csv", "./more.csv", "poise_test_models.py", "../{folder}/numbers.csv", "link.csv"],
)
@pytest.mark.parametrize("force", ["", " --force"])
def test_no_output_is_an_input(run, folder: Path, name: str, force: str) -> None:
    (folder / "link.csv").unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder / "numbers.csv")
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    result = run(f"{TEST} {name.format(folder=folder.name)}{force}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must not be a file that this command reads" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == before


def test_files_of_poise_are_replaced_and_others_are_not(run, folder: Path) -> None:
    ask = TEST.replace(" --distance poise_test_models.py:far", "")
    for name in ("mine.json", "more.json"):
        assert run(f"{ask} {name}").exit_code == 0
    assert run(f"{ask} mine.json").exit_code == 0
    assert poise.load(folder / "mine.json").verdict == "stable"
    mine = '{"about": "poise", "name": "poise result"}'
    (folder / "notes.json").write_text(mine)
    refused = run(f"{ask} notes.json")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--save exists and was not written by poise, got 'notes.json'" in refused.stderr
    assert (folder / "notes.json").read_text() == mine
    assert run(f"{ask} notes.json --force").exit_code == 0
    assert poise.load(folder / "notes.json").verdict == "stable"
    shown = run("show notes.json --epsilon 1 --delta 0.5 --save notes.json --force")
    assert "--save must not be a file that this command reads" in shown.stderr
    (folder / "tree.json").write_text("mine")
    assert "exists and was not written by poise" in run("demo --output .").stderr


def test_places_where_nothing_can_be_written_are_refused_before_the_first_fit(run) -> None:
    failing = TEST.replace(":mean", ":failing")  # its first fit would end with status 3
    for name, said in [
        ("/proc/x.json", "cannot be written"),
        ("/dev/null", "must be a regular file"),
        ("", "must be a regular file"),
        ("nowhere/x.json", "there is no folder nowhere"),
        ("numbers.csv/x.json", "there is no folder numbers.csv"),
    ]:
        result = run(failing, name)
        assert result.exit_code == 2, name
        assert said in result.stderr, name


def test_an_answer_that_cannot_be_saved_is_printed_all_the_same(run, folder, monkeypatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = run(f"{TEST.replace(' --distance poise_test_models.py:far', '')} unsaved.json")
    assert (result.exit_code, result.stdout) == (2, "stable\n")
    assert "unsaved.json cannot be written: No space left on device" in result.stderr
    assert not (folder / "unsaved.json").exists()
