"""What a notebook shows of a result: whole, escaped, readable on any ground, without a script."""

from __future__ import annotations

import re
import sys
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.results.design import Design
from poise.results.report import VERDICT_COLOURS, card, page
from poise.results.trials import Failed

NAME = "<img src=x onerror=alert(1)>&'\"$x$\n\x1b[31m\u202e"
WARNING = "<script>alert(2)</script> http://example.org"
CHANGES = np.random.default_rng(0).exponential(size=60) * 0.2
ACTIVE = re.compile(r"<(script|style|link|iframe)|\bon\w+=|href=|https?:|url\(", re.IGNORECASE)


def trials_of(changes=CHANGES, **settings):
    rows = {"n_labeled": 6 * len(changes), "n_unlabeled": 0}
    design = Design(algorithm=NAME, n=5, **rows, **settings)
    told = (Failed(0, "error", "it broke\n\nbecause: of this"),)
    return poise.Trials(np.reshape(changes, (-1, 1, 1)), design, told, warnings=(WARNING,))


def shown():
    trials = trials_of()
    labels = trials_of(CHANGES > 0.9, distance="label")
    return [
        trials,
        trials.test(0.5, delta=0.2),
        trials.test(0.01, delta=0.2),
        trials.test(0.5, delta=0.001),
        labels,
        labels.test(delta=0.2),
        trials_of([]),
        trials_of([]).test(0.5, delta=0.2),
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
    trials = trials_of()
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
    result = trials_of().test(0.5, delta=0.2)
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


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_are_seen_on_white_and_on_black():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    used = {found for each in shown() for found in re.findall(r"#[0-9a-f]{6}\b", card(each, False))}
    assert used > set(VERDICT_COLOURS.values())
    for colour in used:
        assert min(contrast(colour, ground) for ground in ("#ffffff", "#111111")) >= 3
        assert contrast(colour, "#ffffff") >= 4.5  # of the words on it
