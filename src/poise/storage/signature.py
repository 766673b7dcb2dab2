"""Signatures of certificates with Ed25519 keys, through the package ``cryptography``.

What is signed is the canonical JSON of the certificate without its signature. The signature
stands in the file itself, with the public key that belongs to it; whose key that is, nobody can
see from the file. So a reader needs the public key from somewhere else.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from poise.data.ordinary_files import MOST_KEY_BYTES, read_ordinary
from poise.errors import ArgumentError, PoiseError, RecordError
from poise.results.canonical_json import canonical_json
from poise.results.certificate_file import CertificateFile

__all__ = ["SignatureFinding", "find_signature", "new_key", "signed"]

_KIND = "Ed25519"
_PUBLIC_ENDING = ".pub"
_PRIVATE_MODE = 0o600


class SignatureFinding(NamedTuple):
    """What a signature shows, and in which list of findings it belongs."""

    place: Literal["checked", "wrong", "open_points"]
    words: str


def new_key(path: str | Path) -> Path:
    """Make a key: the private one in ``path``, which only its owner may read, beside the public.

    Existing files are never replaced. Returns the file of the public key.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "mine.key"
    >>> new_key(place).name, oct(place.stat().st_mode & 0o777)
    ('mine.key.pub', '0o600')
    """
    library = _library()
    forms = library.serialization
    private = library.ed25519.Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    known = private.public_key().public_bytes(
        forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
    )
    path = Path(path)
    public = path.with_name(path.name + _PUBLIC_ENDING)
    for place in (path, public):
        if place.exists():
            raise ArgumentError(f"{place} exists, and a key is never replaced; give another name")
    _write_new(path, secret, _PRIVATE_MODE)
    _write_new(public, known, 0o644)
    return public


def signed(certificate: CertificateFile, key: str | Path) -> CertificateFile:
    """Return the certificate with a signature by a private key.

    A certificate whose digest is not that of its content is refused.

    Examples
    --------
    >>> import poise, tempfile
    >>> result = poise.Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> place = Path(tempfile.mkdtemp()) / "mine.key"
    >>> public = new_key(place)
    >>> find_signature(signed(result.certificate(), place), public).place
    'checked'
    """
    if certificate.digest != certificate.computed_digest:
        raise RecordError(
            "the certificate was altered after it was made: its digest is not that of its "
            "content. It is not signed"
        )
    private = _private_key(Path(key))
    bare = certificate.without("signature")
    signature = {
        "kind": _KIND,
        "public_key": _text(private.public_key().public_bytes_raw()),
        "value": _text(private.sign(canonical_json(bare))),
    }
    return CertificateFile({**bare, "signature": signature})


def find_signature(certificate: CertificateFile, key: str | Path | None) -> SignatureFinding:
    """Check the signature of a certificate, by a public key where one is given."""
    if key is None and certificate.signature is None:
        return SignatureFinding("open_points", "who made it: it is not signed")
    if certificate.signature is None:
        return SignatureFinding("wrong", f"it is not signed, so not by {key} either")
    try:
        expected = None if key is None else _public_key(Path(key)).public_bytes_raw()
        by = _holder(certificate)
    except _NotInstalled as error:
        if key is not None:
            raise
        return SignatureFinding("open_points", f"the signature: {error}")
    if by is None:
        return SignatureFinding("wrong", "the signature does not belong to the content")
    if expected is None:
        return SignatureFinding(
            "open_points",
            f"whose key signed it: the signature fits the key {_text(by)}, which may be anybody's; "
            "give the public key of whom you trust",
        )
    if by != expected:
        return SignatureFinding("wrong", f"it is signed by another key than {key}: {_text(by)}")
    return SignatureFinding("checked", f"it is signed by {key}")


def _holder(certificate: CertificateFile) -> bytes | None:
    """Return the public key by which the content is signed; None if the signature is wrong."""
    library = _library()
    written: Any = certificate.signature
    try:
        if sorted(written) != ["kind", "public_key", "value"] or written["kind"] != _KIND:
            return None
        raw = base64.b64decode(written["public_key"], validate=True)
        value = base64.b64decode(written["value"], validate=True)
        if written["public_key"] != _text(raw) or written["value"] != _text(value):
            return None  # the same bytes in other letters
        public = library.ed25519.Ed25519PublicKey.from_public_bytes(raw)
        public.verify(value, canonical_json(certificate.without("signature")))
    except (TypeError, ValueError, library.InvalidSignature):
        return None
    return raw


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that must not exist yet, with these permissions from the beginning."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _private_key(path: Path) -> Any:
    library = _library()
    text = read_ordinary(path, MOST_KEY_BYTES)
    try:
        key = library.serialization.load_pem_private_key(text, password=None)
    except (TypeError, ValueError, library.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, library.ed25519.Ed25519PrivateKey):
        raise RecordError(f"{path} is not a private Ed25519 key in PEM form without a password")
    return key


def _public_key(path: Path) -> Any:
    library = _library()
    text = read_ordinary(path, MOST_KEY_BYTES)
    if b"PRIVATE KEY" in text:
        raise ArgumentError(f"{path} is a private key; give the public one, {path}.pub")
    try:
        key = library.serialization.load_pem_public_key(text)
    except (ValueError, library.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, library.ed25519.Ed25519PublicKey):
        raise RecordError(f"{path} is not a public Ed25519 key in PEM form")
    return key


class _NotInstalled(PoiseError):
    """The package for signatures is missing."""


class _Library(NamedTuple):
    serialization: Any
    ed25519: Any
    InvalidSignature: type[Exception]
    UnsupportedAlgorithm: type[Exception]


def _library() -> _Library:
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise _NotInstalled("signatures need cryptography: pip install 'poise[sign]'") from None
    return _Library(serialization, ed25519, InvalidSignature, UnsupportedAlgorithm)
