"""The page of one run: the library's numbers, what was fixed, what looking does, and downloads."""

from __future__ import annotations

import ast
import html
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import poise
from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.result_file import ResultFile
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.slider_answers import Answer, SliderQuestion, without_verdict
from poise.questions.monitor.record_status import status_of
from poise.results.conditional_design import ConditionalDesign
from poise.results.text.describe_provenance import facts_of_provenance
from poise.storage.journal import read_journal
from poise.storage.monitor_record import read_record
from shared.ui import site_client


def _facts(fragment: str) -> dict[str, str]:
    found = re.findall(r'<th scope="row">(.+?)</th><td>(.*?)</td>', fragment)
    return {html.unescape(name): html.unescape(value) for name, value in found}


def _judge(client: Any, key: str, **asked: float) -> dict[str, Any]:
    answer = client.get(f"/run/{key}/judge", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("asked", [{}, {"epsilon": 0.2}, {"delta": 0.3, "alpha": 0.01}])
def test_numbers_are_the_librarys(client, keys, results, asked) -> None:
    trials = read_journal(results / "mean10.jsonl").trials
    question = {"epsilon": 0.5, "delta": 0.1, "alpha": 0.05} | asked
    result = trials.test(**question)
    answer = _judge(client, keys["mean10.jsonl"], **asked)
    shown = _facts(answer["pieces"]["numbers"])
    assert result.facts().items() <= shown.items()
    said = html.unescape(answer["pieces"]["verdict"])
    assert result.describe().headline.partition(": ")[2].lower() in said.lower()
    for paragraph in result.describe().paragraphs[:-1]:
        assert paragraph in html.unescape(answer["pieces"]["numbers"])
    page = html.unescape(client.get(f"/run/{keys['mean10.jsonl']}", params=asked).text)
    assert result.facts().items() <= _facts(page).items()


def test_the_picture_shows_every_change(client, keys, results) -> None:
    trials = read_journal(results / "mean10.jsonl").trials
    figure = _judge(client, keys["mean10.jsonl"], epsilon=0.2)["figures"]["changes"]
    (bars,) = figure["data"]
    assert sum(bars["y"]) == 57
    large = [y for y, c in zip(bars["y"], bars["marker"]["color"], strict=True) if c == "@large"]
    assert sum(large) == trials.exceedances(0.2)
    assert figure["layout"]["shapes"][0]["x0"] == 0.2


def test_the_band_holds_for_every_epsilon_and_is_the_librarys(client, keys, results) -> None:
    trials = read_journal(results / "mean10.jsonl").trials
    asked = {"epsilon": 0.2, "delta": 0.1, "alpha": 0.1}
    answer = client.get(f"/run/{keys['mean10.jsonl']}/band", params=asked).json()
    profile = trials.profile(0.1)
    observed, limit, alone = answer["figures"]["profile"]["data"]
    assert limit["y"][: len(profile.delta_hat)] == profile.delta_hat.tolist()
    assert limit["x"][: len(profile.epsilon)] == profile.epsilon.tolist()
    assert alone["x"], alone["y"] == ([0.2], [trials.delta_hat(0.2, 0.1)])
    from poise.arguments.printed_numbers import at_most

    assert f"at most {at_most(profile.at(0.2))}" in answer["pieces"]["band"]
    assert observed["y"][0] == pytest.approx(1.0)


def test_what_was_fixed_is_marked_and_looking_is_named(client, keys) -> None:
    key = keys["mean10.jsonl"]
    page = client.get(f"/run/{key}").text
    assert re.findall(r'data-set="(\w+)" data-value="([\d.]+)"', page) == [
        ("epsilon", "0.5"),
        ("delta", "0.1"),
        ("alpha", "0.05"),
    ]
    said = {
        "fixed before the first trial": {},
        "error level of this verdict does not hold any more. What still holds is the band": {
            "epsilon": 0.4
        },
        "Only δ was moved": {"delta": 0.2},
        "α moved after looking": {"alpha": 0.1},
        "ε and δ moved": {"epsilon": 0.4, "delta": 0.2},
    }
    for words, asked in said.items():
        piece = " ".join(html.unescape(_judge(client, key, **asked)["pieces"]["verdict"]).split())
        assert words in piece
    assert "No question was fixed in this file" in client.get(f"/run/{keys['mean.trials']}").text


def test_only_delta_moved_keeps_the_level_for_the_papers_test_alone() -> None:
    trials = poise.Trials.from_changes(np.ones((30, 1, 2)), n=5)
    fixed = {"epsilon": 2.0, "delta": 0.1, "alpha": 0.05}
    record = ResultFile(FileKind.JOURNAL, "mine", 5, question=fixed, trials=trials)
    assert "not hold" in Answer(record, SliderQuestion.of(record, {"delta": "0.2"})).looking


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": "-1"}, "epsilon must be"),
        ({"delta": "1.2"}, "delta must be in [0, 1)"),
        ({"alpha": "0"}, "alpha must be in (0, 1)"),
        ({"alpha": "<b>"}, "alpha must be a number"),
        ({"epsilon": "nan"}, "epsilon"),
    ],
)
def test_an_impossible_question_is_answered_with_the_reason(client, keys, asked, said) -> None:
    wanted = {"Accept": "application/json"}
    place = f"/run/{keys['mean10.jsonl']}/judge"
    answer = client.get(place, params=asked, headers=wanted)
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert "<b>" not in client.get(place, params=asked).text


