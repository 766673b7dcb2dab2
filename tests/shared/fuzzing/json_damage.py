"""One value of a JSON text replaced, removed or nested."""

from __future__ import annotations

import json
import zlib
from copy import deepcopy
from random import Random
from typing import Any

VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 0.5, -0.5, 1.5, 1e300, -1e300, 1e-320, 10**18, 10**25,
    -(10**18), 2**63, 2**64, 10**400, float("nan"), float("inf"), float("-inf"),
    "", "x", "inf", "Infinity", "nan", "0", "\x00", "\ud800", "\x1b[2J", "$x_$", "a" * 5000,
    "stable", "unstable", "averaged",
    [], {}, [None], [[]], [1, [2]], [[1.0]], ["x"], [0.5] * 40, [-1], [10**30],
    {"": 0}, {"a": {"b": []}},
]  # fmt: skip


def damage_json(content: bytes, chance: Random) -> bytes:
    """Replace, remove, rename, double or nest one value somewhere in a JSON text."""
    parsed = json.loads(content)
    for _ in range(1 if chance.random() < 0.8 else 2):
        parsed = _damaged(parsed, chance)
    return json.dumps(parsed).encode()


def damage_json_lines(content: bytes, chance: Random) -> bytes:
    """Damage one line of a file that holds one JSON object per line."""
    lines = content.splitlines(keepends=True)
    # The first line is the header: it has most of the fields.
    at = 0 if chance.random() < 0.5 else chance.randrange(len(lines))
    lines[at] = damage_json(lines[at], chance) + b"\n"
    return b"".join(lines)


def damage_checked_lines(content: bytes, chance: Random) -> bytes:
    """Damage one line, and give it a checksum that fits: its content is looked at then."""
    lines = content.splitlines(keepends=True)
    at = 0 if chance.random() < 0.4 else chance.randrange(len(lines))
    entry = json.loads(lines[at])
    entry.pop("crc32", None)
    damaged = damage_json(json.dumps(entry).encode(), chance)
    lines[at] = damaged[:-1] + f', "crc32": "{zlib.crc32(damaged):08x}"}}\n'.encode()
    return b"".join(lines)


def _damaged(parsed: Any, chance: Random) -> Any:
    if not isinstance(parsed, (dict, list)) or not parsed:
        return _any_value(chance)
    inside, key = _somewhere(parsed, chance)
    act = chance.randrange(8)
    if act == 0:
        del inside[key]
    elif act == 1 and isinstance(inside, dict):
        inside[
            chance.choice(
                ["x", "", "format", "test", "n", key + "_is_infinite", key + "_infinite_at"]
            )
        ] = chance.choice([inside[key], True, [0], [10**9], [[0]], [-5], "x"])
    elif act == 2:
        inside[key] = _nested(inside[key], chance.choice([1, 5, 150, 300]))
    elif act == 3 and isinstance(inside[key], list):
        inside[key] = inside[key] * chance.choice([0, 2, 3])
    elif act == 4 and isinstance(inside[key], (int, float)):
        inside[key] = inside[key] * chance.choice([-1, 2, 0.1, 10**6, 10**15])
    else:
        inside[key] = _any_value(chance)
    return parsed


def _any_value(chance: Random) -> Any:
    return deepcopy(chance.choice(VALUES))  # it may itself be damaged next


def _somewhere(parsed: Any, chance: Random) -> tuple[Any, Any]:
    """Choose a place; half of the time deeper inside, where there is something deeper."""
    inside = parsed
    while True:
        key = chance.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        deeper = inside[key]
        if not (isinstance(deeper, (dict, list)) and deeper and chance.random() < 0.6):
            return inside, key
        inside = deeper


def _nested(value: Any, times: int) -> Any:
    for _ in range(times):
        value = [value] if times % 2 else {"a": value}
    return value
