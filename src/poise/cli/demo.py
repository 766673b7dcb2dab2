"""``poise demo``: three algorithms on real data, with all three verdicts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.algorithms import load_algorithm
from poise.cli.errors import Exit, Running
from poise.cli.output import paragraphs, require_writable

ASKED: dict[str, Any] = {"n": 12, "epsilon": 20, "delta": 0.2}
INTRODUCTION = (
    "442 diabetes patients, ten measurements each. A model predicts how far the disease will have "
    "progressed after a year, a score between 25 and 346. It is trained on {n} patients. If one of "
    "them had not been there, would the score of a new patient move by more than {epsilon}? An "
    "algorithm is stable here if the probability of that is at most {delta}."
).format(**ASKED)
ALGORITHMS = {  # a name, a place, and what is to be seen
    "lasso": (
        "sklearn.linear_model:Lasso()",
        "A lasso shrinks its coefficients: no single patient carries much weight.",
    ),
    "tree": (
        "sklearn.tree:DecisionTreeRegressor()",
        "A decision tree may split elsewhere when one patient is missing.",
    ),
    "small_tree": (
        "sklearn.tree:DecisionTreeRegressor(max_depth=2)",
        "A tree of two levels is calmer. Here the rows are too few to say whether it is calm "
        "enough, and poise says so instead of guessing.",
    ),
}
OUTPUT = "Folder for the three results and a page with their pictures."
NEXT = """
Next, with these answers and with rows of your own:
  {poise} show {folder}/lasso.json --details
  {poise} measure FILE.csv --target COLUMN --algorithm 'Lasso(alpha=0.5)' --n 40
  {poise} test FILE.csv --target COLUMN --algorithm train.py:model --n 40 --epsilon E --delta 0.1"""


@options.command(
    click.option("--output", metavar="DIR", default="poise-demo", show_default=True, help=OUTPUT)
)
def demo(ctx: click.Context, /, output: str) -> int:
    """Test three algorithms on data of 442 patients: stable, unstable, inconclusive."""
    from sklearn.datasets import load_diabetes

    import poise
    from poise.results.report import no_pictures, report

    X, y = load_diabetes(return_X_y=True)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in (*(f"{each}.json" for each in ALGORITHMS), "report.html")]
    for file in files:
        require_writable(file, [], "output")
    paragraphs(INTRODUCTION)
    results = {}
    for file, (name, (place, note)) in zip(files, ALGORITHMS.items(), strict=False):
        result = poise.stability_test(load_algorithm(place), X, y, **ASKED)
        result.save(file)
        results[name] = result
        Running.now().told.update(result.warnings)
        paragraphs(f"\n{note}\n{result}")
    report(results, files[-1], title="Three algorithms", introduction=INTRODUCTION)
    paragraphs(f"\nWritten: {', '.join(map(str, files))}{no_pictures()}")
    paragraphs(NEXT.format(poise=_typed(), folder=folder))
    return Exit.STABLE


def _typed() -> str:
    """Return how this program is started, where its folder is not searched for it."""
    here = Path(sys.argv[0])
    return str(here) if here.name == "poise" and shutil.which("poise") is None else "poise"
