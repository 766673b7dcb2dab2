"""Canonical JSON: the numbers and keys of RFC 8785, and what it refuses."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import RecordError
from poise.results.canonical_json import canonical_json, read_strict_json, sha256_of

# Appendix B of RFC 8785: IEEE 754 doubles and how they are written.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers_of_the_standard(bits, text) -> None:
    [value] = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value).decode() == text


def test_text_and_keys_of_the_standard() -> None:
    # Section 3.2.2 and 3.2.3 of RFC 8785.
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '€$\x0f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    text = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_json(value).decode() == text
    keys = ["€", "\r", "\ufb33", "1", "😀", "\x80", "ö"]
    ordered = list(json.loads(canonical_json(dict.fromkeys(keys, 0))))
    assert ordered == ["\r", "1", "\x80", "ö", "€", "😀", "\ufb33"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc€"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_nothing_is_lost_and_the_form_is_the_only_one(value) -> None:
    written = canonical_json(value)
    assert read_strict_json(written, "it") == value
    assert canonical_json(read_strict_json(written, "it")) == written


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, "\ud800", b"", {1}])
def test_refuses_what_json_does_not_have(value) -> None:
    with pytest.raises(RecordError):
        canonical_json([value])


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', "[NaN]", "[Infinity]", "{", "[" * 100_000])
def test_strict_reading(text) -> None:
    with pytest.raises(RecordError, match=r"^x\.json is not JSON that poise reads"):
        read_strict_json(text, "x.json")


def test_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert sha256_of({"a": 1.0, "b": 2}) == sha256_of({"b": 2.0, "a": 1})
    assert sha256_of({"a": 1}) != sha256_of({"a": 2})
