"""What is left to ``make test-long`` says which tests of ``make test`` make the same claims."""

from __future__ import annotations

import pytest

from shared.long_tests import COLLECTED, LONG
from shared.paths import ROOT


def _exists(name: str, collected: frozenset[str]) -> bool:
    """Tell whether there is a test whose name begins like this.

    If its file was not collected as a whole, only the name of the function is looked for.
    """
    file, _, test = name.partition("::")
    if any(each.startswith(f"{file}::") for each in collected):
        return any(each.startswith(name) for each in collected)
    text = (ROOT / file).read_text(encoding="utf-8")
    return not test or f"def {test.partition('[')[0].rpartition('.')[2]}" in text


@pytest.mark.parametrize("name", LONG)
def test_its_claims_are_made_by_tests_that_are_not_long(
    name: str, pytestconfig: pytest.Config
) -> None:
    collected = pytestconfig.stash[COLLECTED]
    assert _exists(name, collected)
    for counterpart in LONG[name]:
        assert _exists(counterpart, collected), counterpart
        assert not counterpart.startswith(tuple(LONG))


def test_a_name_is_compared_with_its_parameters_and_with_its_file() -> None:
    collected = frozenset({"tests/test_long_tests.py::test_a[1-x]"})
    assert _exists("tests/test_long_tests.py", collected)
    assert _exists("tests/test_long_tests.py::test_a[1", collected)
    assert not _exists("tests/test_long_tests.py::test_a[2", collected)
    assert not _exists("tests/test_long_tests.py::test_its_claims", collected)
    assert _exists("tests/test_long_tests.py::test_its_claims", frozenset())
    assert not _exists("tests/test_long_tests.py::test_b[1", frozenset())
