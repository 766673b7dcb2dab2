"""Certificates that were written before are verified: their words belong to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.results.certificate_file import CertificateFile
from poise.results.certified_result import certified_result, differences

FILES = sorted((Path(__file__).parent / "written_before").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_words_are_those_of_before(path: Path) -> None:
    """They have an ε of 1500, one of 16 digits (a share of the spread), and a level of ten.

    Numbers may differ in a last digit where SciPy or the processor is another.
    """
    certificate = CertificateFile.load(path)
    found = differences(certificate, certified_result(certificate))
    assert [each for each in found if each.place.startswith("statement")] == []
    assert all(each.only_digits for each in found)


def test_there_are_such_files() -> None:
    assert [path.stem for path in FILES] == ["long_level", "relative", "stable", "unstable"]
