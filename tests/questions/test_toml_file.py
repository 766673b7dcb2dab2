"""Files of questions: what they may hold, and how clearly everything else is refused."""

from __future__ import annotations

import pytest

from poise.errors import ArgumentError
from poise.questions.toml_file import read_config
from shared.paths import ROOT

GOOD = """
[data]
file = "rows.csv"
target = "price"
drop = ["id"]

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"
params = { alpha = 2.0 }

[algorithms.script]
program = "Rscript lm.R {train} {test} {predictions}"
timeout = 10

[defaults]
alpha = 0.1
seed = 7

[[questions]]
n = 20
epsilon = 0.5
delta = 0.2

[[questions]]
name = "strict"
algorithms = ["ridge"]
n = 30
epsilon = 0.1
delta = 0.05
alpha = 0.01
jobs = 2
"""


@pytest.fixture
def read(tmp_path):
    def write_and_read(text: str):
        path = tmp_path / "stability.toml"
        path.write_text(text, encoding="utf-8")
        return read_config(path)

    return write_and_read


def test_everything_is_read(read, tmp_path) -> None:
    config = read(GOOD)
    data = config.data["data"]
    assert (data.file, data.target, data.drop) == (tmp_path / "rows.csv", "price", ("id",))
    assert data.unlabeled is data.groups is None
    ridge, script = config.algorithms["ridge"], config.algorithms["script"]
    assert (ridge.use, ridge.params) == ("sklearn.linear_model:Ridge", {"alpha": 2.0})
    assert (script.use, script.options, script.folder) == (None, {"timeout": 10}, tmp_path)
    first, second, third = config.questions
    assert (first.name, first.algorithm, first.data) == ("question 1", "ridge", "data")
    assert second.algorithm == "script"
    asked = {"n": 20, "epsilon": 0.5, "delta": 0.2, "alpha": 0.1, "random_state": 7}
    assert first.settings == second.settings == asked
    assert (third.name, third.algorithm) == ("strict", "ridge")
    assert (third.settings["alpha"], third.settings["n_jobs"]) == (0.01, 2)


def test_several_tables_are_told_apart_by_name(read, tmp_path) -> None:
    text = GOOD.replace("[data]", "[data.homes]").replace(
        "[algorithms.ridge]", '[data.flats]\nfile = "flats.csv"\n[algorithms.ridge]'
    )
    with pytest.raises(ArgumentError, match=r"\[\[questions\]\] 1 needs data, one of: homes, fla"):
        read(text)
    config = read(text.replace("[[questions]]", '[[questions]]\ndata = "flats"'))
    assert {q.data for q in config.questions} == {"flats"}
    assert config.data["flats"].file == tmp_path / "flats.csv"
    with pytest.raises(ArgumentError, match="no 'falts'; did you mean 'flats'"):
        read(text.replace("[[questions]]", '[[questions]]\ndata = "falts"'))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[defaults]", "[default]", "unknown key 'default'; did you mean 'defaults'?"),
        ("target =", "tarqet =", r"unknown key 'tarqet' in \[data\]; did you mean 'target'"),
        ("use =", "uses =", r"unknown key 'uses' in \[algorithms.ridge\]; did you mean 'use'"),
        ("delta = 0.2", "detla = 0.2", r"'detla' in \[\[questions\]\] 1; did you mean 'delta'"),
        ("seed = 7", "sead = 7", r"unknown key 'sead' in \[defaults\]; did you mean 'seed'"),
        ("seed = 7", "random_state = 7", "unknown key 'random_state'.*Possible keys: n, epsilon"),
        ("seed = 7", 'journal = "j"', r"unknown key 'journal' in \[defaults\]"),
        ("delta = 0.2\n", "\n", r"\[\[questions\]\] 1 needs delta"),
        (
            '["ridge"]',
            '["rigde"]',
            r"algorithms: no 'rigde'; did you mean 'ridge'\? There are: rid",
        ),
        ('["ridge"]', '"ridge"', "must be a list of texts, got 'ridge'"),
        ('file = "rows.csv"', "file = 7", r"\[data\] file must be text, got 7"),
        ('file = "rows.csv"\n', "", r"\[data\] needs file"),
        ('drop = ["id"]', "drop = [1]", r"\[data\] drop must be text, got 1"),
        ("{ alpha = 2.0 }", "2.0", "params must be a table"),
        ('use = "sklearn.linear_model:Ridge"\n', "", "needs either use = .* or program"),
        ("timeout = 10", "params = {}", "params are for use"),
        ("params = { alpha", 'mode = "serving"\nparams = { alpha', "unknown key 'mode' in"),
        ('name = "strict"', "name = 3", "name must be text, got 3"),
        ("[data]", "[data", "is not a TOML file"),
    ],
)
def test_mistakes_are_named_with_their_place(read, old, new, message) -> None:
    assert old in GOOD
    with pytest.raises(ArgumentError, match=message) as caught:
        read(GOOD.replace(old, new, 1))
    assert "stability.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("data", r"needs a section \[data\]"),
        ("algorithms", r"needs a section \[algorithms.NAME\]"),
        ("questions", r"at least one \[\[questions\]\]"),
    ],
)
def test_each_section_is_needed(read, section, message) -> None:
    parts = {
        "data": 'data = {file = "rows.csv"}',
        "algorithms": 'algorithms.a.use = "m:n"',
        "questions": "questions = [{n = 5, epsilon = 1, delta = 0.1}]",
    }
    read("\n".join(parts.values()))
    del parts[section]
    with pytest.raises(ArgumentError, match=message):
        read("\n".join(parts.values()))


