"""Cards and pages: whole, escaped, readable on any ground, without a script or another file."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html import escape, unescape
from xml.etree import ElementTree

import numpy as np
import pytest

import poise
from helpers import trials_of
from poise.errors import PoiseError
from poise.results.report import VERDICT_COLOURS, card, page
from poise.results.trials import Failed

NAME = "<img src=x onerror=alert(1)>&'\"$x$\n\x1b[31m\u202e"
WARNING = "<script>alert(2)</script> http://example.org"
CHANGES = np.random.default_rng(0).exponential(size=60) * 0.2
ACTIVE = re.compile(r"<(script|style|link|iframe)|\bon\w+=|href=|https?:|url\(", re.IGNORECASE)


def named(changes=CHANGES, **settings):
    told = (Failed(0, "error", "it broke\n\nbecause: of this"),)
    trials = trials_of(np.reshape(changes, (-1, 1, 1)), algorithm=NAME, **settings)
    return replace(trials, failures=told, warnings=(WARNING,))


def shown():
    trials = named()
    labels = named(CHANGES > 0.9, distance="label")
    return [
        trials,
        trials.test(0.5, delta=0.2),
        trials.test(0.01, delta=0.2),
        trials.test(0.5, delta=0.001),
        labels,
        labels.test(delta=0.2),
        named([]),
        named([]).test(0.5, delta=0.2),
    ]


@pytest.mark.parametrize("result", shown(), ids=range(8))
def test_a_card_is_whole_and_runs_nothing(result):
    html = result._repr_html_()
    root = ElementTree.fromstring(html)  # every element closed, every character allowed
    tags = re.sub(r'"data:image/png;base64,[^"]*"', '""', " ".join(re.findall(r"<[^>]*>", html)))
    attributes = re.sub(r'alt="[^"]*"', "", tags)  # the headline in words, escaped
    assert not ACTIVE.search(attributes)
    assert "mathjax_ignore" in root.attrib["class"]
    assert not any(ord(character) < 32 and character != "\n" for character in html)
    assert "\u202e" not in html
    text = "".join(root.itertext())
    assert f"Warning: {WARNING}" in re.sub(r"\s+", " ", text)
    assert "<img src=x onerror=alert(1)>&'\"$x$ \\x1b[31m\\u202e" in text
    [picture] = root.iter("img")
    assert picture.attrib["src"].startswith("data:image/png;base64,iVBOR")


def test_a_card_says_what_the_summary_says():
    trials = named()
    for epsilon, delta in ((0.5, 0.2), (0.01, 0.2), (0.5, 0.001)):
        result = trials.test(epsilon, delta=delta)
        text = unescape(re.sub(r"<[^>]*>", "", html := card(result, picture=False)))
        _, first, *rest = result.summary().splitlines()
        assert first.split(": ", 1)[1] in text
        assert all(sentence in text for sentence in rest)
        assert all(line.split(": ", 1)[1] in text for line in result.details().splitlines())
        assert "trial 0 (error): it broke because: of this" in text
        badge = ElementTree.fromstring(html).find(".//span")
        assert badge.text == result.verdict
        assert VERDICT_COLOURS[result.verdict] in badge.attrib["style"]
    text = unescape(re.sub(r"<[^>]*>", "", card(trials, picture=False)))
    assert all(sentence in text for sentence in str(trials).splitlines()[1:])


def test_without_matplotlib_there_are_words_and_numbers(monkeypatch):
    result = named().test(0.5, delta=0.2)
    with_picture = result.to_html()
    for name in [each for each in sys.modules if each.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert result.to_html() == re.sub(r"<img[^>]*/>\n", "", with_picture) == card(result, False)
    with pytest.raises(PoiseError, match=r"pip install 'poise\[plot\]'"):
        result.plot()
    assert "without pictures" in page(result)


def luminance(colour):
    """Compute the relative luminance of WCAG 2.1, from its definition."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_are_seen_on_white_and_on_black():
    used = {found for each in shown() for found in re.findall(r"#[0-9a-f]{6}\b", card(each, False))}
    assert used > set(VERDICT_COLOURS.values())
    for colour in used:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5  # also of white words on it
        assert (luminance(colour) + 0.05) / (luminance("#111111") + 0.05) >= 3


# the page


def asked(changes, algorithm="an algorithm"):
    return poise.Trials.from_changes(changes, n=5, algorithm=algorithm).test(0.2, delta=0.1)


STABLE, UNSTABLE, OPEN = (asked(each) for each in ([0.1] * 30, [0.5] * 30, [0.1, 0.5]))


def test_a_report_stands_alone_and_all_names_are_escaped(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older one")
    results = {"<i>first</i>": asked([0.1] * 30, "<b>mine</b>\x1b[0m"), "second": UNSTABLE}
    results |= {"third": OPEN, "measured": STABLE.trials}
    poise.results.report.report(results, path, title="<u>\u202e", introduction="x & y <s>")
    html = path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    root = ElementTree.fromstring(html)  # every element closed
    assert not {"script", "link", "iframe", "i", "b", "u", "s"} & {each.tag for each in root.iter()}
    assert not re.search("http|\x1b|\u202e", html)
    assert "<title>&lt;u&gt;\\u202e</title>" in html
    assert "&lt;b&gt;mine&lt;/b&gt;\\x1b[0m" in html
    sources = [picture.attrib["src"] for picture in root.iter("img")]
    assert len(sources) == 4
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    without = re.sub(r"<img[^>]*/>\n", "", html)
    overview = html[: html.index("<h2>")]
    assert "x &amp; y &lt;s&gt;" in overview
    for (name, result), verdict in zip(results.items(), [*VERDICT_COLOURS, None], strict=True):
        shown = card(result, picture=False, unfolded=True)
        assert f"<h2>{escape(name)}</h2>\n<section>{shown}</section>" in without
        cells = rf"<td>{escape(name)}</td>.*?<td>{verdict}</td></tr>"
        assert bool(re.search(cells, overview)) == (verdict is not None)


def test_one_result_or_several_of_one_name():
    assert "<thead>" not in page(STABLE)  # an overview of one would say everything twice
    assert f'"poise {poise.__version__}"' in page(STABLE)[:200]  # where the command line looks
    both = page([STABLE, UNSTABLE])
    assert both.count("<td>an algorithm</td>") == 2
    assert page(iter([STABLE, UNSTABLE])) == both
    assert "<h1>Stability report</h1>" in both
