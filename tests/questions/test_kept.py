"""What runs leave behind: journals to go on with, and files that ``poise.verify`` repeats."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from helpers import ROOT
from poise.cli import main
from poise.errors import RecordError, TrialError, ValidityWarning

X, Y = load_diabetes(return_X_y=True)
LABELS = np.where(Y > 140, "high", "low").astype(object)
FITS: list[int] = []  # rows of each fit of ``level``


def level(rows, y, seed):
    """A fit that is counted, and fails where the first response is small."""
    FITS.append(len(rows))
    if y[0] < 50:
        raise ValueError(f"a response of {y[0]:g}")
    noise = np.random.default_rng(seed).normal()
    return lambda points: y.mean() + noise + points[:, 0]


def by_batch(rows, y, seed):
    """Predictions depend on the points beside them: the look gives them up."""
    FITS.append(len(rows))
    return lambda points: y.mean() + points[:, 0] - points[:, 0].mean() + y[0]


def gap(a, b):
    return np.abs(a - b) / 2


level_only = partial(poise.measure, level, X, Y, n=10, on_error="record", check=False)
asked = partial(poise.stability_test, n=10, delta=0.3)
GIVEN = (X[:30], Y[:30], X[400:], Y[400:])
RUNS = {
    "plain": partial(poise.measure, DecisionTreeRegressor(), X, Y, n=10),
    "own function, failures": level_only,
    "two workers": partial(level_only, n_jobs=2),
    "looked at": partial(level_only, check=True, coupling="independent"),
    "given up": partial(poise.measure, by_batch, X, Y, n=10, points_per_trial=2),
    "several removals": partial(level_only, removals_per_trial=2, points_per_trial=3),
    "replaced": partial(level_only, remove=2, replace=True, position="uniform"),
    "by formula": partial(poise.measure, Ridge(), X, Y, n=10),
    "partly by formula": partial(poise.measure, LinearRegression(), np.round(X, 2), Y, n=12),
    "stopped early": partial(asked, Ridge(), X, Y, epsilon=1, stop_early=True),
    "share of the sd": partial(asked, Lasso(), X, Y, epsilon="20% of sd"),
    "coin": partial(asked, level, X, Y, epsilon=9, randomized=True, check=False, on_error="record"),
    "groups": partial(poise.measure, Lasso(), X, Y, n=8, groups=np.arange(442) // 3),
    "labels": partial(poise.measure, DecisionTreeClassifier(), X, LABELS, n=20),
    "own distance": partial(asked, Lasso(), X, Y, epsilon=20, distance=gap),
    "decision": partial(poise.measure, Lasso(), X, Y, n=20, distance="top_k(2, of=5)"),
    "deployed": partial(poise.measure_deployed, level, *GIVEN[:3], check=False, on_error="record"),
    "update": partial(poise.measure_deployed, DecisionTreeRegressor(), *GIVEN, update=2),
    "jackknife": partial(poise.measure_deployed, Lasso(), *GIVEN, notion="jackknife"),
}
ASKED = {"epsilon": 9, "delta": 0.5}
deployed = partial(poise.deployed_test, Lasso(), *GIVEN, **ASKED)
changed = partial(poise.changed, *(Lasso(a).fit(X, Y) for a in (1, 2)), *GIVEN[2:], **ASKED)
OWNERS = np.arange(42) // 2
ANSWERS = RUNS | {
    "probabilities": partial(
        asked, GaussianNB(), X, LABELS, epsilon=0.3, response="predict_proba", randomized=True
    ),
    "loss": partial(asked, Lasso(), X, Y, epsilon=99, distance=poise.loss_change("squared")),
    "seed of its own": partial(asked, RandomForestRegressor(3), X, Y, epsilon=9, stop_early=True),
    "chosen row": partial(deployed, without=[3], chosen_from=30),
    "added": partial(deployed, notion="add-one", distance="top_k(2, of=3)", epsilon=None),
    "share": partial(deployed, gamma=0.1, epsilon="50% of sd"),
    "groups given": partial(deployed, groups=np.arange(30) // 2, groups_fresh=OWNERS + 90),
    "two models": partial(changed, epsilon="30% of sd", groups_fresh=OWNERS),
    "two decisions": partial(changed, epsilon=None, distance="top_k(2, of=3)"),
}


def trials_of(answer):
    return getattr(answer, "trials", answer)


def changes_of(answer):
    trials = trials_of(answer)
    return trials.changes.tobytes(), trials.errors.tobytes(), trials.failures, trials.asked


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.journal"


@pytest.mark.filterwarnings("ignore::poise.errors.PoiseWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_goes_on_from_wherever_it_was_cut_to_the_same_bits(name, path):
    run, rng = RUNS[name], random.Random(name)
    plain = run()
    FITS.clear()
    whole = run(journal=path)
    assert changes_of(whole) == changes_of(plain)
    content, fits = path.read_bytes(), len(FITS)
    lines = content.splitlines(keepends=True)
    for size in [len(content), len(lines[0]), 50, *(rng.randrange(50, len(content)) for _ in "12")]:
        path.write_bytes(content[:size] + b"\0" * rng.choice((0, 9)))
        if size >= len(lines[0]):
            so_far = poise.load(path)
            assert (
                so_far.changes.tobytes() == trials_of(whole).changes[: so_far.n_observed].tobytes()
            )
        kept = content[:size].count(b"\n") - 1
        FITS.clear()
        again = run(journal=path)
        assert changes_of(again) == changes_of(whole)
        after = path.read_bytes().rstrip(b"\0").splitlines()
        assert after[1:] == content.splitlines()[1:]
        if kept >= 0:  # else it began again, at another time and with another coin
            assert after[0] == content.splitlines()[0]
            assert trials_of(again) == trials_of(whole)
        if fits and name != "two workers" and kept >= 0:
            each = {"deployed": 1, "several removals": 4}.get(name, 2)
            assert len(FITS) <= each * (len(lines) - 1 - kept)  # a failed full fit spares one
    assert trials_of(poise.load(path)) == trials_of(again)


SCRIPT = """
import sys, time
import numpy as np
import poise
def level(X, y, seed):
    time.sleep(0.01)
    value = y.mean() + np.random.default_rng(seed).normal()
    return lambda points: np.full(len(points), value)
