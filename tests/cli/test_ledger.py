"""``--ledger`` of the commands with verdicts, ``[ledger]`` of a file, and ``poise ledger``."""

from __future__ import annotations

import json
import shutil

import pytest

ROWS = "numbers.csv --target price --drop id"
RIDGE = "--algorithm sklearn.linear_model:Ridge"
ASKED = "--n 20 --epsilon 0.5 --delta 0.2 --seed 0"

QUESTIONS = """
[data]
file = "numbers.csv"
target = "price"
drop = ["id"]

[ledger]
file = "run.ledger"
rule = "spending"
alpha = 0.1

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"

[algorithms.last]
use = "poise_test_models.py:last"

[defaults]
seed = 0

[[questions]]
n = 20
epsilon = 0.5
delta = 0.2
"""


@pytest.fixture
def ledger(folder):
    path = folder / "a.ledger"
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)


def test_every_command_with_a_verdict_writes_to_it(run, ledger) -> None:
    test = f"test {ROWS} {RIDGE} {ASKED} --ledger a.ledger"
    first = run(test)
    assert first.exit_code == 0, first.output
    assert "This is the first question that was put to these rows (a.ledger)." in first.stdout
    again = run(f"{test} --json --save saved.trials")
    assert json.loads(again.stdout)["ledger"]["n_questions"] == 1  # the same question
    compared = run(
        f"compare {ROWS} {RIDGE} --algorithm poise_test_models.py:last {ASKED} "
        "--test binomial --ledger a.ledger"
    )
    assert compared.exit_code == 1
    assert "These rows have answered 2 questions (a.ledger)." in compared.stdout  # one is old
    curve = run(
        f"curve {ROWS} {RIDGE} --n 10 --n 30 --epsilon 0.5 --delta 0.3 --seed 0 --ledger a.ledger"
    )
    assert curve.exit_code == 0, curve.output
    shown = run("ledger a.ledger")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("a.ledger: 4 questions put to 1 data set")
    assert shown.stdout.count("holds") >= 4
    content = json.loads(run("ledger a.ledger --json").stdout)
    assert [each["asked"]["n"] for each in content["data_sets"][0]] == [20, 20, 10, 30]
    quiet = run("ledger a.ledger -q").stdout.splitlines()
    assert quiet[0].startswith("Ridge(): (0.5, 0.2)-stability at n = 20\tstable\t")


def test_a_repeated_question_is_refused_in_the_words_of_the_command_line(run, ledger) -> None:
    asked = f"test {ROWS} --algorithm poise_test_models.py:last --n 20 --epsilon 0.5 --delta 0.2"
    assert run(f"{asked} --seed 0 --ledger a.ledger -q").exit_code == 1
    refused = run(f"{asked} --seed 1 --ledger a.ledger")
    assert refused.exit_code == 2
    assert "poise monitor" in refused.stderr
    assert "with the same rows and --seed" in refused.stderr
    assert "random_state" not in refused.stderr
    assert run(f"{asked} --seed 0 --ledger a.ledger -q").exit_code == 1


def test_a_verdict_that_does_not_hold_together_has_exit_status_1(run, ledger) -> None:
    begun = run("ledger a.ledger --begin --rule spending --alpha 0.0000001")
    assert begun.exit_code == 0
    assert "online fallback" in begun.stdout
    result = run(f"test {ROWS} {RIDGE} {ASKED} --test binomial --ledger a.ledger --json")
    assert json.loads(result.stdout)["verdict"] == "stable"
    assert result.exit_code == 1
    assert "does not hold at error level 1e-07 together" in result.stderr


def test_rule_and_level_are_decided_at_the_beginning(run, ledger) -> None:
    assert "give --begin" in run("ledger a.ledger --rule holm").stderr
    assert run("ledger a.ledger --begin").exit_code == 0
    changed = run("ledger a.ledger --begin --rule spending")
    assert changed.exit_code == 2
    assert "cannot be changed" in changed.stderr


def test_copies_are_merged_and_damage_is_named(run, ledger, folder) -> None:
    run("ledger a.ledger --begin")
    shutil.copy(ledger, folder / "b.ledger")
    run(f"test {ROWS} {RIDGE} {ASKED} --ledger a.ledger -q")
    run(f"test {ROWS} {RIDGE} --n 10 --epsilon 0.5 --delta 0.2 --seed 0 --ledger b.ledger -q")
    merged = run("ledger a.ledger --merge b.ledger")
    assert "2 questions put to 1 data set" in merged.stdout
    ledger.write_bytes(ledger.read_bytes().replace(b"Ridge()", b"Lasso()"))
    damaged = run("ledger a.ledger")
    assert damaged.exit_code == 2
    assert "does not match its checksum" in damaged.stderr


