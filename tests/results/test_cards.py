"""What a notebook shows of every result: a card that is whole, escaped, and has a picture."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

import poise
from poise.algorithms.stabilized.guarantee import StabilityGuarantee
from poise.arguments.notebook_card import COLOURS, Card, ShownAsCard
from poise.arguments.verdict_colours import VERDICT_COLOURS
from poise.questions.check.check_report import CheckReport, Finding, Severity
from poise.questions.check.symmetry import SymmetryReport
from poise.questions.cost_of_stability import CostOfStability
from poise.results.certificate import Certificate
from poise.results.combined_evidence import CombinedEvidence
from poise.results.conditional_design import ConditionalDesign
from poise.results.coverage import CoverageGuarantee
from poise.results.ledger_note import LedgerNote, LedgerVerdict
from poise.results.monitor_status import MonitorStatus
from poise.results.plots.inline_svg import inline_svg
from poise.results.report.html_report import render_report
from poise.results.verdict import Outcome
from poise.simulation.audit.audit_result import AuditResult
from poise.simulation.audit.with_traps import AuditSuite
from poise.simulation.paper.claim import Claim
from poise.simulation.paper.reproduce import Reproduction
from poise.simulation.worlds import Proportion

NAME = "<img src=x onerror=alert(1)>&'\"$x$"
QUESTION = {"epsilon": 0.5, "delta": 0.2}
# What is shown without a picture: sentences whose numbers no picture makes clearer.
WITHOUT_PICTURE = {"CostOfStability", "SymmetryReport"}
# Handles of a file or of a run: they show what they lead to.
ELSEWHERE = {"Monitor", "Ledger"}


def fitted(X: Any, y: Any, seed: int) -> Any:
    return lambda rows: np.zeros(len(rows))


def changes(seed: int = 0) -> Any:
    return np.random.default_rng(seed).exponential(size=60) * 0.2


def measured(n: int = 5, seed: int = 0) -> poise.Trials:
    return poise.Trials.from_changes(changes(seed), n=n, algorithm=NAME)


def shown() -> list[Any]:
    """One result of every kind, each with a name that is HTML."""
    trials, design = measured(), measured().design
    record = poise.ConditionalTrials(
        changes().reshape(20, 3), ConditionalDesign(NAME, "deployed", n=3, n_fresh=20)
    )
    result = trials.test(**QUESTION)
    averaged = poise.Trials.measured(changes().reshape(-1, 1, 3), _shaped(design, 3))
    curve = poise.StabilityCurve((trials, measured(10, seed=1)), **QUESTION)
    asked = ("BinomialTest", NAME, Proportion(30, 100), "level")
    audit = AuditResult(*asked, 0.5, 0.2, 0.05, "shared", 0.3, 0.05, 0.04, None, 5, 60, 0)
    verdicts = (
        LedgerVerdict(NAME, "stable", True, True),
        LedgerVerdict(NAME, "stable", None, False),
    )
    finding = Finding("accepts n rows", Severity.FAIL, NAME, "ask a larger n")
    quiet = (0.0,) * 40
    test = poise.procedures.BinomialTest(n=4, epsilon=0.5, delta=0.3)
    ran = poise.run(test, fitted, [[0.0]] * 40, [1.0] * 40, random_state=0)
    both = (NAME, "b.record"), (4.0, 6.0), (0.1, 0.2), (30, 35)
    found = (Outcome.STABLE, False, NAME, 20, 0.1, 0.1, 0.05, 3, 200, 1e-9, 1.0)
    return [
        trials,
        result,
        averaged.test(**QUESTION, test="averaged"),
        trials.profile(),
        poise.CompareResult.judge({NAME: trials, "b": measured(seed=2)}, **QUESTION),
        curve,
        curve.extrapolate([20, 40]),
        poise.plan(n=10, delta=0.1, alpha=0.05, power=0.9),
        poise.advise([[0.0], [1.0]] * 150, [0.0, 1.0] * 150),
        record,
        record.test(**QUESTION),
        record.influence(0.2),
        MonitorStatus(design, 0.5, 0.1, 0.05, quiet, quiet),
        CombinedEvidence(*both, design, 0.5, 0.1, 0.05),
        Certificate("independent", 0.1, 0.05, 0.05, n=50, distance=NAME),
        result.certificate(),
        poise.Verification("stable", ("the digest",), (NAME,)),
        poise.ProcedureResult(NAME, *found),
        CoverageGuarantee.without_certificate(99, 0.9, NAME),
        StabilityGuarantee(200, 10.0, 0.1, "response", 74, 2438, "K", False),
        audit,
        AuditSuite((audit,)),
        CheckReport(NAME, 5, (finding,), 1, 0.01, 40),
        SymmetryReport("not symmetric", 1e-4, 1e-3, largest_change=2.0, n_fits=63),
        CostOfStability("R²", 40, (0.5, 0.3), (0.4, 0.3)),
        LedgerNote(NAME, 0.05, "holm", verdicts),
        Reproduction((Claim("3.1", NAME, "1", "1", passed=True),)),
        ran.transcript,
    ]


def _shaped(design: Any, points: int) -> Any:
    from dataclasses import replace

    return replace(design, n_labeled=20 * (design.n + points), points=points)


@pytest.fixture(scope="module")
def cards() -> dict[str, str]:
    return {type(result).__name__: result._repr_html_() for result in shown()}


_CLASS = re.compile(r"^class (\w+)(?:\[.*?\])?\((.*?)\):", re.MULTILINE | re.DOTALL)


def _leaves(name: str) -> set[str]:
    """Names of the classes of poise that are below this one and have none below them.

    They are read from the source: to import every module takes PyTorch, JAX, Dask and Ray.
    """
    files = Path(poise.__file__).parent.rglob("*.py")
    found = [match for file in files for match in _CLASS.findall(file.read_text("utf-8"))]
    below: dict[str, set[str]] = {}
    for child, bases in found:
        for base in re.findall(r"\w+", bases):
            below.setdefault(base, set()).add(child)

    def of(parent: str) -> set[str]:
        children = below.get(parent, set())
        return {leaf for child in children for leaf in of(child)} if children else {parent}

    return of(name)


def test_every_result_has_a_card_and_is_tested_here(cards: dict[str, str]) -> None:
    kinds = _leaves("ShownAsCard") | {"StabilityResult"}  # it has a subclass
    assert kinds - ELSEWHERE == set(cards)
    named = ("Result", "Trials", "Report", "Status", "Curve", "Guarantee", "Evidence", "Note")
    public = [getattr(poise, name) for name in poise.__all__ if name.endswith(named)]
    assert [cls for cls in public if not issubclass(cls, ShownAsCard)] == []


def test_every_card_is_whole_and_loads_nothing(cards: dict[str, str]) -> None:
    for name, html in cards.items():
        root = ElementTree.fromstring(html)  # every element is closed, every mark escaped
        assert "poise-card" in root.attrib["class"], name
        assert root.find(".//strong") is not None, name  # the sentence
        assert (root.find(".//svg") is not None) == (name not in WITHOUT_PICTURE), name
        for element in root.iter():
            assert element.tag not in ("script", "style", "link", "iframe"), name
            assert not [a for a in element.attrib if a.startswith("on")], name
            assert element.attrib.get("href", "#").startswith("#"), name
        assert "http" not in html, name


def test_names_are_escaped_in_every_card(cards: dict[str, str]) -> None:
    named = {name: "onerror" in html for name, html in cards.items()}
    free_of_names = {"Plan", "Advice", "Extrapolation", "Influence", "MonitorStatus"}
    free_of_names |= {"StabilityGuarantee", "SymmetryReport", "CostOfStability", "Transcript"}
    assert {name for name, seen in named.items() if not seen} <= free_of_names
    for name, html in cards.items():
        assert "<img src=x" not in html, name
        texts = "".join(ElementTree.fromstring(html).itertext())
        assert named[name] == (NAME[:20] in texts), name


def test_verdicts_are_the_words_of_the_results() -> None:
    for delta, verdict in ((0.2, "stable"), (0.001, "inconclusive")):
        html = measured().test(0.9, delta)._repr_html_()
        badge = ElementTree.fromstring(html).find(".//span")
        assert badge is not None
        assert badge.text == verdict


def test_handles_show_what_they_lead_to(tmp_path: Path) -> None:
    ledger = poise.Ledger(tmp_path / "mine.ledger")
    X, y = np.arange(90.0).reshape(-1, 1), np.zeros(90)
    result = poise.stability_test(fitted, X, y, n=5, **QUESTION, random_state=0, ledger=ledger)
    assert "mine.ledger: 1 question" in ledger._repr_html_()
    assert "hold together: 1" in ledger._repr_html_()
    assert result.ledger is not None
    asked = {"n": 5, **QUESTION, "random_state": 0, "progress": False}
    monitor = poise.Monitor(tmp_path / "mine.record", fitted, **asked)
    monitor.add(X, y)
    assert monitor._repr_html_() == monitor.status._repr_html_()
    test = poise.procedures.BinomialTest(n=4, epsilon=0.5, delta=0.3)
    ran = poise.run(test, DummyRegressor(), [[0.0]] * 40, [1.0] * 40, random_state=0)
    assert ran._repr_html_() == ran.result._repr_html_()


def test_without_matplotlib_the_card_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "poise.results.plots.shown_figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    html = measured().test(**QUESTION)._repr_html_()
    root = ElementTree.fromstring(html)
    assert root.find(".//svg") is None
    assert root.find(".//strong") is not None


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.1, from its definition."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_are_seen_on_white_and_on_black() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for colour in COLOURS.values():
        assert min(contrast(colour, ground) for ground in ("#ffffff", "#111111")) >= 3
        assert contrast(colour, "#ffffff") >= 4.5  # of the words on it


def test_pages_have_the_colours_of_the_cards() -> None:
    style = (Path(poise.__file__).parent / "cli" / "ui" / "static" / "ui.css").read_text()
    light, dark = style.split("prefers-color-scheme: dark")
    page = render_report([])
    names = {"stable": "stable", "unstable": "unstable", "open": "inconclusive"}
    for name, verdict in names.items():
        assert f"--{name}: {VERDICT_COLOURS[verdict]};" in light
        assert f"--{verdict}: {VERDICT_COLOURS[verdict]};" in page
        [brighter] = re.findall(rf"--{name}: (#\w+);", dark)
        assert contrast(brighter, "#171c22") >= 4.5


def test_a_picture_takes_its_ink_from_the_page_and_keeps_to_itself() -> None:
    figure = measured().plot(0.3)
    figure.axes[0].set_title(NAME, parse_math=False)
    svg = inline_svg(figure, NAME)
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"] == NAME
    assert "currentColor" in svg
    for dark in ("#000000", "#111827", "#1f4e79", "#ffffff"):
        assert dark not in svg
    ids = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
    assert len(ids) == len(set(ids))
    assert not set(ids) & {
        e.attrib.get("id")
        for e in ElementTree.fromstring(inline_svg(measured(seed=3).plot(0.3), "other")).iter()
    }
    assert {e.attrib["href"][1:] for e in root.iter("use")} <= set(ids)


def test_a_long_picture_is_sent_as_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.results.plots.shown_figure._LONGEST_SVG", 5_000)
    html = measured().profile()._repr_html_()
    assert "data:image/png;base64," in html
    assert ElementTree.fromstring(html).find(".//img") is not None


def test_a_card_without_anything_else() -> None:
    assert ElementTree.fromstring(Card("That is all.").html()).find(".//strong") is not None
    nothing = Card("None yet.", parts={"hold": 0, "fallen": 0}).html()
    assert ElementTree.fromstring(nothing).find(".//rect") is not None
