"""An hour of faults in a few minutes: whatever happens, the verdict is right and nothing is left.

    python benchmarks/soak.py [--minutes 2] [--seed 0]
    python benchmarks/soak.py --kills 1000

Episode after episode, a test of 300 trials runs on two workers with a journal. Some of
its fits raise, hang, exit, are killed, crash in an extension, or ask for more memory
than there is: more in one episode than most people see in a month. In every other
episode the whole run is killed now and then, at a random moment, and started again.
At the end of each episode:

- every trial failed that was to fail, by the right name, and no other;
- all other changes are those of an undisturbed run, bit for bit;
- verdict and count are those computed by hand from the plan;
- no process and no temporary file is left.

With ``--kills`` there are no other faults: runs of 2,000 trials are killed by SIGKILL while they
write their journals, and started again, so many times in all. Each journal must end with the
changes of an undisturbed run, bit for bit.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import poise
from poise.storage.journal import read_journal
from side_by_side import table

M, N = 300, 10
EPSILON, DELTA = 0.95, 0.2
PATIENCE = 60.0  # seconds for processes to notice that the run they worked for is over
FAULTS = {
    "raise": lambda: 1 / 0,
    "allocate": lambda: np.ones(1 << 50),
    "hang": lambda: time.sleep(600),
    "exit": lambda: os._exit(1),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crash": lambda: ctypes.string_at(0),
}
KINDS = dict.fromkeys(FAULTS, "death") | {"raise": "error", "allocate": "error", "hang": "timeout"}


def plan_of(seed: int) -> dict[int, str]:
    """Draw the trials that go wrong, and how: each way once, and harmless ones beside them."""
    draw = random.Random(seed)
    ways = [*FAULTS, *draw.choices(list(FAULTS), k=4), *["raise", "allocate"] * 5]
    return dict(zip(draw.sample(range(M), k=len(ways)), ways, strict=True))


def rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.arange(M * (N + 1), dtype=float).reshape(-1, 1)  # row 10 k begins trial k
    return X, np.random.default_rng(seed).normal(size=len(X))


def faulty(A, b, seed, plan: dict[int, str]):
    trial = int(A[0, 0]) // N
    if trial in plan:
        FAULTS[plan[trial]]()
    time.sleep(0.002)
    level = np.random.default_rng(seed).uniform() * len(b)
    return lambda rows: [level]


def episode(seed: int, journal: str) -> None:
    """Run the test once, in this process, and say what came out."""
    result = poise.stability_test(
        partial(faulty, plan=plan_of(seed)),
        *rows(seed),
        n=N,
        epsilon=EPSILON,
        delta=DELTA,
        shuffle=False,
        stop_early=False,
        random_state=seed,
        n_jobs=2,
        timeout=2.0,
        on_error="unstable",
        on_timeout="unstable",
        journal=journal,
    )
    print(json.dumps({"verdict": result.verdict.value, "statistic": result.statistic}))


@dataclass
class Tally:
    """What happened in all episodes."""

    episodes: int = 0
    trials: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    wrong: list[str] = field(default_factory=list)


class Stage:
    """A folder for one episode, which also marks the processes that belong to it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.temporary, self.journal, self.seed = folder / "tmp", folder / "run.jsonl", seed
        self.temporary.mkdir()

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, __file__, "--episode", str(self.seed), str(self.journal)]
        environment = os.environ | {"TMPDIR": str(self.temporary)}
        # Crashes print their stack, and joblib what a killed run left to its tracker.
        with (self.temporary.parent / "stderr").open("a") as noise:
            return subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=noise, text=True
            )

    def strays(self) -> Iterator[str]:
        """Name the processes that inherited the folder, and what is in it."""
        mark = f"TMPDIR={self.temporary}\0".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes():
                    yield f"process {entry.name}"
            except OSError:  # it has just ended, or is somebody else's
                continue
        yield from (path.name for path in self.temporary.glob("poise-*"))

    def left(self) -> list[str]:
        limit = time.monotonic() + PATIENCE
        while (found := list(self.strays())) and time.monotonic() < limit:
            time.sleep(0.1)
        return found


def perform(stage: Stage, kills: int) -> tuple[dict[str, object], int]:
    """Run an episode to its end, killing it on the way; return what it said, and the kills."""
    moments, killed = random.Random(stage.seed), 0
    for _ in range(kills):
        process = stage.start()
        try:
            process.wait(moments.uniform(2.0, 8.0))
        except subprocess.TimeoutExpired:
            killed += 1
            process.kill()
        process.communicate()
    said, _ = (process := stage.start()).communicate()
    if process.returncode:
        return {"verdict": f"exit status {process.returncode}"}, killed
    return json.loads(said), killed


