"""Every format that poise reads: samples, the reader, and the ways to damage them."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import poise
from poise.algorithms.program import predictions, serving
from poise.errors import PoiseError
from poise.questions.monitor.record_status import status_of
from poise.questions.toml_file import read_config
from poise.results.canonical_json import canonical_json, read_strict_json, sha256_of
from poise.results.certificate import Certificate
from poise.storage.journal import read_journal
from poise.storage.monitor_record import read_record
from poise.storage.monitor_record.leftovers_file import load_leftovers, save_leftovers
from shared.fuzzing.array_damage import damage_arrays
from shared.fuzzing.byte_damage import damage_bytes
from shared.fuzzing.json_damage import damage_checked_lines, damage_json, damage_json_lines
from shared.fuzzing.one_format import Format, file_written
from shared.fuzzing.table_formats import table_formats


def formats() -> dict[str, Format]:
    """Return every format by its name."""
    return {each.name: each for each in _all_formats()}


@cache
def _all_formats() -> tuple[Format, ...]:
    return (*_json_formats(), *_saved_formats(), *table_formats(), *_other_formats())


def _described(found: Any) -> None:
    """Do with a result whatever a reader may do with it."""
    str(found), repr(found), found.to_json(), found.to_frame()


def _drawn(found: Any) -> None:
    """Draw it, with its words: some names could be read as mathematics. Its card is a drawing."""
    card = found._card()
    card.html()
    if isinstance(found, poise.ConditionalTrials):
        found.plot(0.5).draw_without_rendering()
    elif hasattr(found, "plot") and card.draw != found.plot:  # which the card has just drawn
        found.plot().draw_without_rendering()


def _trials_used(trials: poise.Trials) -> None:
    _described(trials)
    trials.profile()
    trials.test(0.5, 0.3).summary()
    trials.delta_hat(0.5), trials.epsilon_hat(0.3)


def _conditional_used(trials: Any) -> None:
    _described(trials)
    trials.test(0.5, 0.3).summary()


def _plan_used(plan: poise.Plan) -> None:
    str(plan), repr(plan), plan.to_json()


def _certificate_used(certificate: Certificate) -> None:
    str(certificate), certificate.to_json()
    certificate.implications()


def _profile_used(profile: poise.Profile) -> None:
    repr(profile), profile.to_json(), profile.to_frame()
    profile.at(0.3), profile.epsilon_for(0.2), profile.table().text()


def _json(name: str, samples: list[Any], read: Any, use: Any = _described) -> Format:
    texts = tuple(sample.to_json().encode() for sample in samples)
    damages = (damage_json, damage_json, damage_bytes)

    def read_bytes(content: bytes) -> Any:
        return read(content.decode("utf-8", "replace"))

    return Format(name, ".json", texts, read_bytes, damages, use, _drawn, takes_bytes=True)


def _json_formats() -> list[Format]:
    rng = np.random.default_rng(0)
    trials = poise.Trials.from_changes(rng.exponential(size=30), n=5)
    failed = poise.Trials.from_changes([0.1] * 28 + [np.inf] * 2, n=5, failures=["a", "b"])
    several = poise.Trials.from_changes(rng.exponential(size=(30, 2, 2)), n=5)
    about = _conditional(rng)
    heuristic = poise.procedures.BootstrapTest(n=5, epsilon=0.5, delta=0.2, resamples=20)
    X = rng.normal(size=(20, 1))
    found = poise.run(heuristic, _mean_of_any_rows, X, X[:, 0], random_state=0).result
    results = [trials.test(0.5, 0.4), failed.test(0.5, 0.4)]
    judged = [about.test(0.5, 0.4), about.test(0.5, 0.4, gamma=0.25)]
    plans = [poise.plan(n=5, delta=0.2, delta_star=0.05)]
    stated = Certificate("independent", 0.1, 0.05, 0.05, 50, warnings=("12 rows are copies",))
    return [
        _json("trials", [trials, failed, several], poise.Trials.from_json, _trials_used),
        _json("result", results, poise.StabilityResult.from_json),
        _json("averaged result", [several.test(0.5, 0.4)], poise.StabilityResult.from_json),
        _json(
            "profile", [trials.profile(), several.profile()], poise.Profile.from_json, _profile_used
        ),
        _json("plan", plans, poise.Plan.from_json, _plan_used),
        _json("procedure result", [found], poise.ProcedureResult.from_json),
        _json("conditional trials", [about], poise.ConditionalTrials.from_json, _conditional_used),
        _json("conditional result", judged, poise.ConditionalResult.from_json),
        _json("certificate", [stated], Certificate.from_json, _certificate_used),
        _certificate_files([*results, several.test(0.5, 0.4)]),
    ]


def _certificate_files(results: list[Any]) -> Format:
    """Certificates, also with a digest that fits, as a forger writes them; reading is verifying."""
    texts = tuple(result.certificate().to_json().encode() for result in results)
    damages = (_forged, _forged, damage_json, damage_bytes)
    return Format("certificate file", ".json", texts, poise.verify, damages, str)


def _forged(sample: bytes, chance: Random) -> bytes:
    damaged = damage_json(sample, chance)
    try:
        content = read_strict_json(damaged, "it")
        content.pop("digest", None)
        return canonical_json({**content, "digest": sha256_of(content)})
    except (PoiseError, AttributeError, TypeError):
        return damaged


def _mean_of_any_rows(X: Any, y: Any, seed: int) -> Any:
    level = float(np.mean(np.asarray(y)))
    return lambda rows: [level] * rows.shape[0]


def _conditional(rng: np.random.Generator) -> Any:
    design = poise.ConditionalDesign("mean", "deployed", n=4, n_fresh=20)
    return poise.ConditionalTrials(rng.exponential(size=(20, 4)), design)


def _saved_formats() -> list[Format]:
    rng = np.random.default_rng(1)
    trials = poise.Trials.from_changes(rng.exponential(size=12), n=5)
    several = poise.Trials.from_changes(rng.exponential(size=(12, 2, 2)), n=5)
    saved = tuple(file_written(each.save, ".trials") for each in (trials, several))
    about = (file_written(_conditional(rng).save, ".trials"),)
    rows = tuple(
        file_written(partial(save_leftovers, tables={"X": X, "y": np.arange(4.0)}), ".npz")
        for X in (
            np.eye(4),
            scipy.sparse.csr_array(np.eye(4)),
            pd.DataFrame({"a": ["u", "v", "w", "x"]}),
        )
    )
    npz = (damage_arrays, damage_arrays, damage_bytes)
    return [
        Format("saved trials", ".trials", saved, poise.Trials.load, npz, _trials_used),
        Format(
            "saved conditional trials",
            ".trials",
            about,
            poise.ConditionalTrials.load,
            npz,
            _conditional_used,
        ),
        Format("leftover rows", ".npz", rows, load_leftovers, npz),
        Format("transcript", ".npz", _transcripts(), _replayed, npz),
        Format(
            "journal",
            ".jsonl",
            _journals(),
            read_journal,
            (damage_checked_lines, damage_json_lines, damage_bytes),
            _journal_used,
        ),
        Format(
            "monitor record",
            ".record",
            _records(),
            _status,
            (damage_checked_lines,) * 2 + (damage_bytes,),
            str,
        ),
        Format(
            "ledger",
            ".ledger",
            _ledgers(),
            _ledger,
            (damage_checked_lines,) * 2 + (damage_bytes,),
            lambda ledger: (str(ledger), ledger.to_dict()),
        ),
    ]


def _transcripts() -> tuple[bytes, ...]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(24, 2))
    asked = [
        (poise.procedures.BinomialTest(n=5, epsilon=0.4, delta=0.4), X),
        (poise.procedures.BinomialTest(n=5, epsilon=0.4, delta=0.4), scipy.sparse.csr_array(X)),
        (
            poise.procedures.BootstrapTest(n=5, epsilon=0.4, delta=0.2, resamples=4),
            pd.DataFrame(X, columns=["a", "b"]),
        ),
    ]
    runs = [
        poise.run(test, _mean_of_any_rows, rows, X[:, 0], random_state=0) for test, rows in asked
    ]
    return tuple(file_written(run.transcript.save, ".npz") for run in runs)


def _replayed(path: Path) -> Any:
    return poise.replay(poise.Transcript.load(path))


def _journals() -> tuple[bytes, ...]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 1))

    def fit(rows: Any, y: Any, seed: int) -> Any:
        if rows[0, 0] > 1.2:
            raise ValueError("a failed fit")
        return _mean_of_any_rows(rows, y, seed)

    def single(path: Path) -> None:
        poise.stability_test(
            fit, X, X[:, 0], n=5, epsilon=0.5, delta=0.3, random_state=0, journal=path,
            on_error="unstable", stop_early=False, test="binomial",
        )  # fmt: skip

    def several(path: Path) -> None:
        poise.measure(_mean_of_any_rows, X, X[:, 0], n=5, removals=2, random_state=0, journal=path)

    return tuple(file_written(write, ".jsonl") for write in (single, several))


def _journal_used(content: Any) -> None:
    _trials_used(content.trials)


def _records() -> tuple[bytes, ...]:
    def write(path: Path, points: int) -> None:
        rng = np.random.default_rng(4)
        monitor = poise.Monitor(
            path, _mean_of_any_rows, n=5, epsilon=0.5, delta=0.3, points=points, random_state=0
        )
        for _ in range(2):
            X = rng.normal(size=(40, 1))
            monitor.add(X, X[:, 0])

    return tuple(file_written(partial(write, points=points), ".record") for points in (1, 2))


def _ledgers() -> tuple[bytes, ...]:
    def write(path: Path) -> None:
        rows = np.random.default_rng(6).normal(size=(40, 1))
        trials = poise.Trials.from_changes([0.1] * 60, n=5)
        for stop in (30, 40):
            result = trials.test(epsilon=0.5, delta=0.1 + stop / 1000)
            poise.Ledger(path).record(result, trials, rows[:stop], rows[:stop, 0])

    def invest(path: Path) -> None:
        rows = np.random.default_rng(6).normal(size=(400, 1))
        ledger = poise.Ledger(path, rule="investing")
        asked = {"n": 3, "epsilon": 5.0, "delta": 0.2, "test": "binomial", "ledger": ledger}
        for seed, part in enumerate((rows[:200], rows[200:])):
            poise.stability_test(_mean_of_any_rows, part, part[:, 0], random_state=seed, **asked)

    return file_written(write, ".ledger"), file_written(invest, ".ledger")


def _ledger(path: Path) -> poise.Ledger:
    """Read a ledger; a damaged one is refused when its content is read."""
    ledger = poise.Ledger(path)
    assert ledger.content is not None
    return ledger


def _status(path: Path) -> Any:
    return status_of(read_record(path))


TOML = b"""
[data]
file = "rows.csv"
target = "y"
drop = ["c"]
sep = ","

[algorithms.ridge]
use = "sklearn.linear_model:Ridge"
params = {alpha = 2.0}

[algorithms.r]
program = "Rscript fit.R"
timeout = 5

[defaults]
alpha = 0.1
seed = 3

[[questions]]
name = "first"
n = 10
epsilon = 0.5
delta = 0.1
algorithms = ["ridge"]
jobs = 2
"""


def _other_formats() -> list[Format]:
    answers = (
        b'{"id": 4, "predictions": [1.5, null, "NA", -3e-5]}',
        b'{"id": 4, "error": "singular"}',
    )
    lines = (b"1.5\nNA\n-3e-5\n7\n", b'"prediction"\n1.5\nNA\n-3e-5\n7\n')
    return [
        Format("toml", ".toml", (TOML,), read_config, (damage_bytes,)),
        Format(
            "program's file",
            ".csv",
            lines,
            partial(predictions.from_file, expected=4),
            (damage_bytes,),
        ),
        Format(
            "program's answer",
            ".json",
            answers,
            _reply,
            (damage_json, damage_json, damage_bytes),
            takes_bytes=True,
        ),
    ]


def _reply(content: bytes) -> Any:
    return serving.read_reply(serving.parse(content, 4), expected=4)
