"""``poise demo``: three algorithms on real data, with all three verdicts."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from poise.cli import options
from poise.cli.errors import Exit, Warned, stdout_is_for_the_answer
from poise.cli.output import paragraphs, require_writable
from poise.errors import ArgumentError

N, EPSILON, DELTA = 12, 20, 0.2
NAMES = ("lasso", "tree", "small_tree")

INTRODUCTION = f"""\
442 diabetes patients, ten measurements each. A model predicts how far the disease will have
progressed after a year, a score between 25 and 346. It is trained on {N} patients. If one of them
had not been there, would the score of a new patient move by more than {EPSILON}? An algorithm is
stable here if the probability of that is at most {DELTA}.
""".replace("\n", " ").strip()

NOTES = {
    "lasso": "A lasso shrinks its coefficients: no single patient carries much weight.",
    "tree": "A decision tree may split elsewhere when one patient is missing.",
    "small_tree": "A tree of two levels is calmer. Here the rows are too few to say whether it is "
    "calm enough, and poise says so instead of guessing.",
}

NEXT = """\
Next, with these answers and with rows of your own:
  {poise} show {folder}/lasso.json --details
  {poise} measure FILE.csv --target COLUMN --algorithm 'Lasso(alpha=0.5)' --n 40
  {poise} test FILE.csv --target COLUMN --algorithm train.py:model --n 40 --epsilon E --delta 0.1"""


@options.command(
    "",
    click.option(
        "--output",
        metavar="DIR",
        default="poise-demo",
        show_default=True,
        help="Folder for the three results and a page with their pictures.",
    ),
)
def demo(ctx: click.Context, /, output: str) -> int:
    """Test three algorithms on data of 442 patients: stable, unstable, inconclusive."""
    from poise.results.report import no_pictures, report

    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"cannot be made: {os.strerror(error.errno or 0)}"
        raise ArgumentError(why, argument="output", got=output) from None
    files = {name: folder / f"{name}.json" for name in NAMES}
    page = folder / "report.html"
    for file in (*files.values(), page):
        require_writable(file, [], argument="output")
    paragraphs(INTRODUCTION)
    results = {}
    for name, algorithm in _algorithms().items():
        with stdout_is_for_the_answer():
            result = results[name] = _tested(algorithm)
        result.save(files[name])
        Warned.here().told.update(result.warnings)
        paragraphs(f"\n{NOTES[name]}\n{result}")
    report(results, page, title="Three algorithms", introduction=INTRODUCTION)
    click.echo(f"\nWritten: {', '.join(map(str, (*files.values(), page)))}{no_pictures()}")
    click.echo(f"\n{NEXT.format(poise=_typed(), folder=folder)}")
    return Exit.STABLE


def _typed() -> str:
    """Return how this program is started, where its folder is not searched for it."""
    here = Path(sys.argv[0])
    return str(here) if here.name == "poise" and shutil.which("poise") is None else "poise"


def _algorithms() -> dict[str, Any]:
    from sklearn.linear_model import Lasso
    from sklearn.tree import DecisionTreeRegressor

    trees = DecisionTreeRegressor(), DecisionTreeRegressor(max_depth=2)
    return dict(zip(NAMES, (Lasso(), *trees), strict=True))


def _tested(algorithm: Any) -> Any:
    from sklearn.datasets import load_diabetes

    from poise.questions.ask import stability_test

    X, y = load_diabetes(return_X_y=True)
    return stability_test(algorithm, X, y, n=N, epsilon=EPSILON, delta=DELTA)
