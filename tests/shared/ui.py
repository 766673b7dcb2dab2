"""Folders with one result of every kind, and clients that have the token of a server."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.dummy import DummyRegressor
from starlette.testclient import TestClient

import poise
from poise.cli.ui.app import make_app
from poise.cli.ui.results_folder import Folder
from poise.cli.ui.security import Access
from poise.cli.ui.site import Site
from poise.results.certificate import Certificate
from shared.algorithms import mean

ADDRESS = "http://127.0.0.1:8000"
ACCESS = Access("secret", "127.0.0.1", 8000)
HOSTILE = "<img src=x onerror=alert(1)>.jsonl"


def write_results(place: Path) -> None:
    """Write one file of every kind, and some that cannot be read."""
    rows = np.random.default_rng(0).normal(size=(630, 2))
    asked = {"epsilon": 0.5, "delta": 0.1, "random_state": 0, "stop_early": False}
    for n in (5, 10, 20):
        poise.stability_test(mean, rows, rows[:, 1], n=n, **asked, journal=place / f"mean{n}.jsonl")
    trials = poise.measure(mean, rows, rows[:, 1], n=10, random_state=0)
    trials.save(place / "mean.trials")
    result = trials.test(0.9, 0.1)
    (place / "result.json").write_text(result.to_json(), encoding="utf-8")
    stated = Certificate.from_result(result).to_json()
    (place / "certificate.json").write_text(stated, encoding="utf-8")
    result.certificate().save(place / "checkable.json")
    forged = result.certificate().to_json().replace('"stable"', '"unstable"')
    (place / "forged.json").write_text(forged, encoding="utf-8")
    poise.stability_test(mean, rows, rows[:, 1], n=10, **asked, ledger=place / "mine.ledger")
    question = {name: asked[name] for name in ("epsilon", "delta", "random_state")}
    monitor = poise.Monitor(place / "grows.record", mean, n=10, **question, progress=False)
    monitor.add(rows, rows[:, 1])
    poise.conditional_test(
        mean, rows[:15], rows[:15, 1], rows[40:140], **question, journal=place / "deployed.jsonl"
    )
    test = poise.procedures.BinomialTest(n=5, epsilon=0.5, delta=0.2)
    run = poise.run(test, DummyRegressor(), [[0.0]] * 90, [1.0] * 90, random_state=0)
    run.transcript.save(place / "run.npz")
    lines = (place / "mean10.jsonl").read_bytes().splitlines(keepends=True)
    (place / "stopped.jsonl").write_bytes(b"".join(lines[:8]) + lines[8][:5])
    (place / HOSTILE).write_bytes(b"".join(lines))
    (place / "damaged.trials").write_bytes((place / "mean.trials").read_bytes()[:200])
    (place / "damaged.jsonl").write_bytes(lines[0] + b"rubbish\n" + lines[2])
    (place / "half.json").write_text('{"verdict": "stable", "eps', encoding="utf-8")
    np.savez(place / "rows.npz", X=rows[:, :1], y=rows[:, 1])
    (place / "notes.json").write_text('{"my": "notes"}', encoding="utf-8")


def site_client(place: Path) -> TestClient:
    """Return a client of a server of this folder."""
    app = make_app(Site.of(Folder(place)), ACCESS, lambda: False)
    return TestClient(app, base_url=ADDRESS, cookies={ACCESS.cookie: "secret"})