def mistakes(stage: Stage, said: dict[str, object]) -> Iterator[str]:
    """Compare what a run said and wrote with what is known to be right."""
    plan = plan_of(stage.seed)
    content = read_journal(stage.journal)
    clean = poise.measure(
        partial(faulty, plan={}), *rows(stage.seed), n=N, shuffle=False, random_state=stage.seed
    ).changes
    good = np.array([k not in plan for k in range(M)])
    count = int((clean[good] > EPSILON).sum()) + len(plan)
    verdict = poise.Trials.from_changes([1.0] * count + [0.0] * (M - count), n=N)
    if {f.trial: f.kind for f in content.failures} != {k: KINDS[how] for k, how in plan.items()}:
        yield "failures"
    if content.trials.changes[good].tobytes() != clean[good].tobytes():
        yield "changes"
    if said.get("statistic") != count:
        yield f"count {said.get('statistic')} instead of {count}"
    if said["verdict"] != verdict.test(EPSILON / 2, DELTA).verdict:
        yield f"verdict {said['verdict']}"
    yield from stage.left()


def quiet(seed: int, journal: str | None = None) -> np.ndarray:
    """Measure without a fault, and slowly enough to be killed on the way."""

    def fit(A, b, xi):
        time.sleep(0.0005 if journal else 0)
        return lambda rows: [b.mean() * xi]

    y = np.random.default_rng(seed).normal(size=2000 * (N + 1))
    return poise.measure(fit, y[:, None], y, n=N, random_state=seed, journal=journal).changes


def run_and_kill(journal: Path, seed: int, moment: float) -> bool:
    """Start a run or continue it; kill it a moment after it wrote; return whether it was."""
    size = journal.stat().st_size if journal.exists() else 0
    command = [sys.executable, __file__, "--quiet", str(seed), str(journal)]
    with subprocess.Popen(command) as process:
        while process.poll() is None and (not journal.exists() or journal.stat().st_size == size):
            time.sleep(0.002)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.returncode == -signal.SIGKILL


def kill_runs(kills: int, seed: int) -> int:
    moments, killed, runs, wrong = random.Random(seed), 0, 0, []
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        while killed < kills:
            journal = Path(folder) / f"{runs}.jsonl"
            while run_and_kill(journal, seed + runs, moments.uniform(0.0, 0.2)):
                killed += 1
            if read_journal(journal).trials.changes.tobytes() != quiet(seed + runs).tobytes():
                wrong.append(f"seed {seed + runs}")
            runs += 1
    facts = [["runs of 2,000 trials", f"{runs}"], ["wrong", "; ".join(wrong) or "nothing"]]
    print(table(["soak", f"{killed} SIGKILLs"], facts))
    return 1 if wrong else 0


def main(minutes: float, seed: int) -> int:
    tally, end = Tally(), time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            stage = Stage(Path(folder), seed + tally.episodes)
            said, killed = perform(stage, kills=3 * (tally.episodes % 2))
            found = [f"seed {stage.seed}: {wrong}" for wrong in mistakes(stage, said)]
        tally.episodes += 1
        tally.trials += M
        tally.kills += killed
        tally.faults.update(plan_of(stage.seed).values())
        tally.wrong += found
    faults = ", ".join(f"{count} {how}" for how, count in tally.faults.items())
    facts = [
        ["episodes of 300 trials", f"{tally.episodes}"],
        ["faults", f"{tally.faults.total()}: {faults}"],
        ["runs killed and resumed", f"{tally.kills}"],
        ["wrong or left behind", "; ".join(tally.wrong) or "nothing"],
    ]
    print(table(["soak", f"{minutes:g} minutes"], facts))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="two episodes")
    parser.add_argument("--kills", type=int, help="SIGKILLs of whole runs, and nothing else")
    parser.add_argument("--episode", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--quiet", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.quiet is not None:
        quiet(int(arguments.quiet[0]), arguments.quiet[1])
    elif arguments.episode is not None:
        episode(int(arguments.episode[0]), arguments.episode[1])
    elif arguments.kills is not None:
        sys.exit(kill_runs(arguments.kills, arguments.seed))
    else:
        sys.exit(main(0.3 if arguments.small else arguments.minutes, arguments.seed))