def test_downloads(client, keys, results) -> None:
    key = keys["mean10.jsonl"]
    result = read_journal(results / "mean10.jsonl").trials.test(0.4, 0.2, 0.05)
    asked = {"epsilon": 0.4, "delta": 0.2, "alpha": 0.05}
    kept = client.get(f"/run/{key}/as.json", params=asked)
    assert poise.StabilityResult.from_json(kept.text) == result
    picture = client.get(f"/run/{key}/as.png", params=asked)
    assert picture.content.startswith(b"\x89PNG")
    report = client.get(f"/run/{key}/as.html", params=asked).text
    assert html.escape(result.describe().headline) in report
    assert "moved after looking" in report
    assert client.get(f"/run/{keys['result.json']}/as.png").content.startswith(b"\x89PNG")
    written = json.loads((results / "result.json").read_text())
    assert client.get(f"/run/{keys['result.json']}/as.json").json() == written
    assert client.get(f"/run/{keys['certificate.json']}/as.png").status_code == 400
    assert client.get(f"/run/{key}/as.exe").status_code == 404


@pytest.mark.parametrize("name", ["result.json", "certificate.json", "run.npz"])
def test_files_without_changes_show_what_they_hold(client, keys, name) -> None:
    page = html.unescape(client.get(f"/run/{keys[name]}").text)
    assert "no other question can be asked" in page
    assert 'class="verdict stable"' in page
    assert client.get(f"/run/{keys[name]}/judge").status_code == 400


def test_a_monitor_shows_where_its_record_stands(client, keys, results) -> None:
    status = status_of(read_record(results / "grows.record"))
    page = html.unescape(client.get(f"/run/{keys['grows.record']}").text)
    assert f'class="verdict {status.verdict.value}"' in page
    for name, value in status.facts().items():
        assert f'<th scope="row">{name}</th><td>{value}</td>' in page
    assert "looked at as often as one likes" in page
    assert "poise.Monitor('grows.record', algorithm, n=10, epsilon=0.5, delta=0.1" in page
    address = f"/run/{keys['grows.record']}"
    assert f'src="{address}/as.png"' in page
    assert client.get(f"{address}/as.png").content.startswith(b"\x89PNG")
    assert json.loads(client.get(f"{address}/as.json").text)["verdict"] == status.verdict.value
    assert status.describe().headline in html.unescape(client.get(f"{address}/as.html").text)