def test_a_file_of_questions_names_its_ledger(run, folder) -> None:
    (folder / "stability.toml").write_text(QUESTIONS)
    ledger = folder / "run.ledger"
    ledger.unlink(missing_ok=True)
    done = run("run stability.toml")
    assert done.exit_code == 1
    assert "2 questions put to these rows; holds together" in done.stdout
    content = json.loads(run("ledger run.ledger --json").stdout)
    assert (content["rule"], content["alpha"]) == ("spending", 0.1)
    answers = json.loads(run("run stability.toml --json").stdout)["answers"]
    assert [each["result"]["ledger"]["n_questions"] for each in answers] == [2, 2]
    (folder / "stability.toml").write_text(QUESTIONS.replace("seed = 0", "seed = 1"))
    refused = run("run stability.toml")
    assert refused.exit_code == 2
    assert "question 1, last: the question" in refused.stderr


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('rule = "spending"', 'rule = "bonferroni"', "[ledger] rule must be one of"),
        ('file = "run.ledger"', "", "[ledger] file must be text"),
        ("alpha = 0.1", "alfa = 0.1", "unknown key 'alfa' in [ledger]; did you mean 'alpha'?"),
    ],
)
def test_mistakes_in_the_section_are_named(run, folder, before, after, message) -> None:
    (folder / "stability.toml").write_text(QUESTIONS.replace(before, after))
    refused = run("run stability.toml")
    assert refused.exit_code == 2
    assert message in refused.stderr


# Alpha-investing ----------------------------------------------------------------------------

STREAM = """
[data.one]
file = "first.csv"
target = "price"
drop = ["id"]

[data.two]
file = "second.csv"
target = "price"
drop = ["id"]

[ledger]
file = "a.ledger"
rule = "investing"

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"

[[questions]]
data = "one"
seed = 1
n = 10
epsilon = 0.9
delta = 0.25

[[questions]]
data = "two"
seed = 2
n = 10
epsilon = 0.9
delta = 0.25
"""


@pytest.fixture
def halves(folder):
    """Write the rows of numbers.csv as two files without a common row."""
    header, *rows = (folder / "numbers.csv").read_text().splitlines(keepends=True)
    paths = [folder / "first.csv", folder / "second.csv"]
    for path, some in zip(paths, (rows[::2], rows[1::2]), strict=True):
        path.write_text("".join([header, *some]))
    yield paths
    for path in paths:
        path.unlink()


def _test(file: str, seed: int, n: int = 10) -> str:
    question = f"--n {n} --epsilon 0.9 --delta 0.25 --seed {seed} --ledger a.ledger"
    return f"test {file} --target price --drop id {RIDGE} {question}"


def test_alpha_investing_on_fresh_rows(run, ledger, halves) -> None:
    begun = run("ledger a.ledger --begin --rule investing")
    assert begun.exit_code == 0
    assert 'next question has the level 0.02319 for "stable"' in " ".join(begun.stdout.split())
    first = run(_test("first.csv", 1))
    assert first.exit_code == 0, first.output
    assert "marginal false discovery rate" in first.stdout
    for command, word in (
        (_test("numbers.csv", 2), "of these"),
        (_test("second.csv", 1), "Give another --seed"),
        (_test("second.csv", 2, n=60), '"stable" could not hold'),
    ):
        refused = run(command)
        assert refused.exit_code == 2, refused.output
        assert word in refused.stderr
        assert "random_state" not in refused.stderr
    assert run(f"{_test('second.csv', 2)} -q").exit_code == 0
    shown = " ".join(run("ledger a.ledger").stdout.split())
    assert "2 questions put to 2 data sets" in shown
    assert "marginal false discovery rate 0.05 over all of them" in shown
    assert "error level" not in shown
    content = json.loads(run("ledger a.ledger --json").stdout)
    levels = [each["level"] for some in content["data_sets"] for each in some]
    assert levels == pytest.approx([0.0231990, 0.0464839], abs=1e-6)


def test_a_file_of_questions_of_fresh_rows(run, ledger, halves, folder) -> None:
    """They are put together: the second level does not count on the first answer."""
    (folder / "stability.toml").write_text(STREAM.replace('data = "two"', 'data = "one"'))
    refused = run("run stability.toml")
    assert refused.exit_code == 2
    assert "question 2, ridge: the question" in refused.stderr
    content = json.loads(run("ledger a.ledger --json").stdout)
    assert (content["data_sets"], content["wealth"]["stable"]) == ([], pytest.approx(0.0475))
    (folder / "stability.toml").write_text(STREAM)
    done = run("run stability.toml --json")
    assert done.exit_code in (0, 1), done.output
    content = json.loads(run("ledger a.ledger --json").stdout)
    levels = [each["level"] for some in content["data_sets"] for each in some]
    assert levels == pytest.approx([0.0231990, 0.0078545], abs=1e-6)
