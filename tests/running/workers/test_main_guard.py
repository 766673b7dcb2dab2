"""A script that workers would run again is refused in one line; a guarded one runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.running.workers.main_guard import is_guarded
from shared.processes import python

SCRIPT = """
import numpy as np
import poise

def fit(X, y, seed):
    return lambda rows: [y.mean()] * len(rows)

def main():
    X = np.arange(66.0).reshape(-1, 1)
    trials = poise.measure(fit, X, X[:, 0], n=10, n_jobs=1, backend="dask", random_state=0)
    print(trials.n_trials)
"""


def test_a_script_without_the_guard_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"{SCRIPT}\nmain()\n")
    done = python("script.py", cwd=tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("poise.errors.ArgumentError: backend='dask' starts processes that")
    assert "script.py" in last
    assert 'if __name__ == "__main__":' in last
    assert done.stderr.count("Traceback") == 1


def test_a_guarded_script_runs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"{SCRIPT}\nif __name__ == '__main__':\n    main()\n")
    done = python("script.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("main()", False),
        ("if True:\n    main()", False),
        ("if __name__ == '__main__':\n    pass\nmain()", False),
        ("if __name__ == '__main__' and ready:\n    main()", True),
        ("try:\n    if '__main__' == __name__:\n        main()\nfinally:\n    pass", True),
        ("%magic", True),
    ],
)
def test_what_a_guard_is(text: str, guarded: bool) -> None:
    line = next((k for k, part in enumerate(text.splitlines(), 1) if "main()" in part), 1)
    assert is_guarded(text, line) == guarded
