"""poise test --certificate, poise verify and poise sign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import poise
import poise.data.files.read_table
from poise.results.canonical_json import sha256_of

TEST = (
    "test numbers.csv --target price --drop id --algorithm poise_test_models.py:last "
    "--n 20 --epsilon 1 --delta 0.5 --seed 7"
)
GIVEN = "--data numbers.csv --target price --drop id --algorithm poise_test_models.py:last"


@pytest.fixture
def made(run, tmp_path) -> Path:
    file = tmp_path / "c.json"
    result = run(TEST, "--certificate", str(file))
    assert result.exit_code in (0, 1), result.stderr
    return file


def rewritten(file: Path, digest: bool = True, **parts: Any) -> None:
    content = json.loads(file.read_text(encoding="utf-8")) | parts
    if digest:
        content["digest"] = sha256_of(
            {k: v for k, v in content.items() if k not in ("digest", "signature")}
        )
    file.write_text(json.dumps(content), encoding="utf-8")


def test_verified(run, made) -> None:
    alone = run("verify", str(made))
    assert alone.exit_code == 0, alone.stderr
    assert "not checked: that the changes are those of the algorithm" in alone.stdout
    both = run(f"verify {made} {GIVEN} --trials 10 --seed 5")
    assert both.exit_code == 0, both.stderr
    assert "10 of 31 trials, chosen with seed 5, were computed again" in both.stdout
    assert "(1 - f)^10" in both.stdout
    whole = run(f"verify {made} {GIVEN} --trials all --json")
    found = json.loads(whole.stdout)
    assert (whole.exit_code, found["outcome"], found["n_repeated"]) == (0, "verified", 31)
    assert found["run"]["digests"]
    assert run(f"verify {made} -q").stdout == "verified\n"


def test_the_certificate_is_the_same_with_other_files(run, made, tmp_path) -> None:
    again = tmp_path / "again.json"
    run(TEST, "--certificate", str(again), "--save", str(tmp_path / "t.trials"))
    first, second = (poise.CertificateFile.load(file) for file in (made, again))
    assert first.content["numbers"] == second.content["numbers"]
    assert run("verify", str(again)).exit_code == 0


def test_not_what_it_claims(run, made) -> None:
    content = json.loads(made.read_text(encoding="utf-8"))
    rewritten(made, digest=False, warnings=["none"])
    result = run("verify", str(made))
    assert result.exit_code == 1
    assert result.stdout.startswith("not what it claims: the digest")
    assert len(result.stdout.splitlines()) == 1
    rewritten(made, warnings=[], statement={**content["statement"], "verdict": "unstable"})
    result = run("verify", str(made))
    assert result.exit_code == 1
    assert "follows from the changes" in result.stdout


def test_other_rows_and_other_parameters(run, made) -> None:
    other = run(f"verify {made} {GIVEN.replace('--drop id', '')}")
    assert other.exit_code == 1
    assert "the rows that were given are not those" in other.stdout
    mean = run(f"verify {made} {GIVEN.replace(':last', ':mean')} --param shift=1.0")
    assert mean.exit_code == 1
    assert "algorithm is last in the certificate" in mean.stdout


def test_unreadable(run, made, tmp_path) -> None:
    (tmp_path / "torn.json").write_text(made.read_text(encoding="utf-8")[:500], encoding="utf-8")
    for name in ("torn.json", "none.json", "."):
        result = run(f"verify {tmp_path / name}")
        assert result.exit_code == 2
        assert result.stderr.startswith("poise: ")
        assert len(result.stderr.splitlines()) == 1
    for half in ("--data numbers.csv", "--algorithm poise_test_models.py:last"):
        assert run(f"verify {made} {half}").exit_code == 2
    assert run(f"verify {made} {GIVEN} --trials none").exit_code == 2


def test_could_not_be_repeated(run, made) -> None:
    content = json.loads(made.read_text(encoding="utf-8"))
    origin = content["provenance"]
    versions = {**origin["versions"], "numpy": "1.26.0"}
    design = {**content["design"], "n_unlabeled": 1}
    rewritten(made, provenance={**origin, "versions": versions}, design=design)
    assert run(f"verify {made} {GIVEN}").exit_code == 1  # no version of numpy explains that
    rows = "0" * 64  # as if they had been read in another way
    other = {**origin, "versions": versions, "rows": rows}
    rewritten(made, provenance=other, design=content["design"])
    result = run(f"verify {made} {GIVEN}")
    assert result.exit_code == 4
    assert "made with other versions: numpy 1.26.0 (here" in result.stdout
    assert "Verify it again with these versions." in result.stdout


def test_sign(run, made, tmp_path) -> None:
    key = tmp_path / "mine.key"
    assert "keep it to yourself" in run("sign --new-key", str(key)).stdout
    assert run("sign --new-key", str(key)).exit_code == 2
    unsigned = run(f"verify {made} --key {key}.pub")
    assert (unsigned.exit_code, len(unsigned.stdout.splitlines())) == (1, 1)
    done = run(f"sign {made} --key {key}")
    assert done.exit_code == 0, done.stderr
    assert f"it is signed by {key}.pub" in run(f"verify {made} --key {key}.pub").stdout
    assert run(f"sign {made} --key {key}").exit_code == 0  # again, with the same result
    run("sign --new-key", str(tmp_path / "other"))
    wrong = run(f"verify {made} --key {tmp_path / 'other.pub'}")
    assert (wrong.exit_code, len(wrong.stdout.splitlines())) == (1, 1)
    assert "signed by another key" in wrong.stdout
    rewritten(made, warnings=["one more"])
    altered = run(f"verify {made} --key {key}.pub")
    assert (altered.exit_code, len(altered.stdout.splitlines())) == (1, 1)
    assert "the signature does not belong to the content" in altered.stdout


def test_what_is_wrong_is_not_signed(run, made, tmp_path) -> None:
    key = tmp_path / "mine.key"
    run("sign --new-key", str(key))
    content = json.loads(made.read_text(encoding="utf-8"))
    rewritten(made, statement={**content["statement"], "headline": "STABLE: everything"})
    before = made.read_bytes()
    result = run(f"sign {made} --key {key}")
    assert result.exit_code == 1
    assert "is not signed: statement.headline" in result.stderr
    assert made.read_bytes() == before
    for arguments in ("sign", f"sign {made}", f"sign --key {key}", f"sign {made} --new-key x"):
        assert run(arguments).exit_code == 2


def test_a_foreign_file_is_not_replaced(run, tmp_path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text("{}", encoding="utf-8")
    result = run(TEST, "--certificate", str(mine))
    assert result.exit_code == 2
    assert "was not written by poise" in result.stderr
    assert mine.read_text(encoding="utf-8") == "{}"


def test_rows_that_stay_on_disk_have_a_digest(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(poise.data.files.read_table, "_LARGE_BYTES", 0)
    frame = pd.read_csv("numbers.csv")
    frame.to_parquet(tmp_path / "rows.parquet")
    file = tmp_path / "c.json"
    rows = TEST.replace("numbers.csv", str(tmp_path / "rows.parquet"))
    assert run(rows, "--certificate", str(file)).exit_code in (0, 1)
    assert len(poise.CertificateFile.load(file).content["provenance"]["rows"]) == 64
    given = GIVEN.replace("numbers.csv", str(tmp_path / "rows.parquet"))
    assert run(f"verify {file} {given}").exit_code == 0
