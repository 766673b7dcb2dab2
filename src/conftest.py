"""Examples in docstrings may write files: each runs in a folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
