"""``poise intervals``: the table, the sentence, and files that are not replaced."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import poise

RIDGE = "--algorithm sklearn.linear_model:Ridge --seed 0"


@pytest.fixture
def rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(830, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X @ [1.0, 2.0] + rng.normal(size=830)})
    table[:800].to_csv(tmp_path / "data.csv", index=False)
    table[800:].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return table


def test_the_table_is_the_regressor_s(run, rows):
    done = run(f"intervals data.csv --target y --new new.csv {RIDGE} --table ends.csv --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    model = poise.JackknifeRegressor(Ridge(), random_state=0)
    model.fit(rows[["a", "b"]][:800].to_numpy(), rows["y"][:800].to_numpy())
    predictions, ends = model.predict_interval(rows[["a", "b"]][800:].to_numpy())
    written = pd.read_csv("ends.csv")
    assert list(written.columns) == ["row", "prediction", "lower", "upper"]
    np.testing.assert_allclose(written["prediction"], predictions)
    np.testing.assert_allclose(written[["lower", "upper"]], ends)
    np.testing.assert_allclose(said["intervals"]["upper"], ends[:, 1])
    assert said["guarantee"]["sentence"] == model.guarantee_.sentence
    assert said["guarantee"]["coverage"] == pytest.approx(0.8)
    assert (said["certificate"], said["rule"]) == (None, None)


CERTIFY = "--certify --n 20 --method jackknife --level 0.8"


def test_rows_are_split_certified_and_fitted(run, rows):
    asked = f"intervals data.csv --target y --new new.csv {RIDGE} {CERTIFY}"
    done = run(f"{asked} --epsilon 1.5 --delta 0.1 --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["certificate"]["verdict"] == "stable"
    assert said["certificate"]["n"] == said["guarantee"]["n"] == 20
    assert said["certificate"]["design"]["n_labeled"] == 780
    assert said["guarantee"]["widening"] == 1.5
    assert said["guarantee"]["miss"] == poise.theory.certified_miss(20, 0.2, 0.1, 0.05)
    assert said["rule"]["worst"] == max(said["rule"]["stable"], said["rule"]["unstable"])
    shown = run(f"{asked} --epsilon 1.5 --delta 0.1")
    text = " ".join(shown.stdout.split())
    assert "It rests on that certificate" in text
    assert "20 of 30 rows; --table FILE writes all" in text
    assert "this command as a whole" in text


def test_these_rows_are_certified_by_the_others(run, rows):
    asked = f"intervals data.csv --target y --new new.csv {RIDGE} --certify --method jackknife"
    done = run(f"{asked} --n 40 --epsilon 0.4 --delta 0.05 --gamma 0.04 --json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["certificate"]["notion"] == "jackknife"
    assert said["certificate"]["verdict"] == "stable"
    assert said["certificate"]["design"]["n_fresh"] == 760
    assert said["guarantee"]["widening"] == 0.4
    assert said["guarantee"]["miss"] == pytest.approx(0.1 + 0.04 + 0.05)
    assert said["rule"]["worst"] == pytest.approx(0.19 + 0.2)
    shown = run(f"{asked} --n 40 --epsilon 0.4 --delta 0.05 --gamma 0.04")
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.stdout.split())
    assert "This training set is certified and a new response missed" in text
    refused = run(f"{asked} --n 40 --epsilon 0 --delta 0.05 --gamma 0.04")
    assert refused.exit_code == 1, refused.output
    assert "on no certificate of stability" in " ".join(refused.stdout.split())


def test_a_refusal_falls_back_and_says_so(run, rows):
    done = run(f"intervals data.csv --target y --new new.csv {RIDGE} {CERTIFY} --epsilon 0 "
               "--delta 0.1 --table ends.csv")  # fmt: skip
    assert done.exit_code == 1, done.output
    text = " ".join(done.stdout.split())
    assert text.startswith("UNSTABLE")
    assert "on no certificate of stability" in text
    assert len(pd.read_csv("ends.csv")) == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--certify --n 20", "--certify needs --epsilon, --delta"),
        ("--epsilon 1", "--epsilon is for --certify"),
        ("--method jackknife", "--method jackknife needs --certify"),
        ("--gamma 0.1", "--gamma is for --certify with --method jackknife"),
        (f"{CERTIFY} --epsilon 1 --delta 0.1 --gamma 2", "gamma must be in [0, 1"),
        ("--level 1.5", "level must be in (0, 1)"),
        ("--table data.csv", "would replace another file of this command"),
        ("--table new.csv --force", "would replace another file of this command"),
        ("--table other.csv", "was not written by poise"),
        ("--certify --n 800 --epsilon 1 --delta 0.1", "n must be below the number of rows"),
        ("--table ends.xlsx", "a table is a CSV file; ends.xlsx must end in .csv"),
        ("--plot ends.doc", "a plot file must end in"),
        ("--target z", "data.csv has no column 'z'"),
        ("--target name", "is a regressor, and y holds 'a'"),
        ("--target name --algorithm sklearn.tree:DecisionTreeClassifier", "must hold numbers"),
        ("--new gaps.csv", "column 'a' of gaps.csv holds nan in line 2"),
        ("--new nowhere.csv", "no such file: nowhere.csv"),
        (
            "--certify --n 20 --epsilon 9 --delta 0.2 --algorithm forests.py:forest",
            "the order of the rows changes its predictions",
        ),
    ],
)
def test_refusals(run, rows, tmp_path, options, message):
    """All of them before the first fit: an algorithm that reaches its fits says so."""
    (tmp_path / "other.csv").write_text("mine")
    rows[:800].assign(name="a").to_csv("data.csv", index=False)
    rows[800:].assign(name="a", a=np.nan).to_csv("gaps.csv", index=False)
    rows[800:].assign(name="a").to_csv("new.csv", index=False)
    (tmp_path / "forests.py").write_text(FOREST)
    drop = "" if "name" in options else "--drop name"
    done = run(f"intervals data.csv --target y --new new.csv {RIDGE} {drop} {options}")
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())
    assert (tmp_path / "other.csv").read_text() == "mine"


# Depends on the order of its rows, and must not be fitted to as many as the test takes.
FOREST = """
def forest(X, y, seed):
    assert len(y) <= 10, "a fit of the test"
    return lambda rows: [float(list(y)[0])] * len(rows)
