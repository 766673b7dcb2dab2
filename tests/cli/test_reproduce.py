"""``poise reproduce``, run on a small part of the paper."""

from __future__ import annotations

import json
from pathlib import Path

from poise.cli.reproduce import described
from poise.simulation.paper import Claim
from poise.simulation.paper.reproduce import SECTIONS


def test_a_section_is_reproduced_and_written(run, tmp_path: Path) -> None:
    result = run("reproduce --only 4.2 --jobs 1 --share 0.05 --output", str(tmp_path / "table"))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Theorem 2: integer kappa, first regime: the Binomial test attains")
    assert lines[1] == "    pass   expected all of 252, measured 252"
    assert lines[-1] == f"13 of 13 claims pass. Figures and table: {tmp_path / 'table'}/"
    assert max(map(len, lines[:-1])) <= 80
    written = json.loads((tmp_path / "table" / "reproduction.json").read_text(encoding="utf-8"))
    assert written["passed"]
    assert len(written["claims"]) == 13
    assert [Path(path).suffix for path in written["figures"]] == [".png"] * 3
    assert all(Path(path).stat().st_size > 10_000 for path in written["figures"])


def test_as_json_without_figures(run, tmp_path: Path) -> None:
    options = "reproduce --only 4.2 --share 0.05 --jobs 1 --no-figures --json --output"
    result = run(options, str(tmp_path))
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert content["figures"] == []
    assert {claim["section"] for claim in content["claims"]} >= {"Theorem 2"}
    assert [path.name for path in tmp_path.iterdir()] == ["reproduction.json"]


def test_a_claim_that_fails_is_status_1_and_says_so(run, tmp_path: Path, monkeypatch) -> None:
    bad = Claim("9", "pigs fly", "all of 3", "0", False)
    monkeypatch.setitem(SECTIONS, "4.2", lambda effort: [bad])
    result = run("reproduce --only 4.2 --no-figures --output", str(tmp_path))
    assert result.exit_code == 1
    assert "9: pigs fly\n    FAIL   expected all of 3, measured 0\n" in result.stdout
    assert f"0 of 1 claims pass. Table: {tmp_path}/" in result.stdout
    assert run("reproduce --only 4.2 --no-figures --json --output", str(tmp_path)).exit_code == 1


def test_every_section_can_be_named_and_no_other(run, tmp_path: Path, monkeypatch) -> None:
    for name in SECTIONS:
        monkeypatch.setitem(SECTIONS, name, lambda effort: [])
        assert run(f"reproduce --only {name} --no-figures --output", str(tmp_path)).exit_code == 0
    wrong = run("reproduce --only 7 --output", str(tmp_path))
    assert wrong.exit_code == 2
    assert "'7' is not one of '2', '2.3'" in wrong.stderr
    assert run("reproduce --share 0 --output", str(tmp_path)).exit_code == 2


def test_long_claims_are_wrapped_and_aligned() -> None:
    claim = Claim("3.1", "word " * 30, "0.1000", "0.0987 [0.0000, 0.2000]", True)
    lines = described(claim, 60).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert [line[:4] for line in lines] == ["3.1:", "    ", "    ", "    "]
    assert lines[-1] == "    pass   expected 0.1000, measured 0.0987 [0.0000, 0.2000]"
