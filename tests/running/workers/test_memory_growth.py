"""Nothing accumulates from trial to trial but the changes, whose place is taken beforehand."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

BLOCK = 1024  # random terms are made, and kept, for so many trials at once

# In a process of its own: clusters that other tests have started allocate in the background.
SCRIPT = textwrap.dedent("""
    import json, sys, tracemalloc
    import numpy as np
    import poise

    stop_early, journal = json.loads(sys.argv[1])
    memory = np.zeros(5_000, dtype=int)  # there beforehand, too

    def fit(A, b, seed):
        if len(b) == 2:
            memory[int(A[0, 0]) // 2] = tracemalloc.get_traced_memory()[0]
        return lambda rows: [0.0]

    X = np.arange(3.0 * 5_000).reshape(-1, 1)
    tracemalloc.start()
    result = poise.stability_test(
        fit, X, X[:, 0], n=2, epsilon=1.0, delta=0.1, stop_early=stop_early, shuffle=False,
        check=False, journal=journal,
    )
    assert result.n_observed == np.count_nonzero(memory) > 4_000
    print(json.dumps(memory[: result.n_observed].tolist()))
""")


@pytest.mark.parametrize(("stop_early", "journalled"), [(True, True), (False, False)])
def test_a_trial_leaves_nothing_in_memory(stop_early, journalled, tmp_path) -> None:
    journal = str(tmp_path / "run.jsonl") if journalled else None
    arguments = json.dumps([stop_early, journal])
    said = subprocess.check_output([sys.executable, "-c", SCRIPT, arguments])
    memory = json.loads(said)[BLOCK::BLOCK]
    assert max(memory) - memory[0] < len(memory) * BLOCK, "not even a byte for each trial"
