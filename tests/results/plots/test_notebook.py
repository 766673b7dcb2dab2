"""A real notebook: pictures show themselves in a fresh kernel, and progress is a few lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import poise

SETUP = """
import numpy as np, poise
rng = np.random.default_rng(0)
trials = poise.Trials.from_changes(rng.exponential(size=60), n=5, algorithm="a$b_$c")
"""
PICTURES = {
    "trials": "trials.plot(epsilon=1.0, delta=0.5)",
    "profile": "trials.profile().plot()",
    "result": "trials.test(epsilon=1.0, delta=0.5).plot()",
    "curve": "poise.StabilityCurve((trials,), epsilon=1.0, delta=0.2).plot()",
    "compared": "poise.CompareResult.judge({'a': trials}, epsilon=1.0, delta=0.5).plot()",
}
GIVEN = """
%matplotlib inline
import matplotlib.pyplot as plt
figure, ax = plt.subplots()
_ = trials.profile().plot(ax=ax)
"""
AGAIN = "trials.profile().plot()"
PROGRESS = """
import time
from poise.running.progress import Progress
import poise.running.progress as module
module._RarerLines.patience = module._RarerLines.interval = 0.01
with Progress(100) as progress:
    for done in range(100):
        progress.advance_to(done)
        time.sleep(0.005)
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    """What each cell left behind."""
    sources = {"setup": SETUP, **PICTURES, "progress": PROGRESS, "given": GIVEN, "again": AGAIN}
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources.values()]
    here = str(Path(poise.__file__).parents[1])
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    client.km = client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute(
        cwd=str(tmp_path_factory.mktemp("notebook")), env=os.environ | {"PYTHONPATH": path}
    )
    return {name: cell.outputs for name, cell in zip(sources, notebook.cells, strict=True)}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_itself(cells: dict[str, list[dict[str, object]]], name: str) -> None:
    (output,) = cells[name]
    assert "image/png" in output["data"]  # type: ignore[operator]


def test_on_axes_that_were_given_there_is_one_picture(cells) -> None:
    pictures = [output for output in cells["given"] if "image/png" in output.get("data", {})]
    assert len(pictures) == 1


def test_once_pyplot_is_there_a_picture_is_shown_once(cells) -> None:
    (output,) = cells["again"]
    assert "image/png" in output["data"]


def test_without_widgets_progress_is_a_few_lines(cells) -> None:
    text = "".join(output["text"] for output in cells["progress"])
    assert "warn" not in text.lower()
    lines = text.splitlines()
    assert 1 <= len(lines) <= 10
    assert all(line.startswith("poise: ") and "of 100 trials" in line for line in lines)
