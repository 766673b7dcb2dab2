"""Commands that read one table from many files: a folder, a pattern, an address."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest

import poise.data.files.read_table
from poise import StabilityResult

ASKED = "--target price --algorithm sklearn.linear_model:Ridge --n 20 --seed 0"
QUESTION = "--epsilon 1 --delta 0.2"


@pytest.fixture
def rows(run, tmp_path, monkeypatch) -> pd.DataFrame:
    """Folders pieces/ and hive/, memory://pieces, and the same rows in one.parquet."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=660), "year": np.arange(660) // 330})
    frame["price"] = 2 * frame["size"] + rng.normal(size=660)
    frame.to_parquet("one.parquet")
    system = fsspec.filesystem("memory")
    Path("pieces").mkdir()
    for number in range(3):
        part = frame.iloc[220 * number : 220 * (number + 1)]
        part.to_parquet(f"pieces/part-{number}.parquet")
        with system.open(f"/pieces/part-{number}.parquet", "wb") as file:
            part.to_parquet(file)
    for year, part in frame.groupby("year"):
        Path(f"hive/year={year}").mkdir(parents=True)
        part[["size", "price"]].to_parquet(f"hive/year={year}/rows.parquet")
    yield frame
    system.store.clear()


PLACES = ["pieces", "pieces/", "pieces/*.parquet", "memory://pieces", "file://{}/pieces", "hive"]


@pytest.mark.parametrize("large", [False, True])
def test_the_same_result_as_from_one_file(run, rows, tmp_path, monkeypatch, large) -> None:
    if large:
        monkeypatch.setattr(poise.data.files.read_table, "_LARGE_BYTES", 0)
    expected = run(f"test one.parquet {ASKED} {QUESTION} --json --save one.trials")
    changes = poise.Trials.load("one.trials").changes
    for place in PLACES:
        done = run(f"test {place.format(tmp_path)} {ASKED} {QUESTION} --json --save t.trials")
        assert done.exit_code == 0, done.output
        assert StabilityResult.from_json(done.stdout) == StabilityResult.from_json(expected.stdout)
        assert poise.Trials.load("t.trials").changes.tobytes() == changes.tobytes()


def test_the_json_has_a_digest_of_every_file(run, rows) -> None:
    files = [Path(f"pieces/part-{number}.parquet") for number in range(3)]
    wanted = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    for place in ("pieces", "memory://pieces"):
        done = run(f"test {place} {ASKED} {QUESTION} --json")
        digests = json.loads(done.stdout)["run"]["digests"]
        expected = {name.replace("pieces", place): digest for name, digest in wanted.items()}
        assert digests == expected


def test_unlabelled_rows_profiles_and_advice_from_folders(run, rows) -> None:
    one = run(f"profile one.parquet {ASKED} --unlabeled pieces/ --json")
    two = run(f"profile pieces/ {ASKED} --unlabeled memory://pieces --json")
    assert one.exit_code == 0, one.output
    assert two.exit_code == 0, two.output
    found, expected = (json.loads(each.stdout) for each in (two, one))
    del found["run"], expected["run"]
    assert found == expected
    done = run("advise pieces/*.parquet --target price --algorithm sklearn.linear_model:Ridge")
    assert done.exit_code == 0, done.output


def test_fresh_rows_and_new_rows_from_folders(run, rows) -> None:
    asked = "--target price --algorithm sklearn.linear_model:Ridge"
    deployed = "--epsilon 1 --delta 0.2 --seed 0 --json"
    fresh = run(f"deployed hive/year=0 {asked} --fresh hive/year=1/*.parquet {deployed}")
    assert fresh.exit_code in (0, 1), fresh.output
    known = run(f"deployed hive {asked} --fresh memory://pieces/*.parquet {deployed}")
    assert known.exit_code == 2
    assert "(row 0 of memory://pieces/part-0.parquet (counting from 0) is one)" in known.stderr
    done = run(f"intervals pieces {asked} --new hive --table found.csv")
    assert done.exit_code == 0, done.output
    assert len(pd.read_csv("found.csv")) == len(rows)


def test_a_file_of_questions_names_folders_and_addresses(run, rows) -> None:
    content = """
    data = {file = "%s", target = "price", unlabeled = "%s"}
    algorithms.ridge.use = "sklearn.linear_model:Ridge"
    questions = [{n = 20, epsilon = 1.0, delta = 0.2, seed = 0}]
    """
    answers = []
    for file, more in (("one.parquet", "pieces"), ("memory://pieces", "pieces/*.parquet")):
        Path("asked.toml").write_text(content % (file, more), encoding="utf-8")
        done = run("run asked.toml --json")
        assert done.exit_code == 0, done.output
        answers.append(json.loads(done.stdout)["answers"])
    assert answers[0] == answers[1]


def test_a_certificate_of_a_folder_is_verified_with_one_file(run, rows) -> None:
    assert run(f"test pieces {ASKED} {QUESTION} --certificate c.json").exit_code == 0
    asked = "--target price --algorithm sklearn.linear_model:Ridge"
    for place in ("one.parquet", "pieces/*.parquet", "memory://pieces"):
        done = run(f"verify c.json --data {place} {asked}")
        assert done.exit_code == 0, done.output


def test_a_journal_continues_from_wherever_the_rows_are_read(run, rows) -> None:
    first = run(f"test pieces {ASKED} {QUESTION} --json --journal run.jsonl")
    again = run(f"test one.parquet {ASKED} {QUESTION} --json --journal run.jsonl")
    assert again.exit_code == 0, again.output
    found, expected = (StabilityResult.from_json(each.stdout) for each in (again, first))
    assert found == expected


def test_no_file_of_a_folder_is_replaced(run, rows) -> None:
    for place in ("pieces", "pieces/*.parquet"):
        done = run(f"test {place} {ASKED} {QUESTION} --save pieces/part-1.parquet --force")
        assert done.exit_code == 2
        assert "--save pieces/part-1.parquet would replace another file" in done.stderr
    assert len(pd.read_parquet("pieces/part-1.parquet")) == 220


def test_a_message_about_a_row_names_its_file(run, rows) -> None:
    part = pd.read_parquet("pieces/part-1.parquet").reset_index(drop=True)
    part.loc[[12], "price"] = np.nan
    part.to_parquet("pieces/part-1.parquet")
    done = run(f"test pieces {ASKED} {QUESTION}")
    assert done.exit_code == 2
    assert "row 12 of pieces/part-1.parquet (counting from 0)" in " ".join(done.stderr.split())
    part.loc[[12], "price"] = 1.0
    part.loc[[13], "size"] = np.nan
    part.to_parquet("pieces/part-1.parquet")
    done = run(f"test pieces {ASKED} {QUESTION}")
    assert done.exit_code == 2
    assert "row 13 of pieces/part-1.parquet (counting from 0)" in " ".join(done.stderr.split())


def test_files_that_do_not_belong_together(run, rows) -> None:
    pd.DataFrame({"size": ["a"], "year": [1], "price": [1.0]}).to_parquet("pieces/z.parquet")
    done = run(f"test pieces {ASKED} {QUESTION}")
    assert done.exit_code == 2
    message = " ".join(done.stderr.split())
    assert "pieces/part-0.parquet and pieces/z.parquet must have the same columns" in message
