"""Files that poise 0.1.0 wrote before its modules moved are read by every later version.

``written_by_0_1_0`` was made by ``python tests/storage/test_older_files.py`` at that version.
"""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.procedures import AdaptiveTest, BinomialTest, BootstrapTest
from poise.protocol.random_order import PERMUTATION
from poise.results.canonical_json import sha256_of
from poise.results.certificate_file import CertificateFile
from poise.storage.journal import Header
from shared.older_files import as_then, mean

FOLDER = Path(__file__).parent / "written_by_0_1_0"

# The journal was begun with this version of Python: with another, a warning is in order.
if platform.python_version() != "3.11.7":
    pytestmark = pytest.mark.filterwarnings("ignore:.* was begun with python 3.11.7")

rng = np.random.default_rng(5)
X = rng.normal(size=(120, 2))
y = X @ [1.0, -2.0] + rng.normal(size=120)
EXTRA = rng.normal(size=(30, 2))


PROCEDURES = {
    "binomial": BinomialTest(n=10, epsilon=0.4, delta=0.2),
    "bootstrap": BootstrapTest(n=10, epsilon=0.4, delta=0.2),
    "adaptive": AdaptiveTest(n=10, epsilon=0.4, delta=0.2),
}


def _run(name: str) -> poise.Run:
    return poise.run(PROCEDURES[name], mean, X, y, X_unlabeled=EXTRA, random_state=as_then(0))


def _test(journal: Path) -> poise.StabilityResult:
    question = {"n": 5, "epsilon": 0.4, "delta": 0.2, "stop_early": False}
    return poise.stability_test(mean, X, y, random_state=3, journal=journal, **question)


def write(folder: Path) -> None:
    """Write one file of every kind."""
    folder.mkdir(exist_ok=True)
    trials = poise.measure(mean, X, y, n=5, random_state=3)
    trials.save(folder / "trials.json")
    (folder / "result.json").write_text(_test(folder / "run.journal").to_json())
    (folder / "profile.json").write_text(trials.profile().to_json())
    for name in PROCEDURES:
        _run(name).transcript.save(folder / f"{name}.npz")


def test_trials_are_read() -> None:
    trials = poise.Trials.load(FOLDER / "trials.json")
    fresh = poise.measure(mean, X, y, n=5, random_state=as_then(3))
    assert np.array_equal(trials.changes, fresh.changes)
    assert trials.test(epsilon=0.4, delta=0.2) == fresh.test(epsilon=0.4, delta=0.2)


def test_results_and_profiles_are_read() -> None:
    result = poise.StabilityResult.from_json((FOLDER / "result.json").read_text())
    trials = poise.Trials.load(FOLDER / "trials.json")
    assert result.verdict is trials.test(epsilon=0.4, delta=0.2).verdict
    profile = poise.Profile.from_json((FOLDER / "profile.json").read_text())
    assert profile.at(0.4) == trials.profile().at(0.4)


def test_a_journal_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    whole = (FOLDER / "run.journal").read_text().splitlines(keepends=True)
    cut = tmp_path / "run.journal"
    cut.write_text("".join(whole[: len(whole) // 2]))
    result = poise.StabilityResult.from_json((FOLDER / "result.json").read_text())
    again = _test(cut)
    assert (again.verdict, again.pvalue) == (result.verdict, result.pvalue)


def test_a_finished_journal_is_read_without_a_fit(tmp_path: Path) -> None:
    copy = tmp_path / "run.journal"
    shutil.copy(FOLDER / "run.journal", copy)
    result = json.loads((FOLDER / "result.json").read_text())
    assert _test(copy).statistic == result["statistic"]


def test_the_header_of_a_journal_keeps_its_keys() -> None:
    first = (FOLDER / "run.journal").read_bytes().splitlines(keepends=True)[0]
    header = Header.from_line(first, "run.journal")
    assert header.decision_points == (0.0, 0.4)
    was, now = json.loads(first), json.loads(header.to_line())
    assert (list(was)[:5], was["near"]) == (list(now)[:5], now["near"])


@pytest.mark.parametrize("seed", [None, 3])
def test_a_journal_goes_on_in_its_own_order(seed: int | None, tmp_path: Path) -> None:
    whole = (FOLDER / "run.journal").read_text().splitlines(keepends=True)
    cut = tmp_path / "run.journal"
    cut.write_text("".join(whole[:9]))
    trials = poise.measure(mean, X, y, n=5, random_state=seed, journal=cut)
    assert np.array_equal(trials.changes, poise.Trials.load(FOLDER / "trials.json").changes)
    assert trials.design.order == PERMUTATION


def test_a_folder_of_journals_goes_on_in_its_own_order(tmp_path: Path) -> None:
    first = {"n": 5, "epsilon": 0.4, "delta": 0.2, "journal": tmp_path / "runs"}
    whole = poise.compare({"a": mean, "b": mean}, X, y, random_state=as_then(3), **first)
    begun = tmp_path / "runs"
    for number, path in enumerate(sorted(begun.iterdir())):
        lines = path.read_bytes().splitlines(keepends=True)
        path.unlink() if number else path.write_bytes(b"".join(lines[:9]))
    again = poise.compare({"a": mean, "b": mean}, X, y, **first)
    for before, now in zip(whole.trials, again.trials, strict=True):
        assert np.array_equal(now.changes, before.changes)


def test_a_certificate_without_the_kind_of_order_is_verified() -> None:
    asked = {"n": 5, "epsilon": 0.4, "delta": 0.2}
    made = poise.stability_test(mean, X, y, random_state=as_then(3), **asked).certificate()
    content = made.without("digest")
    del content["design"]["order"]
    sealed = {**content, "digest": sha256_of(content)}
    found = poise.verify(CertificateFile(sealed), mean, X, y, trials="all")
    assert found.verified, found


@pytest.mark.parametrize("name", PROCEDURES)
def test_transcripts_replay(name: str) -> None:
    transcript = poise.Transcript.load(FOLDER / f"{name}.npz")
    again, fresh = poise.replay(transcript), _run(name).result
    if name != "binomial":
        assert again == fresh
        return
    # 0.1.0 stopped an inconclusive run as soon as that was sure; now it runs on.
    assert (again.n_observed, fresh.n_observed, fresh.n_trials) == (8, 12, 12)
    assert again.verdict == fresh.verdict == "inconclusive"


if __name__ == "__main__":
    write(FOLDER)
