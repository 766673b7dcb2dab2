"""Names that others have chosen steer no terminal, forge no line, and break no plot."""

from __future__ import annotations

import io
import pickle
from xml.dom import minidom

import numpy as np
import pytest
from click.testing import CliRunner

import poise
from poise.cli import main
from poise.errors import ArgumentError, PoiseWarning, RecordError, in_one_line, printable
from poise.results import CompareResult, Design, StabilityCurve
from poise.storage.journal import Journal
from shared.journals import edit_header

FORBIDDEN = [*map(chr, range(32)), *map(chr, range(127, 160)), "\u202e", "\u2066", "\u2028"]
BAD = "$x_$ [red]\x1b[31m\x9b\u202e\x07\rVERDICT"


def clean(text: str) -> bool:
    return not any(mark in text for mark in FORBIDDEN if mark not in "\n\t")


def measured(name: str = BAD, n: int = 5) -> poise.Trials:
    return poise.Trials.from_changes(np.linspace(0, 1, 200), n=n, algorithm=name)


@pytest.mark.parametrize("mark", [*FORBIDDEN, "\ud800"])
def test_every_control_character_becomes_an_escape(mark) -> None:
    shown = printable(f"a{mark}b")
    assert clean(shown)
    assert shown == (f"a{mark}b" if mark in "\n\t" else f"a{mark!r}b".replace("'", ""))
    shown.encode()


def test_letters_stay_what_they_are() -> None:
    assert printable("ε ≤ 0.1, größe, 身長, עברית, 👩\u200d🔬 \\x1b") == (
        "ε ≤ 0.1, größe, 身長, עברית, 👩\u200d🔬 \\x1b"
    )


def test_errors_and_warnings_are_clean_also_in_a_traceback() -> None:
    for error in (ArgumentError(BAD), RecordError(BAD), PoiseWarning(BAD)):
        assert clean(str(error))
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert clean(in_one_line(ValueError(BAD)))


def test_results_in_words() -> None:
    trials = measured(BAD + "\nSTABLE: forged")
    curve = StabilityCurve((trials, measured(n=10)), epsilon=0.5, delta=0.2)
    compared = CompareResult.judge({BAD + "\nSTABLE: forged": trials}, epsilon=0.5, delta=0.2)
    for result in (trials, trials.test(0.5, 0.2), trials.profile(), compared, curve):
        for text in (str(result), repr(result), result._repr_html_()):
            assert clean(text)
            assert "\nSTABLE: forged" not in text


def test_pictures() -> None:
    trials = measured()
    curve = StabilityCurve((trials, measured(n=10)), epsilon=0.5, delta=0.2)
    compared = CompareResult.judge({BAD: trials}, epsilon=0.5, delta=0.2)
    for result in (trials, trials.test(0.5, 0.2), trials.profile(), compared, curve):
        for figure in (result.plot(), result.plot(title=BAD)):
            picture = io.BytesIO()
            figure.savefig(picture, format="svg")
            minidom.parseString(picture.getvalue())


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str):
        done = CliRunner().invoke(main, arguments)
        assert clean(done.stdout), repr(done.stdout)
        assert clean(done.stderr), repr(done.stderr)
        return done

    return call


def test_a_journal_of_somebody_else(run, tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, {"arguments": ["test", BAD], "folder": BAD}) as log:
        log.describe(Design(BAD, n=5, n_labeled=60, seed=3), data="00ff", warnings=[BAD])
        list(log.begin("fit by fit", (0.0,)))
        log.append(0.5)
    for form in ([], ["--json"], ["--quiet"]):
        done = run("status", "run.jsonl", *form)
        assert done.exit_code == 0, done.stderr
    assert "[red]" in run("status", "run.jsonl").stdout, "no markup either"
    done = run("resume", "run.jsonl")
    assert (done.exit_code, "\\x1b[31m" in done.stderr) == (2, True)
    edit_header(path, lambda header: header["design"].update(seed=BAD))
    assert run("status", "run.jsonl").exit_code == 2


def test_columns_values_and_files(run, tmp_path) -> None:
    rows = "\n".join(f"{i},{i % 5}" for i in range(200))
    (tmp_path / f"{BAD}.csv").write_text(f"x{BAD.strip()[:-9]},y\n{rows}\n", newline="")
    (tmp_path / "words.csv").write_text(f"x,y\n{rows}\n3,{BAD[:-9]}\n", newline="")
    (tmp_path / "fit.py").write_text(
        f"def fails(X, y, seed):\n    raise ValueError({BAD!r})\n"
        "def mean(X, y, seed):\n    return lambda rows: [float(y.mean())]\n"
    )
    asked = ["--target", "y", "--n", "10", "--epsilon", "1", "--delta", "0.3", "--algorithm"]
    assert run("test", f"{BAD}.csv", *asked, "fit.py:mean").exit_code in (0, 1)
    missing = run("test", f"{BAD}.csv", "--target", BAD, *asked[2:], "fit.py:mean")
    assert missing.exit_code == 2
    assert run("test", "words.csv", *asked, "fit.py:mean").exit_code == 2
    assert run("test", f"no {BAD}", *asked, "fit.py:mean").exit_code == 2
    assert run("test", f"{BAD}.csv", *asked, "fit.py:fails").exit_code == 3
    named = run("test", f"{BAD}.csv", *asked, "fit.py:mean", "--name", BAD, "--seed", "1")
    assert "[red]" in named.stdout
    for form in ([], ["--quiet"]):
        assert run("compare", f"{BAD}.csv", *asked, f"{BAD}=fit.py:mean", *form).exit_code in (0, 1)
