"""The page for planning: the library's power, ceiling, rows and menu."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

import poise
from poise.arguments.printed_numbers import at_least
from poise.results.text.question_menu_table import menu_table
from poise.theory.question_menu import menu

ASKED = {"rows": 3000, "n": 100, "delta": 0.1, "alpha": 0.05, "delta_star": 0.01}


def _answer(client: Any, place: str, **asked: float) -> dict[str, Any]:
    answer = client.get(place, params=ASKED | asked, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_sliders_begin_with_what_the_address_asks(client) -> None:
    page = client.get("/plan?rows=777").text
    assert 'name="rows" value="777"' in page
    assert all(f'data-for="{name}"' in page for name in ASKED)


def test_power_ceiling_and_rows_are_the_librarys(client) -> None:
    answer = _answer(client, "/plan/answer")
    said = html.unescape(answer["pieces"]["planned"])
    known = {name: ASKED[name] for name in ("n", "delta", "alpha", "delta_star")}
    now = poise.plan(n_labeled=3000, **known)
    needed = poise.plan(power=0.9, **known)
    assert f"{now.n_trials:,} trials" in said
    assert f"probability {at_least(now.achieved_power)}" in said
    assert f"{needed.n_labeled:,} labelled rows ({needed.n_trials:,} trials)" in said
    lines = {line.get("name"): line for line in answer["figures"]["power"]["data"]}
    assert lines["Binomial"]["y"][0] == now.power_at(0.0)
    highest = lines["ceiling of all valid tests"]
    for truth, bound in zip(highest["x"][::25], highest["y"][::25], strict=True):
        assert bound == poise.theory.power_bound(100, 3000, delta=0.1, delta_star=truth, alpha=0.05)


def test_the_menu_is_the_librarys(client) -> None:
    piece = html.unescape(_answer(client, "/plan/menu", rows=500)["pieces"]["menu"])
    rows = re.findall(r"<tr[^>]*>((?:<td>[^<]*</td>)+)</tr>", piece)
    cells = [re.findall(r"<td>([^<]*)</td>", row) for row in rows]
    found = menu(500)
    assert cells == [list(row) for row in menu_table(found).rows]
    assert found.largest is not None
    assert f'class="chosen"><td>{found.largest.n}<' in piece


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"n": "x"}, "n must be a number"), ({"delta": "2"}, "delta"), ({"rows": "1e999"}, "rows")],
)
def test_nonsense_is_refused_with_the_reason(client, asked, said) -> None:
    answer = client.get("/plan/answer", params=asked, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert said in answer.json()["error"]


def test_a_question_that_no_rows_answer_is_named(client) -> None:
    answer = client.get("/plan/answer", params=ASKED | {"delta_star": 0.1})
    assert answer.status_code == 400 or "No number of rows is enough" in answer.text
