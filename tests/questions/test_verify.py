"""``poise.verify``: what is true passes, and whatever was altered is noticed."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression

import poise
from helpers import ROOT
from poise.cli import main

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 3))
y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=400)
LABELS = np.where(y > 0, "yes", "no")
GROUPS = np.repeat(np.arange(80), 5)


def train(X, y, seed):
    rng = np.random.default_rng(seed)
    return lambda new: np.full(len(new), y.mean() + rng.normal(scale=1e-3))


def gap(a, b):
    return abs(a - b) / 2


RUNS = {
    "plain": (Lasso(0.1), y, {"epsilon": 2.0}, {}),
    "sd": (Lasso(0.1), y, {"epsilon": "50% of sd"}, {}),
    "labels": (LogisticRegression(), LABELS, {}, {}),
    "probabilities": (
        LogisticRegression(),
        LABELS,
        {"epsilon": 0.3, "response": "predict_proba", "randomized": True},
        {},
    ),
    "groups": (Lasso(0.1), y, {"epsilon": 2.0, "n": 4}, {"groups": GROUPS}),
    "removals": (Lasso(0.1), y, {"epsilon": 2.0, "remove": 2, "removals_per_trial": 3}, {}),
    "replaced": (Lasso(0.1), y, {"epsilon": 2.0, "replace": True, "position": "uniform"}, {}),
    "function": (train, y, {"epsilon": 2.0, "coupling": "independent"}, {}),
    "forest": (RandomForestRegressor(3), y, {"epsilon": 3.0, "stop_early": True}, {}),
    "loss": (Lasso(0.1), y, {"epsilon": 2.0}, {"distance": poise.loss_change("squared")}),
    "own distance": (Lasso(0.1), y, {"epsilon": 2.0}, {"distance": gap}),
    "decision": (Lasso(0.1), y, {"distance": "top_k(2, of=5)"}, {}),
}


def saved(name: str, path: Path) -> Path:
    algorithm, responses, asked, given = RUNS[name]
    question = {"n": 10, "delta": 0.3, **asked, **given}
    poise.stability_test(algorithm, X, responses, **question).save(path)
    return path


@pytest.mark.filterwarnings("ignore::poise.errors.PoiseWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_repeated_bit_for_bit(name, tmp_path):
    algorithm, responses, _, given = RUNS[name]
    path = saved(name, tmp_path / "a.json")
    found = poise.verify(path, algorithm, X, responses, trials=5, **given)
    assert found.verified, found
    assert found.n_repeated == 5
    with pytest.raises(TypeError, match="verified"):
        bool(found)
    assert "bit for bit" in str(found)


OLD, NEW = Lasso(0.1).fit(X, y), Lasso(0.5).fit(X, y)
OWNERS = np.arange(24) // 2
GIVEN = {  # by what is asked besides, and what is given again
    "chosen row": ({"without": [3], "chosen_from": 30}, {}),
    "update": ({"update": 2, "points_per_trial": 2}, {}),
    "decision": ({"notion": "add-one", "distance": "top_k(2, of=3)", "epsilon": None}, {}),
    "share": ({"gamma": 0.1, "epsilon": "50% of sd"}, {}),
    "groups": ({}, {"groups": np.arange(30) // 2, "groups_fresh": OWNERS + 90}),
    "two models": ({"epsilon": "30% of sd"}, {"groups_fresh": OWNERS}),
    "two decisions": ({"epsilon": None, "distance": "top_k(2, of=3)"}, {}),
}


@pytest.mark.parametrize("name", GIVEN)
def test_answers_about_one_training_set_or_two_models_are_repeated(name, tmp_path):
    asked, given = GIVEN[name]
    asked, rows = {"epsilon": 1.0, "delta": 0.5, **asked, **given}, (X[300:324], y[300:324])
    if name.startswith("two"):
        result, again = poise.changed(OLD, NEW, *rows, **asked), ((OLD, NEW), *rows)
        other = ((OLD, OLD), *rows)
    else:
        fresh, old = dict(zip(("X_fresh", "y_fresh"), rows, strict=True)), (X[:30], y[:30])
        result, again = poise.deployed_test(Lasso(0.1), *old, *rows, **asked), (Lasso(0.1), *old)
        given, other = given | fresh, (Lasso(), *old)
    result.save(tmp_path / "a.json")
    assert str(poise.load(tmp_path / "a.json")) == str(result)
    found = poise.verify(tmp_path / "a.json", *again, trials=3, **given)
    assert found.verified, found
    assert "bit for bit" in str(found)
    assert poise.verify(tmp_path / "a.json", *other, **given).outcome == "not what it claims"


def forged(path: Path, change) -> Path:
    """Alter a file and give it the digest of its new content."""
    fields = json.loads(path.read_text())
    fields.pop("digest")
    change(fields)
    content = msgspec.json.format(msgspec.json.encode(fields), indent=-1)[:-1]
    digest = hashlib.sha256(content).hexdigest()
    path.write_bytes(content + b',"digest":"sha256:' + digest.encode() + b'"}')
    return path


FORGED = {
    "verdict": lambda f: f.update(verdict="unstable"),
    "n": lambda f: f["design"].update(n=9),
    "seed": lambda f: f["design"].update(seed=7),
    "algorithm": lambda f: f["design"].update(algorithm="Lasso(alpha=0.2)"),
    "changes": lambda f: f.update(changes=[c / 2 for c in f["changes"]]),
    "rows": lambda f: f.update(data="sha256:0"),
    "code": lambda f: f.update(code={"algorithm": "0"}),
}


@pytest.mark.parametrize("part", FORGED)
def test_what_was_altered_is_noticed(part, tmp_path):
    path = forged(saved("plain", tmp_path / "a.json"), FORGED[part])
    found = poise.verify(path, Lasso(0.1), X, y)
    assert found.outcome == "not what it claims"
    assert found.wrong


def test_other_rows_or_another_algorithm_are_named(tmp_path):
    path = saved("plain", tmp_path / "a.json")
    assert "the rows are not those" in str(poise.verify(path, Lasso(0.1), X, y + 1e-9))
    assert "Lasso(alpha=0.3) here" in str(poise.verify(path, Lasso(0.3), X, y))
    assert "too few" not in str(poise.verify(path, Lasso(0.1), X[:300], y[:300]))


def test_other_versions_explain_last_digits_and_nothing_else(tmp_path):
    def other(factor, fields):
        fields["versions"]["numpy"] = "1.0"
        fields["changes"] = [c * factor for c in fields["changes"]]

    for factor, outcome in ((1 + 1e-12, "verified"), (1.01, "could not be repeated")):
        path = forged(saved("plain", tmp_path / "a.json"), partial(other, factor))
        found = poise.verify(path, Lasso(0.1), X, y)
        assert found.outcome == outcome, found
        assert "numpy 1.0 there" in str(found)


def test_the_command_ends_with_the_status_of_what_it_found(tmp_path):
    def poise_verify(*words: object):
        return CliRunner().invoke(main, ["verify", *map(str, words)])

    data, path = ROOT / "examples" / "diabetes.csv", tmp_path / "a.json"
    of_rows = [data, "--target", "progression", "--algorithm", "Lasso"]
    question = ["--n", "10", "--epsilon", "25", "--delta", "0.2", "--save", path]
    CliRunner().invoke(main, [str(w) for w in ["test", *of_rows, *question]])
    assert "not checked: that the changes" in poise_verify(path).stdout
    found = poise_verify(path, *of_rows, "--trials", "3", "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["n_repeated"] == 3
    other = poise_verify(path, *of_rows[:-1], "Lasso(alpha=2.0)")
    assert other.exit_code == 1
    assert other.stdout.startswith("NOT WHAT IT CLAIMS")
    assert poise_verify(path, data).exit_code == 2