def test_a_ledger_lists_its_questions(client, keys, results) -> None:
    ledger = poise.Ledger(results / "mine.ledger")
    page = html.unescape(client.get(f"/run/{keys['mine.ledger']}").text)
    assert ledger.headline() in page
    assert ledger.meaning() in page
    for cell in (*ledger.table().columns, *ledger.table().rows[0]):
        assert f">{cell}</t" in page
    assert "poise ledger mine.ledger" in page
    assert "poise.Ledger('mine.ledger')" in page
    assert "not judged" not in page
    assert client.get(f"/run/{keys['mine.ledger']}/as.png").status_code == 400


def test_a_journal_about_one_training_set_says_how_far_it_is(client, keys) -> None:
    page = html.unescape(client.get(f"/run/{keys['deployed.jsonl']}").text)
    assert "15 of 15 removed rows" in page
    assert "the command that made it prints the answer" in page
    assert client.get(f"/run/{keys['deployed.jsonl']}/judge").status_code == 400
    assert f'value="{keys["deployed.jsonl"]}"' not in client.get("/").text  # nothing to compare


def test_a_verdict_about_one_training_set_is_read_from_its_json(tmp_path) -> None:
    design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    record = poise.ConditionalTrials(np.full((60, 2), 0.1), design)
    result = record.test(epsilon=0.2, delta=0.1)
    (tmp_path / "deployed.json").write_text(result.to_json(), encoding="utf-8")
    (tmp_path / "status.json").write_text('{"verdict": "stable", "epsilon": 1, "e_values": []}')
    other = site_client(tmp_path)
    key = next(Folder(tmp_path).files()).key
    page = html.unescape(other.get(f"/run/{key}").text)
    assert without_verdict(result.describe().headline) in page
    assert other.get(f"/run/{key}/as.png").content.startswith(b"\x89PNG")
    assert "status.json" not in other.get("/").text  # another command printed it


def test_the_page_and_the_report_say_where_a_run_comes_from(client, keys, results) -> None:
    trials = read_journal(results / "mean10.jsonl").trials
    known = facts_of_provenance(trials.test(0.5, 0.1))
    assert {"seed", "digest of the certificate"} <= known.keys()
    for address in ("", "/as.html"):
        page = html.unescape(client.get(f"/run/{keys['mean10.jsonl']}{address}").text)
        assert "Provenance" in page
        for value in known.values():
            assert value in page


def test_a_certificate_shows_where_it_comes_from(client, keys, results) -> None:
    certificate = poise.CertificateFile.load(results / "checkable.json")
    page = html.unescape(client.get(f"/run/{keys['checkable.json']}").text)
    for text in (certificate.digest, certificate.content["provenance"]["rows"]):
        assert text in page
    assert "poise verify" in page


