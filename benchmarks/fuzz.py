"""Damaged files and hostile calls: a valid object, or an error of poise with a name. Nothing else.

    python benchmarks/fuzz.py [--files 20000] [--commands 10000] [--seed 0]

Every case has a number: a finding is repeated with ``--seed`` and its number. It is a finding if a
call raises anything but an error of poise, ends with the status of a defect, takes 20 seconds, or
if the process has grown beyond 1 GB at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import warnings
from pathlib import Path
from zlib import crc32

os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec
import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso

import poise
from poise import research
from poise.cli import COMMANDS, main
from poise.engine.log import _CHECKSUM
from poise.errors import PoiseError
from poise.results.file import _DIGEST, _digest

SECONDS = 20
DEFECT = 70
TOKENS = [
    *("null", "true", "-1", "1e999", "NaN", "-0.0", "[]", "{}", '""', '"inf"', "1" * 400),
    *("[" * 500, '"\\ud800"', '"x"' * 3, "0.5", "18446744073709551616", '"2026-13-45"'),
]
WORDS = [
    *("", "0", "1", "-1", "2.5", "nan", "inf", "1e-400", "9" * 30, "none", "all", "auto", "é", "'"),
    *("5% of sd", "0% of sd", "Ridge", "Lasso", "Ridge(alpha=-1)", "os:system", "nowhere.py:f"),
    *("label", "absolute", "top_k(2, of=5)", "flips(0.5)", "top_k(1e9, of=2)", "progression"),
    *(
        "rows.csv",
        "gate.toml",
        "saved.json",
        "run.log",
        "set.log",
        "nowhere/x",
        "\udcff",
        "here",
        ".",
        "/dev/null",
        "a=b",
        "alpha=1",
        "--",
    ),
    *("last", "uniform", "predict", "predict_proba", "raise", "record", "age", "3", "10", "0.1"),
]
USUAL = "--target progression --algorithm Lasso --n 10 --epsilon 25 --delta 0.2 --max-trials 9"
SKIPPED = ("ui", "demo")  # they start a server, or write where they like


@contextlib.contextmanager
def watched():
    """Raise after too many seconds; findings are told by what is raised."""

    def late(number, frame):
        raise TimeoutError(f"took more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def originals() -> list[Path]:
    """Save results and logs of several kinds."""
    X, y = load_diabetes(return_X_y=True)
    trials = poise.measure(Lasso(), X, y, n=10)
    trials.save("trials.json")
    trials.test(25, delta=0.2).save("saved.json")
    poise.Trials.from_changes(np.arange(10_001.0), n=5).save("packed.json")
    poise.measure_deployed(Lasso(), X[:20], y[:20], X[420:]).save("deployed.json")
    poise.stability_test(
        lambda X, y, seed: 1 / 0, X, y, n=10, epsilon=1, delta=0.1, on_error="record"
    ).save("failed.json")
    for again in JOURNALS.values():
        again()
    return [Path(name) for name in ("trials", "saved", "packed", "deployed", "failed")]


def kinds(X, y, seed):
    """A fit whose predictions are no plain numbers."""
    return lambda rows: [None if row[0] > 0 else "high" for row in rows]


ROWS = load_diabetes(return_X_y=True)
TEST = research.BinomialTest(n=10, epsilon=25, delta=0.2)
SOME = {"on_error": "record", "random_state": None, "progress": False}
JOURNALS = {
    "run.log": lambda: poise.measure(Lasso(), *ROWS, n=40, journal="run.log", **SOME),
    "set.log": lambda: poise.measure_deployed(
        kinds, ROWS[0][:9], ROWS[1][:9], ROWS[0][400:], journal="set.log", check=False, **SOME
    ),
    "own.log": lambda: research.run(
        TEST, Lasso(), ROWS[0][:99], ROWS[1][:99], journal="own.log", on_error="record"
    ),
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Damage a file a few times: bits, bytes, cuts, copies, values of another kind."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place = rng.randrange(len(found) or 1)
        kind = rng.randrange(7)
        if kind == 0 and found:
            found[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            found[place:place] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 2:
            del found[place : place + rng.choice((1, 10, 1000))]
        elif kind == 3:
            found = found[:place]
        elif kind == 4:
            found[place:place] = found[place : place + rng.randrange(1, 500)]
        else:
            commas = [i for i, byte in enumerate(found) if byte in b":,"] or [0]
            start = rng.choice(commas) + 1
            stop = next((i for i in range(start, len(found)) if found[i] in b",}]"), start)
            found[start:stop] = rng.choice(TOKENS).encode()
    return bytes(found)


def resealed(content: bytes) -> bytes:
    """Let the digest fit again, if this is still JSON, so that the content itself is tried."""
    try:
        sealed = msgspec.json.format(content, indent=-1).strip().rpartition(b"," + _DIGEST)[0]
    except (msgspec.DecodeError, RecursionError):
        return content
    return sealed + b"," + _DIGEST + b'"' + _digest(sealed) + b'"}'


def resealed_lines(content: bytes) -> bytes:
    """Let the checksum of every line fit again."""
    size = len(_CHECKSUM % 0)
    texts = [line[: 1 - size] + b"}" for line in content.splitlines() if len(line) > size]
    return b"".join(text[:-1] + _CHECKSUM % crc32(text) for text in texts)


def one_file(files: dict[Path, bytes], rng: random.Random) -> str:
    """Read a damaged file, or go on with it; say what was raised that should not be."""
    path = rng.choice(list(files))
    seal = resealed if path.suffix == ".json" else resealed_lines
    path.unlink(missing_ok=True)  # truncating one file again and again waits for the disk
    content = damaged(files[path], rng)
    path.write_bytes(seal(content) if rng.random() < 0.5 else content)
    try:
        with watched(), warnings.catch_warnings():
            if path.suffix == ".json":
                str(poise.load(path))
            elif rng.random() < 0.5:
                JOURNALS[path.name]()
            elif path.name == "own.log":
                research.replay(path, TEST, ROWS[0][:99], ROWS[1][:99])
            else:
                str(poise.load(path))
    except PoiseError:
        return ""
    except Exception as error:
        shutil.copy(path, f"finding-{path.name}")
        return f"{type(error).__name__}: {error}"
    return ""


def one_command(rng: random.Random) -> tuple[str, list[str]]:
    """Run a command line in this process; say how it ended if it should not."""
    name = rng.choice([each for each in COMMANDS if each not in SKIPPED])
    command = main.get_command(None, name)
    known = [option for each in command.params for option in each.opts] or ["--help"]
    words = [name, *rng.sample(["rows.csv", "saved.json", "gate.toml"], k=1)]
    words += USUAL.split() if rng.random() < 0.6 else []
    for _ in range(rng.randrange(1, 4)):
        words += [rng.choice(known), rng.choice(WORDS)][: rng.choice((1, 2, 2, 2))]
    with watched(), warnings.catch_warnings():
        ended = CliRunner().invoke(main, words, prog_name="poise")
    error = ended.exception
    bad = ended.exit_code == DEFECT or not isinstance(error, SystemExit | type(None))
    return (f"status {ended.exit_code}: {ended.output[-300:]} {error!r}" if bad else ""), words


def run(files: int, commands: int, seed: int) -> int:
    rows = Path(poise.__file__).parents[2] / "examples" / "diabetes.csv"
    Path("rows.csv").write_text("\n".join(rows.read_text().splitlines()[:200]) + "\n")
    Path("gate.toml").write_text(
        '[data]\nfile = "rows.csv"\ntarget = "progression"\n\n[[questions]]\n'
        'algorithm = "Lasso"\nn = 10\nepsilon = 25\ndelta = 0.2\n'
    )
    saved = [path.with_suffix(".json") for path in originals()]
    bases = {path: path.read_bytes() for path in (*saved, *map(Path, JOURNALS))}
    findings, began = 0, time.monotonic()
    for k in range(files):
        found = one_file(bases, random.Random(f"{seed} file {k}"))
        findings += bool(found)
        if found:
            print(f"file {k}: {found}", flush=True)
    print(f"{files:,} damaged files, {time.monotonic() - began:.0f} s", flush=True)
    for k in range(commands):
        np.random.seed(0)  # noqa: NPY002 - user code may draw
        found, words = one_command(random.Random(f"{seed} command {k}"))
        findings += bool(found)
        if found:
            print(f"command {k}: {words}\n  {found}", flush=True)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{commands:,} command lines, {time.monotonic() - began:.0f} s, {grown:.2f} GB")
    return findings + (grown > 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--commands", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        raise SystemExit(run(given.files, given.commands, given.seed) > 0)
