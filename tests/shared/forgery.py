"""Certificates that somebody has altered, one value at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from poise.results.canonical_json import sha256_of
from poise.results.certificate_file import CertificateFile


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of everything in a JSON value that is no container."""
    if isinstance(value, (dict, list)):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from leaves(value[key], (*place, key))
    else:
        yield place


def changed(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return 1 if value is None else value + 1


def at(content: Any, place: tuple[Any, ...]) -> Any:
    """Return what is at a place of a JSON value."""
    for key in place:
        content = content[key]
    return content


def altered(certificate: CertificateFile, place: tuple[Any, ...]) -> CertificateFile:
    """Return a certificate with another value at one place."""
    content = copy.deepcopy(certificate.content)
    holder = at(content, place[:-1])
    holder[place[-1]] = changed(holder[place[-1]])
    return CertificateFile(content)


def redigested(certificate: CertificateFile) -> CertificateFile:
    """Do what a forger does: compute the digest of the altered content."""
    content = certificate.without("digest")
    return CertificateFile({**content, "digest": sha256_of(content)})