def _python(client: Any, key: str) -> str:
    page = client.get(f"/run/{key}").text
    found = re.search(r'<pre id="as-python"[^>]*>(.*?)</pre>', page, flags=re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


RUN = ["mean.trials", "result.json", "certificate.json", "checkable.json", "run.npz"]


@pytest.mark.parametrize("name", RUN)
def test_the_python_of_a_file_runs(client, keys, results, monkeypatch, name, capsys) -> None:
    monkeypatch.chdir(results)
    found: dict[str, Any] = {}
    exec(compile(_python(client, keys[name]), name, "exec"), found)
    assert str(found["result"]) in capsys.readouterr().out


def test_a_run_of_the_command_line_names_its_rows_and_repeats(run, folder, tmp_path) -> None:
    words = "test numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge"
    asked = " --param alpha=2.5 --n 20 --epsilon 0.5 --delta 0.2 --seed 3 --no-stop-early"
    path = tmp_path / "ridge.jsonl"
    assert run(words + asked, "--journal", str(path)).exit_code in (0, 1)
    client = site_client(tmp_path)
    page = client.get("/").text
    assert ">numbers.csv</td>" in page
    (key,) = re.findall(r'data-key="(\w+)"', page)
    shown = html.unescape(client.get(f"/run/{key}").text)
    assert f"poise {words}{asked} --journal {path}" in shown
    assert "poise status ridge.jsonl --epsilon 0.5 --delta 0.2 --alpha 0.05" in shown
    found: dict[str, Any] = {}
    code = _python(client, key)
    assert "Ridge(alpha=2.5)" in code
    ast.parse(code)
    exec(compile(code, "again", "exec"), found)
    trials = read_journal(path).trials
    assert found["result"].statistic == trials.test(0.5, 0.2).statistic
    assert found["result"].delta_hat == trials.test(0.5, 0.2).delta_hat


def test_python_asks_for_the_response_of_the_command_line(run, folder, tmp_path) -> None:
    """A design does not hold it, and the changes of labels are not those of probabilities."""
    frame = pd.read_csv(folder / "numbers.csv")
    frame.assign(price=frame["price"] > frame["price"].median()).to_csv(
        folder / "above.csv", index=False
    )
    path = tmp_path / "logistic.jsonl"
    words = "test above.csv --target price --drop id --n 20 --epsilon 0.5 --delta 0.2 --seed 3"
    given = ("--algorithm", "sklearn.linear_model:LogisticRegression", "--name", "logistic")
    asked = (*given, "--response", "predict_proba", "--remove", "2", "--journal", str(path))
    assert run(words, *asked).exit_code in (0, 1)
    client = site_client(tmp_path)
    (key,) = re.findall(r'data-key="(\w+)"', client.get("/").text)
    code = _python(client, key)
    assert "response='predict_proba', name='logistic'" in code
    found: dict[str, Any] = {}
    exec(compile(code, "again", "exec"), found)
    assert found["result"].design == read_journal(path).trials.design


def test_python_reads_groups_weights_and_unlabeled_rows(run, folder, tmp_path) -> None:
    """What belongs to the rows of the command line belongs to those of the Python too."""
    frame = pd.read_csv(folder / "numbers.csv")
    weighed = frame.assign(w=1 + frame["id"] % 3, patient=[f"p{i // 2}" for i in frame["id"]])
    weighed.to_csv(folder / "weighed.csv", index=False, sep=";", decimal=",")
    more = frame.head(40).drop(columns="price")
    more.to_csv(folder / "fresh.csv", index=False, sep=";", decimal=",")
    path = tmp_path / "ridge.jsonl"
    words = "test weighed.csv --target price --drop id --algorithm sklearn.linear_model:Ridge"
    rows = " --sep ; --decimal , --groups patient --weights w --unlabeled fresh.csv"
    asked = ("--n", "10", "--epsilon", "0.5", "--delta", "0.2", "--seed", "3")
    assert run(words + rows, *asked, "--journal", str(path)).exit_code in (0, 1)
    client = site_client(tmp_path)
    (key,) = re.findall(r'data-key="(\w+)"', client.get("/").text)
    found: dict[str, Any] = {}
    exec(compile(_python(client, key), "again", "exec"), found)
    trials, result = read_journal(path).trials, found["result"]
    assert result.design == trials.design
    assert result.trials.changes.tolist() == trials.changes.tolist()


def test_a_share_of_the_spread_sets_the_same_rows_aside(run, folder, tmp_path) -> None:
    path = tmp_path / "ridge.jsonl"
    words = "test numbers.csv --target price --drop id --algorithm sklearn.linear_model:Ridge"
    given = ("--n", "20", "--epsilon", "40% of spread", "--delta", "0.2", "--seed", "3")
    assert run(words, *given, "--journal", str(path)).exit_code in (0, 1)
    client = site_client(tmp_path)
    (key,) = re.findall(r'data-key="(\w+)"', client.get("/").text)
    found: dict[str, Any] = {}
    code = _python(client, key)
    assert "epsilon=poise.relative(0.4)," in code
    exec(compile(code, "again", "exec"), found)
    trials, result = read_journal(path).trials, found["result"]
    assert result.design == trials.design
    assert result.statistic == trials.test(result.epsilon, 0.2).statistic
