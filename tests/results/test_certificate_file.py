"""Certificates as files: the schema, their size, and what is refused."""

from __future__ import annotations

import base64
import os
import zlib
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import poise
from poise.errors import ArgumentError, RecordError
from poise.results.certificate_file import CertificateFile
from poise.results.certified_result import certified_result
from poise.results.packed_changes import PackedChanges
from poise.results.provenance import Provenance

RNG = np.random.default_rng(5)
TABLES = RNG.exponential(size=(40, 3, 4))
TABLES[7, 1, 2] = np.nan


def certificates() -> dict[str, CertificateFile]:
    """Certificates of both tests, with every verdict."""
    single = poise.Trials.from_changes([0.1] * 59 + [np.inf], n=5, failures=["singular"])
    tables = poise.Trials.from_changes(TABLES, n=5, failures=["nan"])
    return {
        "stable": single.test(0.2, 0.2).certificate(),
        "unstable": single.test(0.05, 0.2, randomized=True).certificate(),
        "inconclusive": single.test(0.2, 0.02).certificate(),
        "averaged": tables.test(2.0, 0.3).certificate(),
        "infinite": poise.Trials.from_changes([np.inf] * 9, n=5).test(1.0, 0.5).certificate(),
        "nothing": poise.Trials.from_changes([], n=5).test(1.0, 0.5).certificate(),
    }


@pytest.mark.parametrize("kind", certificates())
def test_schema_and_back(kind) -> None:
    certificate = certificates()[kind]
    schema = CertificateFile.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(certificate.content, schema, cls=jsonschema.Draft202012Validator)
    again = CertificateFile.from_json(certificate.to_json())
    assert again == certificate
    assert hash(again) == hash(certificate)
    assert again.digest == again.computed_digest
    judged = certified_result(again)
    assert judged.verdict.value == certificate.verdict
    assert CertificateFile.of(judged) == certificate
    assert kind not in ("stable", "unstable", "inconclusive") or certificate.verdict == kind


def test_what_is_declared() -> None:
    made = certificates()
    assert made["stable"].statement().endswith("at a fresh point with probability at most 0.2")
    assert "probability more than 0.2" in str(made["unstable"])
    assert "nothing is declared at error level 0.05: whether" in str(made["inconclusive"])
    assert "Theorem 1 of Kim and Barber" in made["stable"].content["theorem"]["name"]
    assert "Theorems A and F" in made["averaged"].content["theorem"]["name"]


def test_ten_thousand_trials_are_small() -> None:
    trials = poise.Trials.from_changes(RNG.exponential(size=10_000), n=5, random_state=2**63)
    certificate = trials.test(epsilon=3.0, delta=0.1).certificate()
    assert len(certificate.to_json()) < 110_000
    assert certificate.content["design"]["seed"] == str(2**63)
    assert np.array_equal(certified_result(certificate).trials.changes, trials.changes)


def test_packed_changes_keep_every_bit() -> None:
    values = np.array([5e-324, 0.1, 1 / 3, np.inf, 0.0])
    packed = PackedChanges.of(values)
    # Reference: what the encoding says, spelled out.
    raw = zlib.decompress(base64.b64decode(packed.data))
    assert np.frombuffer(raw, "<f8").tolist() == values.tolist()
    assert packed.unpacked().tobytes() == values.tobytes()
    tables = PackedChanges.of(TABLES)
    assert np.array_equal(tables.unpacked(), TABLES, equal_nan=True)


@pytest.mark.parametrize(
    ("shape", "data"),
    [
        ((3,), base64.b64encode(zlib.compress(bytes(16))).decode()),
        ((1,), base64.b64encode(zlib.compress(bytes(16))).decode()),
        ((2,), base64.b64encode(zlib.compress(bytes(16)) + b"x").decode()),
        ((2,), base64.b64encode(zlib.compress(bytes(16))[:-1]).decode()),
        ((2,), base64.b64encode(bytes(30)).decode()),
        ((2,), "*"),
        ((10**12,), base64.b64encode(zlib.compress(bytes(10**6))).decode()),
        ((10**6, 1), base64.b64encode(zlib.compress(bytes(8 * 10**6))).decode()),
        ((-1,), ""),
        ((), ""),
    ],
)
def test_packed_changes_of_another_size_are_refused(shape, data) -> None:
    with pytest.raises(RecordError, match="the changes cannot be unpacked"):
        replace(PackedChanges.of(np.empty(0)), shape=shape, data=data).unpacked()
    with pytest.raises(RecordError, match="encoding"):
        PackedChanges((0,), data, "hex").unpacked()


def test_a_result_from_json_has_no_certificate() -> None:
    result = poise.Trials.from_changes([0.1] * 30, n=5).test(0.2, 0.1)
    with pytest.raises(ArgumentError, match="read from JSON"):
        poise.StabilityResult.from_json(result.to_json()).certificate()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "not a certificate written by poise"),
        ("[1]", "not a certificate written by poise"),
        ('{"format": "poise trials 1"}', "not a certificate written by poise"),
        ('{"format": "poise certificate 2"}', "reads 'poise certificate 1'"),
        ("{", "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
    ],
)
def test_other_files_are_refused(text, words, tmp_path) -> None:
    place = tmp_path / "c.json"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RecordError, match=words):
        CertificateFile.load(place)


def test_what_is_no_file_is_refused_at_once(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "none", "/dev/zero"):
        with pytest.raises(RecordError, match=r"not an ordinary file|no such file"):
            CertificateFile.load(place)


def test_provenance_is_that_of_the_run() -> None:
    X = RNG.normal(size=(100, 2))
    mean = lambda X, y, seed: lambda rows: [y.mean()] * len(rows)  # noqa: E731
    trials = poise.measure(mean, X, X[:, 0], n=9, random_state=3)
    origin = trials.provenance
    assert isinstance(origin, Provenance)
    assert origin.rows == poise.Sample(X, X[:, 0]).digest(32)
    assert origin.rows != poise.Sample(X + 1, X[:, 0]).digest(32)
    assert origin.versions["numpy"] == np.__version__
    assert {"poise", "python", "machine", "scipy", "blas"} <= set(origin.versions)
    assert len(origin.code) == 16
    tested = poise.stability_test(
        mean, X, X[:, 0], n=9, epsilon=0.5, delta=0.3, random_state=3, test="binomial"
    )
    assert tested.trials.provenance.decision_points == (0.0, 0.5)
    assert trials.provenance.decision_points == (0.0,)
