"""A small version of benchmarks/soak.py: everything goes wrong, and the verdict is right."""

from __future__ import annotations

import json
import textwrap

from shared.processes import python

SCRIPT = textwrap.dedent("""
    import ctypes, json, os, signal, sys, time
    import numpy as np
    import poise
    from poise.storage.journal import read_journal

    rng = np.random.default_rng(0)
    X = np.arange(6600.0).reshape(-1, 1)  # row 10 k begins trial k
    y = rng.normal(size=6600)

    faults = {
        "raise": lambda: 1 / 0,
        "hang": lambda: time.sleep(600),
        "exit": lambda: os._exit(1),
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "crash": lambda: ctypes.string_at(0),
        "allocate": lambda: np.ones(1 << 50),
    }
    kinds = dict.fromkeys(faults, "error") | {"hang": "timeout"}
    kinds |= dict.fromkeys(["exit", "kill", "crash"], "death")
    drawn = rng.choice(600, size=18, replace=False).tolist()
    plan = dict(zip(drawn, [*faults, *["raise", "allocate"] * 6], strict=True))

    def fit(A, b, seed):
        trial = int(A[0, 0]) // 10
        if trial in plan:
            faults[plan[trial]]()
        change = np.random.default_rng(seed).uniform()
        return lambda rows: [change * len(b)]

    result = poise.stability_test(
        fit, X, y, n=10, epsilon=0.95, delta=0.12, shuffle=False, stop_early=False,
        random_state=0, n_jobs=2, timeout=1.0, on_error="unstable", on_timeout="unstable",
        journal=sys.argv[1],
    )
    clean = poise.measure(
        lambda A, b, s: lambda rows: [np.random.default_rng(s).uniform() * len(b)],
        X, y, n=10, shuffle=False, random_state=0,
    )
    content = read_journal(sys.argv[1])
    good = [k for k in range(600) if k not in plan]
    print(json.dumps({
        "verdict": result.verdict.value,
        "expected": int((clean.changes[good] > 0.95).sum()) + len(plan),
        "statistic": result.statistic,
        "same": bool((content.trials.changes[good] == clean.changes[good]).all()),
        "failed": {f.trial: f.kind for f in content.failures}
                  == {k: kinds[what] for k, what in plan.items()},
        "count": len(content.failures),
    }))
""")


def test_everything_goes_wrong(tmp_path, traces) -> None:
    script, left = tmp_path / "soak.py", traces()
    script.write_text(SCRIPT)
    done = python(str(script), str(tmp_path / "run.jsonl"), env=left.environment)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["failed"], "each trial failed in its own way, and no other"
    assert said["same"], "whatever happened around them, the others are as ever"
    assert said["count"] == 18
    assert said["statistic"] == said["expected"]
    # P(Bin(600, 0.12) <= 58) <= 0.05 (mean 72, standard deviation 7.96)
    assert said["expected"] <= 58
    assert said["verdict"] == "stable"
    assert left.vanish(), "no stray process, no temporary file"
