"""``--test``, ``--removals`` and ``--points``, on the command line and in files of questions."""

from __future__ import annotations

import json
from pathlib import Path

from poise.arguments.printed_numbers import number
from shared.journals import shorten

ASKED = (
    "test numbers.csv --target price --drop id --seed 3 --n 10 --epsilon 0.5 --delta 0.3 "
    "--algorithm poise_test_models.py:mean --unlabeled more.csv --json --no-stop-early"
)
AVERAGED = f"{ASKED} --test averaged --removals 2 --points 2"


def _found(text: str) -> dict[str, object]:
    content = json.loads(text)
    content.pop("run")  # when, where and how it was called
    return content  # type: ignore[no-any-return]


def test_the_options_reach_the_test(run, folder: Path) -> None:
    found = _found(run(AVERAGED).stdout)
    assert (found["test"], found["removals"], found["points"]) == ("averaged", 2, 2)
    paper = _found(run(f"{ASKED} --test binomial").stdout)
    assert paper["test"] == "binomial"
    assert "removals" not in paper
    refused = run(f"{ASKED} --test binomial --points 2")
    assert refused.exit_code == 2
    assert "(--points 2) need --test averaged: the Binomial test has one" in refused.stderr
    assert run(f"{ASKED} --removals 11").exit_code == 2


def test_a_run_with_tables_of_changes_is_resumed(run, folder: Path) -> None:
    whole = _found(run(f"{AVERAGED} --journal run.jsonl").stdout)
    lines = (folder / "run.jsonl").read_bytes()
    shorten(folder / "run.jsonl", 4)
    assert json.loads(run("status run.jsonl --json").stdout)["trials"] == 4
    assert _found(run("resume run.jsonl --yes").stdout) == whole
    assert (folder / "run.jsonl").read_bytes() == lines


IN_A_FILE = """
data = {{file = "numbers.csv", target = "price", drop = ["id"], unlabeled = "more.csv"}}
algorithms.mean.use = "poise_test_models.py:mean"

[[questions]]
n = 10
epsilon = {epsilon}
delta = 0.3
seed = 3
stop_early = false
test = "averaged"
removals = 2
points = 2
"""


def test_a_file_of_questions_has_them_too(run, folder: Path) -> None:
    (folder / "asked.toml").write_text(IN_A_FILE.format(epsilon=0.5))
    (answer,) = json.loads(run("run asked.toml --json").stdout)["answers"]
    result, alone = answer["result"], _found(run(AVERAGED).stdout)
    for name in ("test", "removals", "points", "verdict", "statistic", "delta_hat"):
        assert result[name] == alone[name]


def test_shares_are_shown_alike_by_run_compare_and_status(run, folder: Path) -> None:
    """A sum of shares is no number of trials: "1 of 13" would read as one trial."""
    (folder / "shares.toml").write_text(IN_A_FILE.format(epsilon=0.1))
    asked = AVERAGED.replace("--epsilon 0.5", "--epsilon 0.1")
    found = _found(run(f"{asked} --journal shares.jsonl").stdout)
    share = number(found["n_exceeding"] / found["n_observed"])
    assert 0 < float(share) < 1
    compared = asked.replace("test numbers", "compare numbers").replace(" --json", "")
    for command in ("run shares.toml", compared.replace(" --no-stop-early", "")):
        shown = run(command).stdout
        assert "mean share" in shown
        assert "larger changes" not in shown
        assert f" {share} " in shown
    assert f"mean share {share}" in " ".join(run("status shares.jsonl").stdout.split())


def test_one_change_a_trial_in_the_averaged_test_is_a_share(run, folder: Path) -> None:
    """What a trial answers with follows from the test, not from how many changes it holds."""
    asked = f"{ASKED} --test averaged --removals 1 --points 1".replace("0.5 --delta", "0.1 --delta")
    found = _found(run(f"{asked} --journal single.jsonl").stdout)
    share = number(found["n_exceeding"] / found["n_observed"])
    assert 0 < float(share) < 1
    shown = " ".join(run("status single.jsonl").stdout.split())
    assert f"mean share {share} failed trials" in shown
    assert "larger changes" not in shown


def test_status_counts_the_trials_of_the_papers_test(run, folder: Path) -> None:
    asked = f"{ASKED} --test binomial".replace("0.5 --delta", "0.1 --delta")
    found = _found(run(f"{asked} --journal paper.jsonl").stdout)
    assert found["statistic"] > 0
    shown = " ".join(run("status paper.jsonl").stdout.split())
    assert f"larger changes {found['statistic']:.0f} failed trials" in shown
    assert "mean share" not in shown
