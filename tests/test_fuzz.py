"""Damaged files of every format: nothing but a valid object or an error of poise comes out.

20,000 inputs with a fixed seed; ``benchmarks/fuzz.py`` reads as many as one likes.
"""

from __future__ import annotations

import json
import resource
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.cli import main
from poise.errors import PoiseError
from shared.fuzzing.formats import formats
from shared.fuzzing.outcomes import fuzzed

FORMATS = formats()
SLOW = {"csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zip", "feather on disk", "parquet on disk"}
SLOW |= {"transcript", "leftover rows", "monitor record", "certificate file", "ledger"}
NOT_DESIGNS = ("program's answer", "certificate file")  # whose errors are of another kind
JSON = [
    name for name, kind in FORMATS.items() if kind.ending == ".json" and name not in NOT_DESIGNS
]
MOST_SECONDS = 10.0  # of CPU for one input; the slowest takes a fifth of a second
MOST_MEGABYTES = 500


def inputs_of(name: str) -> int:
    """Return how many inputs of a format are read: fewer where one takes milliseconds."""
    return 400 if name in SLOW else 900


def megabytes() -> float:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_there_are_20_000_inputs_of_every_format() -> None:
    assert sum(map(inputs_of, FORMATS)) >= 19_000  # the rest are Hypothesis's and the commands'
    assert set(FORMATS) > SLOW


@pytest.mark.parametrize("name", FORMATS)
def test_a_valid_object_or_an_error_of_poise(name, temporary) -> None:
    before = megabytes()
    tally = fuzzed(FORMATS[name], inputs_of(name), seed=0, folder=temporary, thorough=10)
    assert not tally.raw, tally.raw.most_common()
    assert min(tally.accepted, tally.refused) > inputs_of(name) // 50
    assert tally.slowest < MOST_SECONDS
    assert megabytes() - before < MOST_MEGABYTES


@pytest.mark.parametrize("name", FORMATS)
def test_an_undamaged_file_is_read_and_used(name, tmp_path) -> None:
    kind = FORMATS[name]
    for number, sample in enumerate(kind.samples):
        if sample != b'{"id": 4, "error": "singular"}':
            found = kind.read_content(sample, tmp_path / f"{number}{kind.ending}")
            kind.use(found)
            kind.draw(found)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", JSON)
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_json_in_any_field(name, data, tmp_path) -> None:
    kind = FORMATS[name]
    content = json.loads(data.draw(st.sampled_from(kind.samples)))
    inside = content["design"] if "design" in content and data.draw(st.booleans()) else content
    inside[data.draw(st.sampled_from(sorted(inside)))] = data.draw(ANY_JSON)
    try:
        found = kind.read_content(json.dumps(content).encode(), tmp_path / "damaged.json")
    except PoiseError:
        return
    kind.use(found)


FIT = ["--target", "y", "--algorithm", "sklearn.dummy:DummyRegressor", "--n", "2"]
COMMANDS = {
    "saved trials": ["show"],
    "saved conditional trials": ["show"],
    "journal": ["status"],
    "monitor record": ["monitor"],
    "toml": ["run"],
    "certificate file": ["verify"],
    "csv": ["profile", *FIT],
    "csv.gz": ["profile", *FIT],
    "npz": ["profile", *FIT],
    "parquet": ["profile", *FIT],
    "feather": ["profile", *FIT],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_prints_one_line(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind, chance = FORMATS[name], Random(name)
    path = Path(f"damaged{kind.ending}")
    command, *options = COMMANDS[name]
    refused = 0
    for _ in range(25):
        path.write_bytes(kind.damaged(chance))
        done = CliRunner().invoke(
            main, [command, str(path), *options, "--quiet"], prog_name="poise"
        )
        assert done.exit_code in (0, 1, 2, 3), done.output
        if done.exit_code == 2:
            refused += 1
            assert len(done.stderr.splitlines()) == 1, done.stderr
            assert "Traceback" not in done.output
    assert refused > 2


def test_combine_names_the_damaged_record(tmp_path) -> None:
    kind, chance = FORMATS["monitor record"], Random(0)
    good, bad = tmp_path / "good.record", tmp_path / "bad.record"
    good.write_bytes(kind.samples[0])
    for _ in range(25):
        bad.write_bytes(kind.damaged(chance))
        words = ["combine", str(good), str(bad), "--disjoint"]
        done = CliRunner().invoke(main, words, prog_name="poise")
        assert done.exit_code in (0, 1, 2), done.output
        assert "Traceback" not in done.output
