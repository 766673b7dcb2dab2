"""The form of a new run: only files of the folder, only words that were meant, no code run."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from sklearn.utils import all_estimators
from starlette.testclient import TestClient

from poise.cli.test import command as poise_test
from poise.cli.ui.data_files import names_in
from poise.cli.ui.estimators import estimators, parameters
from poise.cli.ui.new_run_page import NewRun
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.started_runs import StartedRuns
from shared.processes import until
from shared.ui import ADDRESS, site_client

FORM = {
    "data": "rows.csv",
    "target": "price",
    "algorithm": "sklearn.linear_model:Ridge",
    "n": "20",
    "epsilon": "1",
    "delta": "0.2",
    "seed": "0",
    "param:alpha": "2.5",
    "param:solver": "",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lines = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(100))
    (tmp_path / "rows.csv").write_text("size,id,price\n" + lines, encoding="utf-8")
    code = "from pathlib import Path\nPath('ran').touch()\ndef fit(X, y, seed):\n    ...\n"
    (tmp_path / "models.py").write_text(code, encoding="utf-8")
    return tmp_path


@pytest.fixture
def here(place: Path) -> TestClient:
    return site_client(place)


def _post(client: TestClient, address: str, content: Any) -> Any:
    headers = {"Origin": ADDRESS, "Accept": "application/json"}
    return client.post(address, content=json.dumps(content), headers=headers)


def test_the_form_offers_what_the_folder_and_scikit_learn_have(here) -> None:
    page = here.get("/new").text
    assert "<option>rows.csv</option>" in page
    assert "<option>models.py</option>" in page
    assert page.count("<option>sklearn.") == len(estimators()) > 100
    columns = here.get("/new/columns?of=rows.csv").json()
    assert columns == {
        "names": ["size", "id", "price"],
        "said": "100 rows, 3 columns",
        "rows": 100,
    }
    assert here.get("/new/names?of=models.py").json() == {"names": ["fit"]}
    piece = here.get("/new/parameters?of=sklearn.linear_model:Ridge").json()["pieces"]["parameters"]
    assert 'name="param:alpha" placeholder="1.0"' in piece


def test_the_list_of_estimators_is_scikit_learns_own() -> None:
    own = [kind for _, kind in all_estimators() if hasattr(kind, "predict")]
    assert list(estimators().values()) == own


def test_every_place_of_an_estimator_is_one_that_the_command_line_finds() -> None:
    from poise.cli.load_algorithm import load_object

    for name, kind in estimators().items():
        assert load_object(name) is kind
        assert isinstance(parameters(name), dict)


def test_nothing_is_run_by_looking(here, place) -> None:
    here.get("/new")
    here.get("/new/names?of=models.py")
    assert not (place / "ran").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": "../secret.csv"}, "data must be a file with rows in the folder"),
        ({"data": "/etc/passwd"}, "data must be a file with rows in the folder"),
        ({"algorithm": "os:system"}, "algorithm must be an estimator of scikit-learn"),
        ({"algorithm": "../other.py:fit"}, "algorithm must be an estimator of scikit-learn"),
        ({"algorithm": "/tmp/other.py:fit"}, "algorithm must be an estimator of scikit-learn"),
        ({"target": ""}, "target is missing"),
        ({"n": None}, "n is missing"),
        ({"name": "../out"}, "the name of a run may have"),
        ({"name": ".hidden"}, "the name of a run may have"),
        ({"name": "a/b"}, "the name of a run may have"),
        ({"name": "there.jsonl"}, "there.jsonl is there already"),
    ],
)
def test_what_leads_elsewhere_is_refused(here, place, monkeypatch, change, said) -> None:
    (place / "there.jsonl").touch()
    monkeypatch.setattr(subprocess, "Popen", None)
    answer = _post(here, "/new/start", FORM | change)
    assert answer.status_code == 400
    assert said in answer.json()["error"]


def test_what_is_no_form_is_refused(here) -> None:
    for content in ("text", ["list"], 7, {"data": {"nested": 1}}):
        assert _post(here, "/new/start", content).status_code == 400
    headers = {"Origin": ADDRESS}
    assert here.post("/new/start", content=b"{", headers=headers).status_code == 400
    assert here.get("/new/columns?of=../x.csv").status_code == 400
    assert here.get("/new/names?of=../x.py").status_code == 400
    assert here.get("/new/parameters?of=os:system").status_code == 400


def test_the_words_of_the_form_are_words_and_no_options() -> None:
    form = {name: value for name, value in FORM.items() if not name.startswith("param")}
    hostile = form | {"target": "--program=x", "drop": "a, --jobs=9", "param:a": "1 --jobs 9"}
    words = NewRun.read(hostile | {"data": "-x.csv"}).test("run.jsonl")
    given = poise_test.make_context("test", words[1:]).params
    assert str(given["data"]) == "-x.csv"
    assert (given["target"], given["program"], given["n_jobs"]) == ("--program=x", None, None)
    assert given["drop"] == ("a", "--jobs=9")
    assert given["param"] == ("a=1 --jobs 9",)
    assert (given["n"], given["epsilon"], given["delta"]) == (20, 1.0, 0.2)
    with pytest.raises(click.UsageError):
        poise_test.make_context("test", NewRun.read(hostile | {"n": "x"}).test("r")[1:])


def test_preflight_checks_the_algorithm_and_says_what_the_rows_can_do(here) -> None:
    answer = _post(here, "/new/preflight", FORM)
    assert answer.status_code == 200, answer.text
    piece = html.unescape(answer.json()["pieces"]["preflight"])
    assert "Ridge(alpha=2.5) at n = 20: 10 checks" in piece
    assert "deterministic given its seed" in piece
    assert "4 independent trials" in piece
    assert "poise test --epsilon=1 --delta=0.2" in piece


def test_a_run_that_cannot_begin_says_why(here, place) -> None:
    answer = _post(here, "/new/start", FORM | {"target": "prize", "name": "wrong"})
    assert answer.json() == {"location": "/started/wrong.jsonl"}
    assert until(lambda: "has ended without a trial" in here.get("/started/wrong.jsonl").text)
    assert "did you mean 'price'?" in html.unescape(here.get("/started/wrong.jsonl").text)
    assert not (place / "wrong.jsonl").exists()


def test_only_a_process_that_was_started_here_is_stopped(results, tmp_path) -> None:
    (tmp_path / "run.jsonl").write_bytes((results / "stopped.jsonl").read_bytes())
    client, started = site_client(tmp_path), StartedRuns(Folder(tmp_path))
    (key,) = re.findall(r'data-key="(\w+)"', client.get("/").text)
    refused = _post(client, f"/run/{key}/stop", {})
    assert "was not started from here" in refused.json()["error"]
    notes = tmp_path / ".poise-ui"
    notes.mkdir()
    note = {"pid": 1, "began": "long ago"}  # by now another process has the number
    (notes / "run.jsonl.process").write_text(json.dumps(note), encoding="utf-8")
    assert started.process("run.jsonl") is None
    (notes / "run.jsonl.process").write_text("rubbish", encoding="utf-8")
    assert started.process("run.jsonl") is None
    answer = _post(client, f"/run/{key}/resume", {})  # it was begun from Python
    assert "only a run of the command line" in answer.json()["error"]


def test_names_in_a_file_that_is_not_python(tmp_path) -> None:
    from poise.errors import DataError

    (tmp_path / "a.py").write_text("def (", encoding="utf-8")
    with pytest.raises(DataError, match="is not Python"):
        names_in(tmp_path / "a.py")