"""


def test_training_rows_are_no_new_rows(run, rows):
    rows[795:].to_csv("new.csv", index=False)
    done = run(f"intervals data.csv --target y --new new.csv {RIDGE} -q")
    assert done.exit_code == 0, done.output
    assert "5 rows of new.csv (row 1 is one) can be found in the training rows" in done.stderr


def test_it_says_when_a_certificate_could_not_help(run, rows):
    asked = f"intervals data.csv --target y --new new.csv {RIDGE} {CERTIFY} --epsilon 1.5"
    done = run(f"{asked} --delta 0.1")
    assert "a certificate helps only with delta below 0.0" in " ".join(done.stderr.split())


def test_the_table_on_the_screen_and_the_picture(run, rows, tmp_path):
    asked = f"intervals data.csv --target y --new new.csv {RIDGE} --plot ends.png --table t.csv"
    done = run(asked)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "ends.png").read_bytes().startswith(b"\x89PNG")
    shown = [line.split() for line in done.stdout.splitlines()[1:21]]
    assert {len(number.partition(".")[2]) for _, *row in shown for number in row} == {3}
    exact = pd.read_csv("t.csv").to_numpy()[:20]
    low, high = np.array(shown, dtype=float)[:, 2:].T
    assert (low <= exact[:, 2]).all()
    assert (exact[:, 3] <= high).all()
    np.testing.assert_allclose(low, exact[:, 2], atol=1e-3)
    again = run(
        f"intervals data.csv --target y --new new.csv {RIDGE} --plot ends.png --table t.csv"
    )
    assert again.exit_code == 0, again.output  # its own files may be replaced


def test_force_and_a_bare_answer(run, rows, tmp_path):
    (tmp_path / "other.csv").write_text("mine")
    done = run(f"intervals data.csv --target y --new new.csv {RIDGE} --table other.csv --force -q")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Jackknife+ misses a new response with probability at most 0.2")
    assert len(pd.read_csv("other.csv")) == 30


def test_journals_keep_the_certificate_and_the_fits(run, rows):
    """A run that is continued splits the rows as before, and fits nothing again."""
    tree = "--algorithm sklearn.tree:DecisionTreeRegressor --param max_depth=1"
    asked = f"intervals data.csv --target y --new new.csv {tree} {CERTIFY} --level 0.7"
    question = f"{asked} --epsilon 4 --delta 0.2 --json"
    first = run(f"{question} --journal kept")
    said = json.loads(first.stdout)
    status = json.loads(run("status kept --json").stdout)
    assert (status["finished"], status["measurements"]) == (2, 2)
    left_out = [each for each in status["journals"] if each["planned"] == 20]
    assert [each["trials"] for each in left_out] == [20]
    for again in (f"{question} --journal kept", "resume kept --yes"):
        found = run(again)
        assert found.exit_code == first.exit_code
        assert json.loads(found.stdout)["intervals"] == said["intervals"]
    assert "20 of 20 left-out rows" in " ".join(run("status kept").stdout.split())
