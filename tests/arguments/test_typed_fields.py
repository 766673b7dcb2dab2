"""What a file may hold is decided by the types of the fields, in one place."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from poise.arguments.typed_fields import read_object
from poise.errors import ArgumentError, RecordError


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ArgumentError(f"size must be >= 0, got {self.size}")


@dataclass(frozen=True)
class Outer:
    n: int
    share: float
    name: str
    ready: bool
    colour: Colour
    inner: Inner
    top: float | None = None
    changes: tuple[float, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    kind: Literal["a", "b"] = "a"
    notes: dict[str, int] = field(default_factory=dict)
    anything: Any = None


GOOD = {
    "n": 5,
    "share": 0.5,
    "name": "x",
    "ready": True,
    "colour": "red",
    "inner": {"size": 3},
    "top": None,
    "changes": [0.5, 1, math.inf],
    "ends": [0.0, 2.0],
    "kind": "b",
    "notes": {"a": 1},
    "anything": [{}],
}


def test_what_fits_is_converted() -> None:
    made = read_object(Outer, GOOD, "a thing")
    assert made.colour is Colour.RED
    assert made.inner == Inner(3)
    assert made.changes == (0.5, 1, math.inf)
    assert made.ends == (0.0, 2.0)


def test_defaults_need_not_be_there() -> None:
    needed = {name: GOOD[name] for name in ("n", "share", "name", "ready", "colour", "inner")}
    assert read_object(Outer, needed, "a thing").kind == "a"


WRONG = [
    ("n", 5.0),
    ("n", True),
    ("n", 2**70),
    ("n", "5"),
    ("n", None),
    ("share", "0.5"),
    ("share", math.nan),
    ("share", True),
    ("share", [0.5]),
    ("name", 5),
    ("ready", 1),
    ("colour", "blue"),
    ("colour", []),
    ("inner", {}),
    ("inner", {"size": "big"}),
    ("inner", {"size": 1, "other": 2}),
    ("inner", [1]),
    ("top", "high"),
    ("changes", 0.5),
    ("changes", [0.5, None]),
    ("changes", "0.5"),
    ("ends", [0.0]),
    ("ends", [0.0, 1.0, 2.0]),
    ("kind", "c"),
    ("notes", [1]),
    ("notes", {"a": "b"}),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_does_not_fit_is_refused_by_name(name, value) -> None:
    with pytest.raises(RecordError, match=r"written by poise"):
        read_object(Outer, GOOD | {name: value}, "a thing")


def test_the_message_names_field_and_value() -> None:
    with pytest.raises(RecordError, match="not a thing written by poise: share is 'half'"):
        read_object(Outer, GOOD | {"share": "half"}, "a thing")
    with pytest.raises(RecordError, match="no n, share in it"):
        read_object(Outer, {"name": "x", "ready": 1, "colour": 1, "inner": 1}, "a thing")
    with pytest.raises(RecordError, match="it has a field 'colour_'"):
        read_object(Outer, GOOD | {"colour_": 1}, "a thing")
    with pytest.raises(RecordError, match="size must be >= 0, got -1"):
        read_object(Outer, GOOD | {"inner": {"size": -1}}, "a thing")
    with pytest.raises(RecordError, match=r"\[1\] is no object with fields"):
        read_object(Outer, [1], "a thing")
    with pytest.raises(RecordError, match=r"\['n'\] is no object with fields"):
        read_object(Outer, ["n"], "a thing")
    with pytest.raises(RecordError, match="is no object with fields"):
        read_object(Outer, GOOD | {3: 1}, "a thing")


def test_what_follows_from_the_fields_may_be_there_where_it_is_said() -> None:
    assert read_object(Outer, GOOD | {"twice_n": 10}, "a thing", derived=True).n == 5
