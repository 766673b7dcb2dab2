"""JSON: strict, without loss, and readable for those who know no convention but null."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.results.json_encoding import from_json, to_json

NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)
WORDS = st.text(max_size=8) | st.sampled_from(["Infinity", "-Infinity", "\\Infinity"])
INFINITIES = st.sampled_from([math.inf, -math.inf])  # rare among floats, and what is special here
PLAIN = NUMBERS | INFINITIES | st.none() | st.booleans() | WORDS
NAMES = st.text(min_size=1, max_size=8).map(lambda name: f"{name}!")  # none ends like a flag
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_everything_comes_back(content: dict[str, Any]) -> None:
    text = to_json(content)
    assert from_json(text) == content
    strict = json.loads(text, parse_constant=refuse)
    assert strict.pop("poise_version") == poise.__version__


def test_infinite_numbers_are_null_with_a_word_beside_them() -> None:
    content = {
        "limit": math.inf,
        "log": -math.inf,
        "changes": np.array([0.5, np.inf, 1.0, np.inf]),
        "pairs": [[0.0, math.inf], [-math.inf, 1.0]],
        "unknown": math.nan,
        "inner": {"limit": math.inf},
    }
    found = json.loads(to_json(content))
    assert found == {
        "poise_version": poise.__version__,
        "limit": None,
        "limit_is_infinite": True,
        "log": None,
        "log_is_minus_infinite": True,
        "changes": [0.5, None, 1.0, None],
        "changes_infinite_at": [1, 3],
        "pairs": [[0.0, None], [None, 1.0]],
        "pairs_infinite_at": [[0, 1]],
        "pairs_minus_infinite_at": [[1, 0]],
        "unknown": None,
        "inner": {"limit": None, "limit_is_infinite": True},
    }


def test_what_0_1_0_wrote_is_read() -> None:
    text = '{"limit": "Infinity", "log": "-Infinity", "name": "\\\\Infinity", "list": ["Infinity"]}'
    expected = {"limit": math.inf, "log": -math.inf, "name": "Infinity", "list": [math.inf]}
    assert from_json(text) == expected
