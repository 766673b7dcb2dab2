"""Runs that are killed at random moments and gone on with: the bits of one that never was.

    python benchmarks/soak.py [--kills 1000] [--seed 0]

Each run is a process of its own that is ended by SIGKILL, again and again, until it comes to its
end; now and then the last bytes of its journal are torn off as well, as by a power cut. Its answer
must be that of a run without a journal, bit for bit, and what the journal holds meanwhile the
beginning of it. No worker and no folder of a killed run may be left.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import poise
from poise import research
from poise.engine.pool import close_idle

X, Y = load_diabetes(return_X_y=True)
TREE = DecisionTreeRegressor()
STARTS = {"two workers": 0.8}  # seconds until the first fit
RECORD = {"on_error": "record", "progress": False}


def level(X, y, seed):
    """A fit of a millisecond, which fails for a few training sets."""
    time.sleep(0.001)
    if y[0] < 50:
        raise ValueError("a small response")
    value = y.mean() + np.random.default_rng(seed).normal()
    return lambda rows: np.full(len(rows), value)


def runs(seed: int) -> dict:
    """Return a run of every kind; each takes the place of its journal."""
    asked = {"random_state": seed, **RECORD}
    few = research.AdaptiveTest(n=6, epsilon=9, delta=0.2, explorations=30, aimed=15)
    one_set = (X[:25], Y[:25], X[200:], Y[200:])
    return {
        "trials": lambda j: poise.measure(level, X, Y, n=4, check=False, journal=j, **asked),
        "looked at": lambda j: poise.measure(TREE, X, Y, n=5, journal=j, **asked),
        "by formula": lambda j: poise.measure(
            LinearRegression(), np.round(X, 2), Y, n=12, journal=j, **asked
        ),
        "stopped early": lambda j: (
            poise.stability_test(
                TREE, X, Y, n=5, epsilon=1, delta=0.2, stop_early=True, journal=j, **asked
            ).trials
        ),
        "one set": lambda j: poise.measure_deployed(TREE, *one_set[:3], journal=j, **asked),
        "updates": lambda j: poise.measure_deployed(TREE, *one_set, update=2, journal=j, **asked),
        "stages": lambda j: research.run(few, level, X, Y, journal=j, **asked),
        "two workers": lambda j: poise.measure(
            level, X, Y, n=4, n_jobs=2, check=False, journal=j, **asked
        ),
    }


def bits(answer) -> bytes:
    """Return what must not differ."""
    if not isinstance(answer, poise.Trials):
        return repr(answer).encode()
    return answer.changes.tobytes() + answer.errors.tobytes() + repr(answer.failures).encode()


def started(run, journal: Path, out: Path) -> int:
    """Begin the run in a process of its own, which writes its bits at its end."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        found = bits(run(journal))
        out.with_suffix(".new").write_bytes(found)
        out.with_suffix(".new").replace(out)
        status = 0
    finally:
        os._exit(status)


def torn(journal: Path, rng: random.Random) -> None:
    """Lose the end of the last line, as a power cut may."""
    with journal.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.truncate(max(40, size - rng.randrange(60)))
        file.seek(0, os.SEEK_END)
        file.write(b"\0" * rng.choice((0, 200)))


def killed_until_done(name: str, run, rng: random.Random) -> int:
    """Kill a run until it ends by itself, and compare; return how often it was killed."""
    began = time.perf_counter()
    expected = run(None)
    whole, kills = max(time.perf_counter() - began, STARTS.get(name, 0)), 0
    with tempfile.TemporaryDirectory() as folder:
        journal, out = Path(folder, "journal"), Path(folder, "out")
        for attempt in range(1, 1000):
            child = started(run, journal, out)
            time.sleep(rng.random() * whole * 0.15 * attempt)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status):
                break
            kills += 1
            if journal.exists() and journal.stat().st_size > 100:
                if rng.random() < 0.2:
                    torn(journal, rng)
                require_beginning(journal, expected)
        assert os.WEXITSTATUS(status) == 0, f"{name} failed"
        assert out.read_bytes() == bits(expected), f"{name} differs after {kills} kills"
        require_beginning(journal, expected)
    return kills


def require_beginning(journal: Path, expected) -> None:
    """Refuse a journal that holds anything but the beginning of the run."""
    if not isinstance(expected, poise.Trials) or b"\n" not in journal.read_bytes():
        return
    so_far = poise.load(journal).changes
    assert so_far.tobytes() == expected.changes[: len(so_far)].tobytes(), "other trials"


def main(kills: int, seed: int) -> int:
    began, done, counts = time.monotonic(), 0, dict.fromkeys(runs(0), 0)
    rounds = 0
    while done < kills:
        for name, run in runs(seed + rounds).items():
            counts[name] += killed_until_done(name, run, random.Random(f"{seed} {rounds} {name}"))
        rounds, done = rounds + 1, sum(counts.values())
        seconds = time.monotonic() - began
        print(f"{done:,} kills, {rounds} runs of each kind, {seconds:.0f} s", flush=True)
    print(", ".join(f"{name}: {count:,}" for name, count in counts.items()))
    close_idle()  # of this process
    time.sleep(2)
    left = list(Path(tempfile.gettempdir()).glob("poise-*"))
    print(f"no difference; {len(left)} folders left")
    return len(left)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        tempfile.tempdir = os.environ["TMPDIR"] = place
        raise SystemExit(main(given.kills, given.seed) > 0)