def test_files_that_are_not_there(tmp_path) -> None:
    with pytest.raises(ArgumentError, match="no such file"):
        read_config(tmp_path / "missing.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ArgumentError, match="is not a TOML file"):
        read_config(binary)


def test_the_example_names_files_that_exist() -> None:
    config = read_config(ROOT / "examples" / "stability.toml")
    assert all(entry.file.exists() for entry in config.data.values())
    assert len(config.questions) == 3


DEPLOYED = (
    GOOD
    + """
[[deployed]]
name = "today's model"
algorithms = ["ridge"]
fresh = "fresh.csv"
epsilon = 0.2
delta = 0.1
gamma = 0.05
notion = "jackknife"

[[deployed]]
hold_out = 0.25
epsilon = 0.3
delta = 0.1
"""
)


def test_questions_about_all_rows_are_read(read, tmp_path) -> None:
    *sizes, first, second, third = read(DEPLOYED).questions
    assert not any(question.deployed for question in sizes)
    assert (first.name, first.fresh, first.hold_out) == (
        "today's model",
        tmp_path / "fresh.csv",
        None,
    )
    # Of the defaults for all questions, those that this question can have.
    asked = {"epsilon": 0.2, "delta": 0.1, "alpha": 0.1, "random_state": 7}
    assert first.settings == {**asked, "gamma": 0.05, "notion": "jackknife"}
    assert (second.name, second.hold_out, third.algorithm) == ("deployed 2", 0.25, "script")
    alone = DEPLOYED.replace("[[questions]]", "[[deployed]]\nhold_out = 0.1").replace("n = 20", "")
    assert all(q.deployed for q in read(alone.replace("n = 30", "")).questions)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("hold_out = 0.25\n", "", r"\[\[deployed\]\] 2 needs either fresh = .* or hold_out"),
        ("hold_out = 0.25", "hold_out = 1.5", r"hold_out must be a number in \(0, 1\), got 1.5"),
        ("gamma = 0.05", "gama = 0.05", r"'gama' in \[\[deployed\]\] 1; did you mean 'gamma'"),
        ("gamma = 0.05", "n = 20", r"unknown key 'n' in \[\[deployed\]\] 1"),
        ("gamma = 0.05", "hold_out = 0.5", "needs either fresh"),
        ('drop = ["id"]', 'weights = "w"', "cannot use data with groups, weights"),
        ("hold_out = 0.25\nepsilon = 0.3", "hold_out = 0.25", r"\[\[deployed\]\] 2 needs epsilon"),
        ("alpha = 0.1", "gama = 0.1", r"'gama' in \[defaults\]; did you mean 'gamma'"),
    ],
)
def test_mistakes_in_questions_about_all_rows(read, old, new, message) -> None:
    assert old in DEPLOYED
    with pytest.raises(ArgumentError, match=message):
        read(DEPLOYED.replace(old, new, 1))
