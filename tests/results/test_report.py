"""The HTML page: complete, escaped, and in need of no other file."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import poise
from poise.errors import RecordError
from poise.results.report import card, page, report


def measured(changes, algorithm="an algorithm"):
    return poise.Trials.from_changes(changes, n=5, algorithm=algorithm)


def asked(changes, algorithm="an algorithm"):
    return measured(changes, algorithm).test(epsilon=0.2, delta=0.1)


STABLE, UNSTABLE, OPEN = (asked(each) for each in ([0.1] * 30, [0.5] * 30, [0.1, 0.5]))


def test_a_report_stands_alone(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older one")
    results = {"first": STABLE, "second": UNSTABLE, "third": OPEN, "measured": STABLE.trials}
    poise.results.report.report(results, path, title="Mine", introduction="Four of them.")
    html = path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    root = ElementTree.fromstring(html)  # every element closed
    assert not {"script", "link", "iframe"} & {element.tag for element in root.iter()}
    assert "http" not in html
    sources = [picture.attrib["src"] for picture in root.iter("img")]
    assert len(sources) == 4
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    without = re.sub(r"<img[^>]*/>\n", "", html)
    for name, result in results.items():
        shown = card(result, picture=False, unfolded=True)
        assert f"<h2>{name}</h2>\n<section>{shown}</section>" in without
    overview = html[: html.index("<h2>")]
    for name, verdict in zip(results, ("stable", "unstable", "inconclusive"), strict=False):
        assert re.search(rf"<td>{name}</td>.*?<td>{verdict}</td></tr>", overview)
    assert "Four of them." in overview


def test_everything_that_users_name_is_escaped():
    html = page(
        {"<i>a</i>": asked([0.1] * 30, "<b>mine</b>\x1b[0m"), "b": STABLE},
        title="<u>\u202e",
        introduction="x & y <s>",
    )
    ElementTree.fromstring(html)
    for text in ("&lt;i&gt;a", "&lt;b&gt;mine&lt;/b&gt;\\x1b[0m", "x &amp; y &lt;s&gt;"):
        assert text in html
    assert "<title>&lt;u&gt;\\u202e</title>" in html
    assert not re.search(r"<(i|b|u|s)>|\x1b|\u202e", html)


def test_one_result_or_several_of_one_name():
    assert "<thead>" not in page(STABLE)  # an overview of one would say everything twice
    both = page([STABLE, UNSTABLE])
    assert both.count("<td>an algorithm</td>") == 2
    assert page(iter([STABLE, UNSTABLE])) == both
    assert "<h1>Stability report</h1>" in both


def test_marked_as_written_by_poise_where_the_command_line_looks():
    assert f'"poise {poise.__version__}"' in page(STABLE)[:200]


def test_a_report_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(RecordError, match="cannot be written: No such file or directory"):
        report(STABLE, tmp_path / "none" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="cannot be written"):
        report(STABLE, tmp_path / "folder")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == []
