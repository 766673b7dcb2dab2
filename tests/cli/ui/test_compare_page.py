"""Several runs side by side: Holm's level for all of them, and the curve over n."""

from __future__ import annotations

import html
import math
import re
from typing import Any

import numpy as np
import pytest

from poise.arguments.printed_numbers import at_most, number
from poise.cli.ui.browser_figures import curve_figure
from poise.cli.ui.results_folder import Folder
from poise.results import CompareResult, StabilityCurve, Trials
from poise.results.judged_together import LIMITS_SHOW_LESS
from poise.storage.journal import read_journal
from poise.theory.decision import three_way
from poise.theory.holm_correction import holm
from shared.ui import site_client


def _judge(client: Any, chosen: list[str], **asked: float) -> dict[str, Any]:
    answer = client.get("/compare/judge", params={"run": chosen, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _table(piece: str) -> dict[str, list[str]]:
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', piece, flags=re.DOTALL)
    return {
        name: [html.unescape(re.sub("<[^>]+>", "", c)) for c in re.findall("<td>(.*?)</td>", cells)]
        for name, cells in rows
    }


@pytest.fixture
def chosen(keys) -> list[str]:
    return [keys[f"mean{n}.jsonl"] for n in (20, 5, 10)]


def test_runs_stand_side_by_side_with_one_level_for_all(client, chosen, results) -> None:
    trials = [read_journal(results / f"mean{n}.jsonl").trials for n in (5, 10, 20)]
    shown = _table(_judge(client, chosen, epsilon=0.35, delta=0.1)["pieces"]["compared"])
    alone = [t.test(0.35, 0.1, 0.05) for t in trials]
    assert shown["n"] == ["5", "10", "20"]
    assert shown["verdict, alone"] == [r.verdict.value for r in alone]
    at_once = [t.test(0.35, 0.1, 0.05 / 3) for t in trials]
    assert shown["delta at most"] == [at_most(r.delta_hat) for r in at_once]
    adjusted = holm([r.pvalue for r in alone])
    unstable = holm([r.pvalue_unstable for r in alone])
    both = list(zip(adjusted, unstable, strict=True))
    together = [three_way(p <= 0.05, q <= 0.05) for p, q in both]
    used = [q if v == "unstable" else p for (p, q), v in zip(both, together, strict=True)]
    assert shown["p, adjusted"] == [number(p) for p in used]
    assert shown["p-value, stable"] == [number(r.pvalue) for r in alone]
    assert shown["all together"] == together
    assert len(set(together)) == 2


def test_failed_trials_stand_apart_from_larger_changes(tmp_path) -> None:
    changes = [0.9, math.inf, math.inf] + [0.1] * 57
    trials = Trials.from_changes(changes, n=5, failures=["no memory"] * 2)
    trials.save(tmp_path / "fails.trials")
    (file,) = Folder(tmp_path).files()
    judged = _judge(site_client(tmp_path), [file.key], epsilon=0.5, delta=0.1)
    assert _table(judged["pieces"]["compared"])["larger changes"] == ["1 of 60, 2 failed"]


def test_all_together_has_the_verdicts_of_a_comparison(client, keys, results) -> None:
    trials = Trials.load(results / "mean.trials")
    judged = CompareResult.judge({"mean": trials}, epsilon=0.01, delta=0.1)
    assert judged["mean"].verdict == "unstable"
    piece = _judge(client, [keys["mean.trials"]], epsilon=0.01, delta=0.1)["pieces"]["compared"]
    assert _table(piece)["all together"] == ["unstable"]
    assert "“unstable” likewise" in html.unescape(piece)


def test_a_limit_beyond_the_question_beside_stable_is_explained(tmp_path) -> None:
    for name, m in (("few", 30), ("many", 90)):
        Trials.from_changes([0.1] * m, n=5).save(tmp_path / f"{name}.trials")
    chosen = [file.key for file in Folder(tmp_path).files()]
    piece = _judge(site_client(tmp_path), chosen, epsilon=0.5, delta=0.1)["pieces"]["compared"]
    assert _table(piece)["all together"] == ["stable", "stable"]
    assert max(map(float, _table(piece)["delta at most"])) > 0.1
    assert LIMITS_SHOW_LESS in html.unescape(piece)


def test_the_table_has_the_cells_of_a_comparison(tmp_path) -> None:
    """One fact, one spelling: in the browser, in the library and on the command line."""
    changes = np.full((40, 1, 4), 0.1)
    changes[3, 0, :2] = 0.9
    trials = Trials.from_changes(changes, n=5)
    trials.save(tmp_path / "shares.trials")
    (file,) = Folder(tmp_path).files()
    piece = _judge(site_client(tmp_path), [file.key], epsilon=0.5, delta=0.1)["pieces"]["compared"]
    shown, table = _table(piece), CompareResult.judge({"x": trials}, 0.5, 0.1).table()
    assert table.columns[2:] == ["mean share", "p, adjusted", "delta at most", "epsilon at most"]
    assert [shown[name][0] for name in table.columns[2:]] == table.rows[0][2:]
    assert shown["mean share"] == ["0.0125"]


def test_the_curve_over_n_is_the_librarys(client, chosen, results) -> None:
    trials = tuple(read_journal(results / f"mean{n}.jsonl").trials for n in (5, 10, 20))
    curve = StabilityCurve(trials, epsilon=0.4, delta=0.2, alpha=0.05)
    limits, seen = _judge(client, chosen, epsilon=0.4, delta=0.2)["figures"]["curve"]["data"]
    assert limits["x"] == [5, 10, 20]
    assert tuple(limits["y"]) == curve.delta_hat
    assert tuple(seen["y"]) == curve.observed_delta
    assert "curve" not in _judge(client, chosen[:1])["figures"]


def test_bands_are_drawn_over_each_other(client, chosen, results) -> None:
    bands = client.get("/compare/band", params={"run": chosen}).json()["figures"]["profiles"]
    profile = read_journal(results / "mean5.jsonl").trials.profile(0.05)
    drawn = bands["data"][0]
    assert drawn["name"].startswith("mean, n = 5")
    assert drawn["y"][:20] == profile.delta_hat[:20].tolist()
    assert len({line["line"]["dash"] for line in bands["data"]}) == 3


def test_without_a_choice_the_reader_chooses(client, keys) -> None:
    page = client.get("/compare").text
    assert page.count('name="run"') == 6
    assert keys["mean.trials"] in page
    assert client.get("/compare?run=nonsense").text == page
    assert client.get("/compare/judge?run=nonsense").json()["pieces"] == {}
    assert "Compare" in client.get("/compare", params={"run": [keys["mean.trials"]]}).text


def test_saved_trials_compare_too(client, keys, results) -> None:
    shown = _table(_judge(client, [keys["mean.trials"]], epsilon=0.4)["pieces"]["compared"])
    result = Trials.load(results / "mean.trials").test(0.4, 0.1)
    assert shown["verdict, alone"] == [result.verdict.value]


def test_the_legend_and_the_points_of_a_curve_are_true_as_printed() -> None:
    trials = tuple(Trials.from_changes([0.1] * 40, n=n) for n in (5, 10))
    limits, _ = curve_figure(StabilityCurve(trials, epsilon=0.4, delta=0.2, alpha=1e-7))["data"]
    assert limits["name"] == "limit, all sizes at once (confidence 0.9999999)"
    assert limits["text"] == [at_most(limit) for limit in limits["y"]]
    assert all(float(text) >= y for text, y in zip(limits["text"], limits["y"], strict=True))
