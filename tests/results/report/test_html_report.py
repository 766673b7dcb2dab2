"""The HTML page: complete, escaped, and readable without pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import poise
from poise import Trials
from poise.results.report.html_report import Section, render_report, write_report


def section(changes: list[float], algorithm: str = "an algorithm", **more: object) -> Section:
    trials = Trials.from_changes(changes, n=5, algorithm=algorithm)
    result = trials.test(epsilon=0.2, delta=0.1)
    return Section(result, **({"trials": trials} | more))  # type: ignore[arg-type]


def test_everything_that_users_name_is_escaped() -> None:
    page = render_report(
        [section([0.1] * 30, "<b>mine</b>", note="a < b")], title="<i>", introduction="x & y"
    )
    for text in ("&lt;b&gt;mine&lt;/b&gt;", "a &lt; b", "<title>&lt;i&gt;</title>", "x &amp; y"):
        assert text in page
    assert "<b>mine" not in page


def test_the_whole_summary_is_there() -> None:
    one = section([0.1] * 30)
    page = render_report([one])
    for sentence in one.result.summary().splitlines():
        assert f"<p>{sentence}</p>" in page
    assert "<thead>" not in page  # an overview of one would say everything twice


def test_several_verdicts_get_an_overview() -> None:
    page = render_report([section([0.1] * 30), section([0.5] * 30), section([0.1, 0.5])])
    overview = page[page.index("<thead>") : page.index("</table>")]
    for verdict in ("stable", "unstable", "inconclusive"):
        assert f'<td class="verdict">{verdict}</td>' in overview


def test_without_the_changes_nothing_is_drawn() -> None:
    assert "<img" not in render_report([section([0.1] * 30, trials=None)])
    assert "<img" in render_report([section([0.1] * 30)])


def test_infinite_limits_are_written_out(tmp_path: Path) -> None:
    write_report(tmp_path / "page.html", [section([np.inf] * 3)])
    assert "infinity" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_provenance_is_that_of_the_certificate() -> None:
    X = np.random.default_rng(2).normal(size=(100, 2))
    result = poise.stability_test(
        lambda X, y, seed: lambda rows: [y[0]] * len(rows), X, X[:, 0], n=9, epsilon=1, delta=0.5
    )
    page = render_report([Section(result)])
    certificate = result.certificate()
    origin = certificate.content["provenance"]
    shown = [certificate.digest, origin["rows"], origin["code"], f"numpy {np.__version__}"]
    for text in (*shown, certificate.content["design"]["seed"]):
        assert f"{text}<" in page or f"{text}," in page
    assert certificate.content["statement"]["declared"] in page
    from_json = poise.StabilityResult.from_json(result.to_json())
    assert "Provenance" not in render_report([Section(from_json)])
