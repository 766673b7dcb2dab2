"""The page of ``poise ui``: saved results judged again, rows planned, new runs started.

Streamlit runs this script again for every click, so whatever is kept between clicks has types
from other modules.
"""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import poise
from poise.errors import PoiseError
from poise.results.report import VERDICT_COLOURS, card
from poise.ui.serve import FOLDER

Answer = poise.Trials | poise.Result

HERE = Path(os.environ.get(FOLDER, "."))
_MOST_FILES, _MOST_ENTRIES = 1_000, 20_000  # a folder given by mistake is not walked to its end
_USUAL = ("Lasso", "Ridge", "LogisticRegression", "RandomForestRegressor", "RandomForestClassifier")
_ROWS = (".csv", ".parquet", ".feather", ".xlsx", ".npz")
_COLOURS = {verdict: f"color: {colour}" for verdict, colour in VERDICT_COLOURS.items()}


def files(*endings: str) -> list[str]:
    """Return files below the folder, the newest first; neither hidden ones nor links."""
    found, seen = [], 0
    for folder, below, names in os.walk(HERE):
        below[:] = [name for name in below if not name.startswith(".")]
        seen += len(names) + len(below)
        paths = [Path(folder, name) for name in names if not name.startswith(".")]
        found += [p for p in paths if p.suffix in endings and p.is_file() and not p.is_symlink()]
        if seen > _MOST_ENTRIES:
            st.warning(f"{HERE} has very many files: only some of them are listed.")
            break
    newest = sorted(found, key=lambda path: -path.stat().st_mtime)[:_MOST_FILES]
    return [str(path.relative_to(HERE)) for path in newest]


@st.cache_resource(max_entries=_MOST_FILES, show_spinner=False)
def opened(name: str, state: tuple[int, int]) -> Answer | str:
    """Read a result, or a run that goes on, once for each of its states; or say what is wrong."""
    try:
        found: Answer = poise.load(HERE / name)
    except (PoiseError, OSError) as error:
        return str(error)
    return found


# Results


def results() -> None:
    """List the results; one that is chosen is shown below, several stand side by side."""
    names = files(".json", ".jsonl")
    names = [each for each in names if not (each.endswith("l") and each[:-1] in names)]  # journals
    found = {}
    for name in names:
        with suppress(FileNotFoundError):  # gone meanwhile
            state = (HERE / name).stat()
            found[name] = opened(name, (state.st_mtime_ns, state.st_size))
    if not found:
        st.info(f"There are no results in {HERE} yet. Start a run, or give `--save` to a command.")
        return
    lines = pd.DataFrame([line_of(name, answer) for name, answer in found.items()])
    picked: Any = st.dataframe(
        lines.style.map(lambda word: _COLOURS.get(word, ""), subset=["verdict"]),
        column_config={"n": st.column_config.NumberColumn(format="localized")},
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="results",
    )
    chosen = {lines["file"][row]: found[lines["file"][row]] for row in picked.selection.rows}
    if not chosen:
        st.caption("Choose a row to judge it again, or several to compare them.")
    if len(known := [each for each in chosen.values() if isinstance(each, poise.Result)]) > 1:
        st.html(poise.table(known).html())
        st.caption("Each verdict has its own error level: of several, one is wrong more often.")
    for name, answer in chosen.items():
        if isinstance(answer, str):
            st.error(answer)
        else:
            st.html(card(judged(name, answer) if len(chosen) == 1 else answer))
            trials = answer.trials if isinstance(answer, poise.Result) else answer
            st.code(getattr(trials.origin, "command", ""), language="bash", wrap_lines=True)


def line_of(name: str, answer: Answer | str) -> dict[str, Any]:
    """Return the line of a file in the table."""
    if isinstance(answer, str):
        return {"verdict": "unreadable", "file": name}
    verdict, design = getattr(answer, "verdict", "measured"), answer.design
    done = f"{answer.n_observed:,} of {answer.n_trials:,}"
    about = {"verdict": verdict, "algorithm": design.title, "n": design.n}
    return about | {"trials": done, "file": name}


def judged(name: str, answer: Answer) -> Answer:
    """Put the question of the sliders to a run; what was asked before the fits comes first."""
    trials = answer.trials if isinstance(answer, poise.Result) else answer
    question = answer.question if isinstance(answer, poise.Result) else trials.asked
    left, middle, right = st.columns([3, 2, 1])
    delta, alpha = (trials.delta, 0.05) if question is None else (question.delta, question.alpha)
    asked: dict[str, Any] = {}
    if trials.design.sized:
        changes = pd.Series([0.0, *trials.changes.ravel()]).replace(math.inf, math.nan).dropna()
        most = max(float(changes.max()), 1e-9) * 1.5
        usual = float(f"{changes.quantile(0.9):.3g}")
        epsilon = usual if question is None else min(float(question.epsilon or 0.0), most)
        words = ("ε: allowed change", 0.0, most, epsilon, most / 500)
        asked["epsilon"] = left.slider(*words, key=f"epsilon {name}")
    words = ("δ: allowed probability", 0.0, 0.5, min(delta, 0.5), 0.005)
    asked["delta"] = middle.slider(*words, key=f"delta {name}")
    words = ("α: error level", 0.001, 0.5, alpha, 0.01)
    asked["alpha"] = right.number_input(*words, key=f"alpha {name}")
    why = "No question was chosen before the fits"
    if question is not None:
        before = {key: getattr(question, key) for key in asked}
        moved = [k for k in asked if not math.isclose(asked[k], before[k], rel_tol=1e-9)]
        if not moved:
            return answer if isinstance(answer, poise.Result) else trials.judge(question)
        why = f"{' and '.join(moved)} moved"
    st.warning(f"{why}: a verdict keeps its level only if the question was chosen without looking.")
    return trials.test(**asked)


