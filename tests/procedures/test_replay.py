"""Procedures in a journal: gone on with, and replayed without the algorithm."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from poise import research
from poise.engine.log import Log, read
from poise.errors import PoiseError, RecordError
from poise.research import Batch, Query

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(90, 2)), RNG.normal(size=90)
ASKED = {"n": 6, "epsilon": 0.5, "delta": 0.2, "alpha": 0.1}
KINDS = np.array(["a", "b", None], dtype=object)[np.arange(90) % 2]


@dataclass(frozen=True)
class InStages:
    """Asks for fits, as many as it likes; what it returns is up to a function."""

    sizes: tuple[int, ...] = (3, 2)
    stop: float = np.inf
    n: int = 5

    def ask(self, sample, randomness) -> Iterator[Batch]:
        found = []
        for stage, size in enumerate(self.sizes):
            rows = [randomness.order(f"{stage} {k}", 90)[: self.n] for k in range(size)]
            asks = [Query(each, np.arange(2), 7 + stage) for each in rows]
            until = None if self.stop == np.inf else lambda value: value[0] > self.stop
            answers = yield Batch(asks, until)
            found += [value.tolist() for value in answers.predictions]
        return str(found) if np.isfinite(self.stop) else found


def kinds(X, y, seed):
    """Predictions that are no plain array."""
    rng = np.random.default_rng(seed)
    some = np.array(["é\x00", None, 3, 2**80, True, 0.1, np.nan, -np.inf], dtype=object)
    return lambda rows: rng.permutation(some)[: len(rows)]


RUNS = {
    "Example 1": (research.BinomialTest(**ASKED), Ridge()),
    "adaptive": (research.AdaptiveTest(**ASKED, explorations=30, aimed=9), LinearRegression()),
    "explore": (research.ExploreThenTest(n=4, delta=0.3, alpha=0.2, explorations=9), Ridge()),
    "bootstrap": (research.BootstrapTest(**ASKED, resamples=30), DecisionTreeRegressor()),
    "simulated": (research.SimulationTest(**ASKED, simulations=30), Ridge()),
    "look at models": (research.TransparentLinearTest(**ASKED), LinearRegression()),
    "stages": (InStages(), DecisionTreeRegressor()),
    "stops": (InStages((9, 9), stop=0.5), DecisionTreeRegressor()),
    "text": (InStages(), DecisionTreeClassifier()),
    "objects": (InStages(), kinds),
}


def run(name, journal=None, **more):
    procedure, algorithm = RUNS[name]
    y = KINDS if name == "text" else Y
    looks = {"models": "transparent"} if name == "look at models" else {}
    settings = {"random_state": 5, "on_error": "record", "journal": journal, **looks, **more}
    return research.run(procedure, algorithm, X, y, **settings)


@pytest.mark.parametrize("name", RUNS)
def test_a_procedure_goes_on_and_is_replayed_without_its_algorithm(name, tmp_path):
    path, rng = tmp_path / "run.journal", random.Random(name)
    found = run(name, path)
    content = path.read_bytes()
    y = KINDS if name == "text" else Y
    for size in [len(content), *(rng.randrange(100, len(content)) for _ in range(4))]:
        path.write_bytes(content[:size])
        if size < len(content):
            with pytest.raises(RecordError, match=r"nothing comes next there|ends before"):
                research.replay(path, RUNS[name][0], X, y)
        assert str(run(name, path, n_jobs=2 if size % 2 else 1)) == str(found) == str(run(name))
        assert path.read_bytes().splitlines()[1:] == content.splitlines()[1:]
    assert str(research.replay(path, RUNS[name][0], X, y)) == str(found)


def test_a_replay_names_another_stage_or_stop(tmp_path):
    path, later = tmp_path / "run.journal", tmp_path / "stops.journal"
    run("stages", path)
    run("stops", later)
    stops = replace(RUNS["stops"][0], stop=9.0)
    for journal, procedure, message in (
        (path, InStages((3, 1)), r"stage 2 belongs to another run \(tasks: 2 there, 1 here"),
        (path, InStages((3,)), "stage 2 comes next there, and the verdict here"),
        (path, InStages((3, 2, 2)), "the verdict comes next there, and stage 3 here"),
        (path, InStages(n=6), r"stage 1 belongs to another run \(digest:"),
        (path, InStages(stop=-9.0), "an answer comes next there, and stage 2 here"),
        (later, stops, r"stage 2 comes next there, and task \d here"),
    ):
        with pytest.raises(RecordError, match=message):
            research.replay(journal, procedure, X, Y)


def test_another_verdict_is_named_and_another_question_is_not_another_verdict(tmp_path):
    path = tmp_path / "run.journal"
    claim = run("Example 1", path)
    other = research.replay(path, replace(RUNS["Example 1"][0], epsilon=0.1), X, Y)
    assert other.statistic > claim.statistic
    stated = replace(RUNS["Example 1"][0])
    object.__setattr__(stated, "judge", lambda *given, **named: replace(claim, statistic=7))
    with pytest.raises(RecordError, match=r"\(verdict: Claim.*statistic=.* there, Claim.*=7"):
        research.replay(path, stated, X, Y)
    with pytest.raises(RecordError, match="rows:"):
        research.replay(path, RUNS["Example 1"][0], X + 1, Y)


def test_a_run_takes_the_seed_that_is_there_and_refuses_what_it_cannot_keep(tmp_path):
    path, procedure = tmp_path / "run.journal", InStages()
    research.run(procedure, Lasso(), X, Y, journal=path)
    research.run(procedure, Lasso(), X, Y, journal=path)
    with pytest.raises(RecordError, match="seed"):
        research.run(procedure, Lasso(), X, Y, journal=path, random_state=1)
    decimal = lambda X, y, seed: lambda rows: [Decimal(1)] * len(rows)  # noqa: E731
    with pytest.raises(RecordError, match="Decimal cannot be kept in a journal"):
        research.run(procedure, decimal, X, Y, journal=tmp_path / "decimal")


LINES = [
    {"errors": []}, {"changes": [1.0], "errors": []}, {"changes": "!", "errors": [1.0]},
    {"changes": [-1.0], "errors": [1.0]}, {"errors": [1.0] * 999}, {"stage": 1}, {"more": 1},
    {"predictions": ["O", [1], "x"]}, {"predictions": "AAAA"}, {"tasks": "x"},
    {"predictions": ["<f8", [-1, -1], "[3]"]}, {"failure": ["magic", ""]},
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=str)
def test_lines_that_poise_did_not_write_are_refused(line, tmp_path):
    path = tmp_path / "run.journal"
    run("stages", path)
    entries = list(read(path, "journal"))
    path.unlink()
    with Log(path, "journal") as log:
        log.begin(entries[0])
        log.append(entries[1])
        log.append(line)
    with pytest.raises(PoiseError):
        research.replay(path, InStages(), X, Y)
