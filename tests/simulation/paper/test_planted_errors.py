"""The table can fail: a library with an error in one place does not reproduce the paper."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import poise
from shared.processes import python


@dataclass(frozen=True)
class Planted:
    """One wrong line, and a claim that must not survive it."""

    file: str
    right: str
    wrong: str
    section: str
    caught_by: str


ERRORS = {
    "kappa off by one": Planted(
        "theory/trials.py",
        "rows // (size + 1)",
        "rows // (size + 2)",
        "2",
        "floor(kappa) is the largest number of disjoint sets of n rows and a point",
    ),
    "< for <=, between zeta and a*": Planted(
        "theory/decision.py",
        'float(arguments.probability("zeta", zeta)) <= tie',
        'float(arguments.probability("zeta", zeta)) < tie',
        "3",
        "declares stable iff B < k*, or B = k* and zeta <= a*",
    ),
    "< for <=, between a change and epsilon": Planted(
        "theory/order_statistics.py",
        "np.count_nonzero(block > x)",
        "np.count_nonzero(block >= x)",
        "3",
        "a change of exactly eps does not count against stability",
    ),
    "alpha halved": Planted(
        "theory/decision.py",
        "binomial_test.critical_value(n_trials, delta, alpha)",
        "binomial_test.critical_value(n_trials, delta, alpha / 2)",
        "3",
        "declares stable iff B < k*, or B = k* and zeta <= a*",
    ),
    "a row shared by two trials": Planted(
        "procedures/split_of_rows.py",
        "first, last = index * self.n, (index + 1) * self.n",
        "first, last = index * (self.n - 1), index * (self.n - 1) + self.n",
        "2",
        "the trials share no row",
    ),
    "delta_hat without zeta": Planted(
        "results/single_changes.py",
        "float(delta_hat(worst, self.n_trials, alpha, zeta))",
        "float(delta_hat(worst, self.n_trials, alpha, 1.0))",
        "4.1",
        "P(delta_hat misses its target) is alpha = .4 exactly, with its coin",
    ),
    "a trap with c too small": Planted(
        "simulation/traps/trap.py",
        "return -math.expm1(math.log1p(",
        "return -0.5 * math.expm1(math.log1p(",
        "B",
        "both traps are only just not (eps, delta)-stable",
    ),
}


def reproduced(library: Path, section: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"reproduce --only {section} --share 0.01 --no-figures --jobs 1 --json --output"
    environment = os.environ | {"PYTHONPATH": str(library)}
    return python("-m", "poise", *command.split(), str(folder), env=environment)


@pytest.mark.parametrize("name", ERRORS)
def test_a_planted_error_is_caught(name: str, tmp_path: Path) -> None:
    error = ERRORS[name]
    source = Path(poise.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    library = shutil.copytree(source, tmp_path / "library" / "poise", ignore=ignored)
    text = (library / error.file).read_text(encoding="utf-8")
    assert text.count(error.right) == 1, "the line has changed: plant the error in the new one"
    (library / error.file).write_text(text.replace(error.right, error.wrong), encoding="utf-8")
    ran = reproduced(library.parent, error.section, tmp_path / "table")
    assert ran.returncode == 1, ran.stderr
    table = json.loads(ran.stdout)
    failed = [claim["text"] for claim in table["claims"] if not claim["passed"]]
    assert error.caught_by in failed
    assert not table["passed"]


def test_the_library_itself_passes_in_the_same_way(tmp_path: Path) -> None:
    ran = reproduced(Path(poise.__file__).parents[1], "2", tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert json.loads(ran.stdout)["passed"]