# Plan


def planned() -> None:
    """Say how many rows a question needs, or what these rows can answer."""
    one, two, three, four = st.columns(4)
    n = one.number_input("n: training size", 2, value=100)
    rows = two.number_input("Labelled rows (0 to ask how many)", 0, value=3_000, step=100)
    delta = three.number_input("δ", 0.001, 0.5, 0.1, 0.01)
    alpha = four.number_input("α", 0.001, 0.5, 0.05, 0.01)
    found = poise.plan(n=n, n_labeled=rows or None, delta=delta, alpha=alpha)
    st.text(str(found))
    st.image(found.plot().png(110), width=640)


# New run


@st.cache_resource(show_spinner=False)
def children() -> dict[str, subprocess.Popen[bytes]]:
    """Return the runs that this server has started."""
    return {}


def new_run() -> None:
    """Choose rows, algorithm and question; see the command; start it."""
    tables = files(*_ROWS)
    if not tables:
        st.info(f"There is no file of rows ({', '.join(_ROWS)}) in {HERE}.")
        return
    data = st.selectbox("Rows", tables)
    one, two = st.columns(2)
    names = list(pd.read_csv(HERE / data, nrows=0)) if data.endswith(".csv") else []
    target = one.selectbox("Response", names, None, accept_new_options=True)
    help = "An estimator of scikit-learn, or path/to/file.py:name"
    algorithm = two.selectbox("Algorithm", _USUAL, help=help, accept_new_options=True)
    columns = st.columns(4)
    n = columns[0].number_input("n", 2, value=10)
    epsilon = columns[1].text_input("ε (empty for labels)", "5% of sd")
    delta = columns[2].number_input("δ", 0.001, 0.5, 0.1, 0.01)
    seed = columns[3].number_input("Seed", 0, value=0)
    begun = st.session_state.setdefault("begun", time.strftime("%H%M%S"))  # a default that stays
    name = Path(st.text_input("Name", f"{algorithm}-{n}-{begun}")).name
    words = ["test", f"--algorithm={algorithm}", f"--n={n}", f"--delta={delta}", f"--seed={seed}"]
    words += [f"--target={target}"] if target else []
    words += [f"--epsilon={epsilon}"] if epsilon else []
    words += [f"--save={name}.json", f"--journal={name}.jsonl", "--", f"./{data}"]
    st.code(shlex.join(["poise", *words]), language="bash", wrap_lines=True)
    missing = target is None and not data.endswith(".npz")
    if st.button("Start", type="primary", disabled=missing or (HERE / f"{name}.json").exists()):
        begin(name, words)
        st.session_state.started = name
    if "started" in st.session_state:
        watch(st.session_state.started)


def begin(name: str, words: list[str]) -> None:
    """Start a command in a session of its own, which needs neither the page nor its server."""
    with (HERE / f".{name}.out").open("wb") as out:
        children()[name] = subprocess.Popen(
            [sys.executable, "-m", "poise", *words],
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@st.fragment(run_every=1)
def watch(name: str) -> None:
    """Show how a run goes, and its answer at the end."""
    child = children().get(name)
    if child is None:
        return
    if child.poll() is None:
        try:  # its journal holds the trials so far
            trials = poise.load(HERE / f"{name}.jsonl")
            share, said = trials.n_observed / trials.n_trials, f"{trials.n_observed:,} trials"
        except (PoiseError, OSError, ZeroDivisionError):
            share, said = 0.0, "no trial yet"
        st.progress(share, f"{name} is running: {said}")
        if st.button("Stop"):
            child.terminate()
        return
    st.text((HERE / f".{name}.out").read_text("utf-8", "replace")[-4_000:])
    st.caption(f"ended with status {child.returncode}")


def main() -> None:
    """Show one of the three pages."""
    st.set_page_config("poise", "⚖️", layout="wide")
    pages = {"Results": results, "Plan": planned, "New run": new_run}
    chosen = st.navigation([st.Page(each, title=n) for n, each in pages.items()], position="top")
    st.caption(HERE.name)
    try:
        chosen.run()
    except PoiseError as error:
        st.error(str(error))


if __name__ == "__main__":
    main()
