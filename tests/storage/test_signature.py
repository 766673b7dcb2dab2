"""Signatures of certificates: right and wrong keys, altered files, and keys that nobody reads."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

import poise
from poise.errors import ArgumentError, PoiseError, RecordError
from poise.results.canonical_json import canonical_json
from poise.results.certificate_file import CertificateFile
from poise.storage.signature import find_signature, new_key, signed

RESULT = poise.Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    private = tmp_path / "mine.key"
    return private, new_key(private)


def test_a_signature_is_that_of_the_standard(keys) -> None:
    """The library's own reading of the key and of the signature agrees, byte by byte."""
    private, public = keys
    file = signed(RESULT.certificate(), private)
    key: Any = serialization.load_pem_private_key(private.read_bytes(), None)
    import base64

    message = canonical_json(RESULT.certificate().content)
    assert base64.b64decode(file.content["signature"]["value"]) == key.sign(message)
    assert find_signature(file, public) == ("checked", f"it is signed by {public}")
    assert poise.verify(file, key=public).verified
    assert file.digest == RESULT.certificate().digest


def test_private_keys_are_for_their_owner_and_never_replaced(keys) -> None:
    private, public = keys
    assert private.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ArgumentError, match="a key is never replaced"):
        new_key(private)
    private.unlink()
    with pytest.raises(ArgumentError, match=r"mine\.key\.pub exists"):
        new_key(private)
    assert not private.exists()
    with pytest.raises(ArgumentError, match="cannot write"):
        new_key(public.parent / "nowhere" / "key")


def test_a_wrong_key_a_missing_and_an_altered_signature(keys, tmp_path) -> None:
    private, public = keys
    other = new_key(tmp_path / "other.key")
    file = signed(RESULT.certificate(), private)
    assert "signed by another key" in poise.verify(file, key=other).wrong[0]
    unsigned = poise.verify(RESULT.certificate(), key=public)
    assert unsigned.wrong == (f"it is not signed, so not by {public} either",)
    for name in ("kind", "public_key", "value"):
        for change in (lambda text: ("B" if text[0] == "A" else "A") + text[1:], str.upper):
            content = copy.deepcopy(file.content)
            content["signature"][name] = change(content["signature"][name])
            forged = CertificateFile(content)
            if forged != file:
                assert not poise.verify(forged, key=public).verified
                assert not poise.verify(forged).verified
    for wrong in ({}, {"kind": "Ed25519"}, {**file.content["signature"], "more": "x"}, "text", 7):
        assert poise.verify(CertificateFile({**file.content, "signature": wrong})).wrong


def test_another_content_under_the_same_signature(keys) -> None:
    private, public = keys
    file = signed(RESULT.certificate(), private)
    other = poise.Trials.from_changes([0.1] * 31, n=5).test(epsilon=0.2, delta=0.1).certificate()
    moved = CertificateFile({**other.content, "signature": file.content["signature"]})
    found = poise.verify(moved, key=public)
    assert found.wrong == ("the signature does not belong to the content",)
    assert "whose key" in poise.verify(file).open_points[0]


def test_what_was_altered_is_not_signed(keys) -> None:
    content = copy.deepcopy(RESULT.certificate().content)
    content["numbers"]["pvalue"] = 0.001
    with pytest.raises(RecordError, match="not signed"):
        signed(CertificateFile(content), keys[0])


def test_files_that_are_no_keys(keys, tmp_path) -> None:
    private, _ = keys
    file = signed(RESULT.certificate(), private)
    forms = serialization
    rsa_key = rsa.generate_private_key(65537, 2048)
    (tmp_path / "rsa").write_bytes(
        rsa_key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    )
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.BestAvailableEncryption(b"word")
    )
    (tmp_path / "locked").write_bytes(locked)
    (tmp_path / "text").write_text("no key")
    for name in ("rsa", "locked", "text", "mine.key.pub"):
        with pytest.raises(RecordError, match="not a private Ed25519 key"):
            signed(RESULT.certificate(), tmp_path / name)
    with pytest.raises(RecordError, match="not a public Ed25519 key"):
        find_signature(file, tmp_path / "text")
    with pytest.raises(ArgumentError, match=r"private key; give the public one, .*mine\.key\.pub"):
        find_signature(file, private)
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(RecordError, match=r"not an ordinary file|no such file"):
            find_signature(file, place)


def test_without_the_package(keys, monkeypatch) -> None:
    private, public = keys
    file = signed(RESULT.certificate(), private)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    needed = r"signatures need cryptography: pip install 'poise\[sign\]'"
    for call in (lambda: new_key(public.parent / "k"), lambda: signed(file, private)):
        with pytest.raises(PoiseError, match=needed):
            call()
    with pytest.raises(PoiseError, match=needed):
        poise.verify(file, key=public)
    found = poise.verify(file)
    assert found.verified
    assert "cryptography" in found.open_points[0]
