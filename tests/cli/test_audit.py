"""``poise audit``, really run: a valid test, one that is not, and what cannot be audited."""

from __future__ import annotations

import json
import re

import pytest

SMALL = "--n 4 --n-labeled 16 --n-unlabeled 4 --replications 40 --jobs 1"


def test_a_valid_test_passes(run) -> None:
    result = run(f"audit binomial constant --epsilon 0 --delta 0.5 {SMALL}")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == [
        "world", "measures", "delta*", "claimed", "measured", "limit", "finding"
    ]  # fmt: skip
    text = " ".join(result.stdout.split())
    assert "no violation found in 3 worlds; that is no proof of validity" in text
    assert "measured: share declared stable, with its exact 99% interval" in text


def test_the_bootstrap_is_found_invalid(run) -> None:
    options = f"audit bootstrap constant --epsilon 0 --param resamples=30 {SMALL} --json"
    result = run(options)
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["invalid"]
    assert content["verdict"].startswith("invalid: measured level")
    assert [world["measures"] for world in content["worlds"]] == ["power", "level", "level"]
    assert [world["finding"] for world in content["worlds"]] == ["invalid"] * 3
    assert all(world["claimed level"] == 0.05 for world in content["worlds"])
    assert run(options).stdout == result.stdout  # --seed has a default, and decides everything
    assert run(f"{options} --seed 1").stdout != result.stdout


@pytest.mark.parametrize("procedure", ["averaged", "simulation", "adaptive", "explore-then-test"])
def test_every_procedure_can_be_audited(run, procedure: str) -> None:
    few = {
        "averaged": "removals=2",
        "simulation": "simulations=5",
        "adaptive": "per_stage=5",
        "explore-then-test": "share=0.3",
    }
    result = run(
        f"audit {procedure} memorising --n 3 --delta 0.3 --n-labeled 20 --replications 3 --jobs 1",
        "--param", few.get(procedure, "share=0.3"), "--json",
    )  # fmt: skip
    assert result.exit_code in (0, 1)
    assert len(json.loads(result.stdout)["worlds"]) == 3


@pytest.mark.parametrize(("procedure", "worlds"), [("worst-labelling", 2), ("linear-smoother", 1)])
def test_tests_without_responses_are_audited_on_coins(run, procedure: str, worlds: int) -> None:
    """A trap must not break what they are told; the feature trap leaves the responses alone."""
    options = "--n 4 --delta 0.5 --n-labeled 8 --n-unlabeled 22 --replications 20 --jobs 1 --json"
    result = run(f"audit {procedure} nearest-coins {options} --param missing=2")
    assert result.exit_code == 0
    found = json.loads(result.stdout)["worlds"]
    assert [world["measures"] for world in found] == ["power", "level"][:worlds]
    assert found[0]["delta_star"] == 1 / 8
    refused = run(f"audit {procedure} constant {options}")
    assert refused.exit_code == 2
    assert re.search(r"row \d+ has", refused.stderr)


@pytest.mark.parametrize("world", ["mean-response", "nearest-neighbours", "flipping"])
def test_every_world_can_be_audited_in(run, world: str) -> None:
    result = run(f"audit binomial {world} --epsilon 1.5 --delta 0.4 {SMALL} --json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["worlds"][0]["delta_star"] < 0.4


def test_what_cannot_be_audited(run) -> None:
    wrong = run("audit binomial constant --param resamples=30")
    assert wrong.exit_code == 2
    assert "BinomialTest does not take these parameters" in wrong.stderr
    unstable = run("audit binomial memorising --n 4 --epsilon 0.5 --delta 0.01")
    assert unstable.exit_code == 2
    assert "test it as it is" in unstable.stderr