rng = np.random.default_rng(1)
X, y = rng.normal(size=(600, 2)), rng.normal(size=600)
found = poise.measure(level, X, y, n=5, n_jobs=int(sys.argv[1]), check=False, **eval(sys.argv[2]))
print(found.n_observed, found.changes.tolist(), found.errors.tolist())
"""


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def started(workers, **more):
    command = [sys.executable, "-c", SCRIPT, str(workers), repr(more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_run_killed_at_random_moments_ends_as_if_nothing_had_happened(path):
    said = started(1).communicate()[0]
    rng, kept = random.Random(5), 0
    for workers in (1, 2, 1, 2):
        process = started(workers, journal=str(path))
        while kept < 90 and kept == lines_in(path):
            time.sleep(0.01)
        time.sleep(rng.random() / 3)
        process.kill()
        process.communicate()
        assert lines_in(path) >= kept
        kept = lines_in(path)
    assert kept > 0
    assert started(2, journal=str(path)).communicate()[0] == said


OTHERS = {
    "n: 10 there, 11 here": {"n": 11},
    "seed: 0 there, 1 here": {"random_state": 1},
    "coupling: shared there, independent here": {"coupling": "independent"},
    "max_trials: 10000 there, 5 here": {"max_trials": 5},
    "points: 1 there, 2 here": {"points_per_trial": 2},
    "removals: 1 there, 2 here": {"removals_per_trial": 2},
    "distance: <lambda> there, absolute here": {"distance": "absolute"},
    "rows: ": {"X": X * (1 + 1e-15)},
    "algorithm: ": {"algorithm": Lasso(alpha=2)},
    "shuffle: true there, false here": {"shuffle": False},
    "fast: true there, false here": {"algorithm": Ridge(), "fast": False},
    "code of the distance:": {"distance": lambda a, b: 2 * np.abs(a - b)},
}


@pytest.mark.parametrize("said", OTHERS)
def test_another_run_is_refused_with_both_values(said, path):
    same = {"algorithm": Lasso(), "X": X, "y": Y, "n": 10}
    if "distance:" in said:
        same["distance"] = lambda a, b: np.abs(a - b)
    same |= {"algorithm": Ridge()} if "fast" in said else {}
    poise.measure(**same, journal=path)
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"run.journal belongs to another run") as error:
        poise.measure(**same | OTHERS[said], journal=path)
    assert said.lower() in str(error.value).lower()
    assert path.read_bytes() == before


def test_what_may_differ(path):
    run = partial(level_only, random_state=None)
    first = run(journal=path, max_trials=20, name="one")
    result = poise.stability_test(
        level, X, Y, n=10, epsilon=9, delta=0.2, random_state=None, max_trials=20, check=False,
        n_jobs=2, progress=False, on_error="record", randomized=True, journal=path, name="two",
    )  # fmt: skip
    assert np.array_equal(result.trials.changes, first.changes, equal_nan=True)
    assert result.trials.zeta == first.zeta
    assert "Asked after the fits" in str(result)
    assert "Asked after" not in str(
        poise.stability_test(Lasso(), X, Y, n=10, epsilon=9, delta=0.2, journal=f"{path}2")
    )


def test_other_code_goes_on_with_a_warning_that_stays(path):
    def shifted(by):
        return lambda X, y, seed: lambda points: points[:, 0] * y.mean() + by

    run = partial(poise.measure, X=X, y=Y, n=10, journal=path, name="f")
    run(shifted(1))
    content = path.read_bytes()
    with pytest.warns(ValidityWarning, match="begun with other code"):
        run(shifted(2))
    assert path.read_bytes() == content  # nothing was computed by it
    os.truncate(path, len(content) - 1)
    for by in (2, 2, 1):
        with pytest.warns(ValidityWarning, match="begun with other code"):
            trials = run(shifted(by))
    assert path.read_text().count("other code") == 1
    assert poise.load(path).warnings == trials.warnings


def test_a_failure_that_ended_a_run_is_tried_again_and_one_that_counted_is_not(path):
    mended = []

    def fails_once(rows, y, seed):
        if y[0] < 50 and not mended:
            raise ValueError("too small")
        return lambda points: points[:, 0]

    run = partial(poise.measure, fails_once, X, Y, n=10, check=False, journal=path)
    with pytest.raises(TrialError, match="too small") as error:
        run()
    assert error.value.partial.n_observed == lines_in(path) - 1
    mended.append(True)
    assert run().n_failures == 0
    counted = f"{path}2"
    assert level_only(journal=counted).n_failures == 2
    with pytest.raises(TrialError, match="a response of"):
        level_only(journal=counted, on_error="raise")


# Files that are verified ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::poise.errors.PoiseWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_repeated_and_that_of_another_algorithm_is_not(name, tmp_path):
    run, path = ANSWERS[name], tmp_path / "a.json"
    (answer := run()).save(path)
    assert str(poise.load(path)) == str(answer)
    again = {"groups", "groups_fresh", "distance"} & run.keywords.keys()
    given = {k: run.keywords[k] for k in again if not isinstance(run.keywords[k], str)}
    algorithm, *rows = run.args
    other = Lasso(9)
    if run.func is poise.changed:
        algorithm, *rows = run.args[:2], *run.args[2:]
        other = run.args[:1] * 2
    given |= dict(zip(("X_fresh", "y_fresh"), rows[2:], strict=False))
    found = poise.verify(path, algorithm, *rows[:2], trials=5, **given)
    assert found.verified, found
    assert found.n_repeated == 5
    assert "bit for bit" in str(found) or isinstance(algorithm, Ridge | LinearRegression)
    assert "beside an exact formula" in str(found) or name != "by formula"
    other = poise.verify(path, other, *rows[:2], **given)
    assert other.outcome == "not what it claims", other


def forged(path: Path, change) -> Path:
    """Save an answer, alter it, and give it the digest of its new content."""
    asked(Lasso(), X, Y, epsilon=25).save(path)
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
    "last digits": lambda f: f.update(changes=[c * (1 + 1e-12) for c in f["changes"]]),
    "rows": lambda f: f.update(data="sha256:0"),
    "code": lambda f: f.update(code={"algorithm": "0"}),
}


@pytest.mark.parametrize("part", FORGED)
def test_what_was_altered_is_noticed(part, tmp_path):
    found = poise.verify(forged(tmp_path / "a.json", FORGED[part]), Lasso(), X, Y)
    assert found.outcome == "not what it claims"
    assert found.wrong
    with pytest.raises(TypeError, match="verified"):
        bool(found)


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1 + 1e-12, "verified"), (1.01, "could not be repeated")]
)
def test_other_versions_explain_last_digits_and_nothing_else(tmp_path, factor, outcome):
    def other(fields):
        fields["versions"]["numpy"] = "1.0"
        fields["changes"] = [c * factor for c in fields["changes"]]

    found = poise.verify(forged(tmp_path / "a.json", other), Lasso(), X, Y)
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
    assert (found.exit_code, json.loads(found.stdout)["n_repeated"]) == (0, 3)
    other = poise_verify(path, *of_rows[:-1], "Lasso(alpha=2.0)")
    assert (other.exit_code, other.stdout[:18]) == (1, "NOT WHAT IT CLAIMS")
    assert poise_verify(path, data).exit_code == 2
    lines = data.read_text().splitlines()
    lines[5] = "," + lines[5].partition(",")[2]
    (tmp_path / "hole.csv").write_text("\n".join(lines))
    other = poise_verify(path, tmp_path / "hole.csv", *of_rows[1:])
    assert "hole.csv holds nan in line 6" in " ".join(other.stdout.split())
