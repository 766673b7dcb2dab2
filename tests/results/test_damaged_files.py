"""Files that were damaged or edited: a valid object comes out, or an error of poise, in no time."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import poise
from poise.errors import PoiseError, RecordError

TIMES = 150
VALUES = [None, -1, 1e300, "x", [], {}, True, float("nan"), 10**25, [1, [2]], 0.5, 10**18]


@pytest.fixture(scope="module")
def written():
    rng = np.random.default_rng(0)
    trials = poise.Trials.from_changes(rng.exponential(size=30), n=5)
    several = poise.Trials.from_changes(rng.exponential(size=(30, 2, 2)), n=5)
    plan = poise.plan(n=5, delta=0.2, delta_star=0.05)
    return {
        "result": (trials.test(0.5, 0.4).to_json(), poise.StabilityResult.from_json),
        "averaged": (several.test(0.5, 0.4).to_json(), poise.StabilityResult.from_json),
        "profile": (trials.profile().to_json(), poise.Profile.from_json),
        "trials": (trials.to_json(), poise.Trials.from_json),
        "several": (several.to_json(), poise.Trials.from_json),
        "plan": (plan.to_json(), poise.Plan.from_json),
    }


def damaged_bytes(text: str, chance: random.Random) -> str:
    """Flip, cut, insert or repeat a few bytes."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(data) + 1)
        what = chance.randrange(5)
        if what == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif what == 1:
            del data[place : place + chance.randint(1, 8)]
        elif what == 2:
            data[place:place] = bytes(chance.randint(32, 126) for _ in range(3))
        elif what == 3:
            data = data[:place] if chance.random() < 0.2 else data
        else:
            data[place : place + 3] = chance.choice([b"null", b"1e9", b"-1", b"[]", b"9" * 25])
    return data.decode("utf-8", "replace")


def edited_json(text: str, chance: random.Random) -> str:
    """Replace or remove one value somewhere in the object."""
    content = json.loads(text)
    inside = content
    while True:
        key = chance.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
        deeper = inside[key]
        if not (isinstance(deeper, (dict, list)) and deeper and chance.random() < 0.5):
            break
        inside = deeper
    if isinstance(inside, dict) and chance.random() < 0.2:
        del inside[key]
    else:
        inside[key] = chance.choice(VALUES)
    return json.dumps(content)


@pytest.mark.parametrize("kind", ["result", "averaged", "profile", "trials", "several", "plan"])
@pytest.mark.parametrize("damage", [damaged_bytes, edited_json])
def test_nothing_but_errors_of_poise(kind, damage, written) -> None:
    text, load = written[kind]
    chance = random.Random(kind)
    refused = 0
    for _ in range(TIMES):
        try:
            found = load(damage(text, chance))
        except PoiseError:
            refused += 1
        else:
            found.to_json()
            if kind != "plan":  # whose summary plans both tests: slow
                found.summary() if hasattr(found, "summary") else found.table()
    assert refused > TIMES // 4


def test_more_changes_than_trials_are_refused() -> None:
    trials = poise.Trials.from_changes([0.5] * 20, n=5)
    content = trials.to_dict() | {"changes": [0.5] * 40}
    with pytest.raises(RecordError, match="40 changes for 20 trials"):
        poise.Trials.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", 1.5), ("delta", -0.1), ("pvalue", 2.0), ("n_observed", 50), ("statistic", -1)],
)
def test_numbers_that_no_test_can_give(name, value) -> None:
    result = poise.Trials.from_changes([0.5] * 20, n=5).test(0.1, 0.2)
    with pytest.raises(RecordError, match="not a result written by poise"):
        poise.StabilityResult.from_json(json.dumps(result.to_dict() | {name: value}, default=str))
