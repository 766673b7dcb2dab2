"""A folder of results, and a client that has the token of its server."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from poise.cli.ui.results_folder import Folder
from shared.ui import site_client, write_results


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that no test changes."""
    place = tmp_path_factory.mktemp("results")
    write_results(place)
    return place


@pytest.fixture(scope="session")
def client(results: Path) -> TestClient:
    return site_client(results)


@pytest.fixture(scope="session")
def keys(results: Path) -> dict[str, str]:
    """The keys of the files, by their names."""
    return {file.name: file.key for file in Folder(results).files()}
