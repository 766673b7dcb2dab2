"""The table can fail: a library with an error in one place does not reproduce the paper."""

from __future__ import annotations

import functools
import gc
import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from click.testing import CliRunner, Result

from poise.cli import main
from poise.simulation.paper import Claim
from poise.simulation.paper import appendix_b_traps as appendix_b
from poise.simulation.paper import section_2_framework as section_2
from poise.simulation.paper import section_3_binomial_test as section_3
from poise.simulation.paper import section_4_estimation as section_4
from poise.simulation.paper.claim import computed
from poise.simulation.paper.effort import Effort
from poise.simulation.paper.reproduce import SECTIONS


@dataclass(frozen=True)
class Planted:
    """One wrong line, the row of the table that meets it, and a claim that must not survive."""

    file: str
    right: str
    wrong: str
    section: str
    row: Callable[[], Claim | list[Claim]]
    caught_by: str


ERRORS = {
    "kappa off by one": Planted(
        "theory/number_of_trials.py",
        "rows // (size + 1)",
        "rows // (size + 2)",
        "2",
        section_2._largest,
        "floor(kappa) is the largest number of disjoint sets of n rows and a point",
    ),
    "< for <=, between zeta and a*": Planted(
        "theory/decision.py",
        'float(arguments.probability("zeta", zeta)) <= tie',
        'float(arguments.probability("zeta", zeta)) < tie',
        "3",
        section_3._decision,
        "declares stable iff B < k*, or B = k* and zeta <= a*",
    ),
    "< for <=, between a change and epsilon": Planted(
        "theory/order_statistics.py",
        "np.count_nonzero(block > x)",
        "np.count_nonzero(block >= x)",
        "3",
        section_3._strict,
        "a change of exactly eps does not count against stability",
    ),
    "alpha halved": Planted(
        "theory/decision.py",
        "binomial_test.critical_value(n_trials, delta, alpha)",
        "binomial_test.critical_value(n_trials, delta, alpha / 2)",
        "3",
        section_3._decision,
        "declares stable iff B < k*, or B = k* and zeta <= a*",
    ),
    "a row shared by two trials": Planted(
        "procedures/split_of_rows.py",
        "first, last = index * self.n, (index + 1) * self.n",
        "first, last = index * (self.n - 1), index * (self.n - 1) + self.n",
        "2",
        section_2._no_row_twice,
        "the trials share no row",
    ),
    "delta_hat without zeta": Planted(
        "results/single_changes.py",
        "float(delta_hat(worst, self.n_trials, alpha, zeta))",
        "float(delta_hat(worst, self.n_trials, alpha, 1.0))",
        "4.1",
        partial(section_4._misses, Effort(share=0.01)),
        "P(delta_hat misses its target) is alpha = .4 exactly, with its coin",
    ),
    "a trap with c too small": Planted(
        "simulation/traps/trap.py",
        "return -math.expm1(math.log1p(",
        "return -0.5 * math.expm1(math.log1p(",
        "B",
        appendix_b._beyond_delta,
        "both traps are only just not (eps, delta)-stable",
    ),
}


def reproduced(section: str, folder: Path) -> Result:
    command = f"reproduce --only {section} --share 0.01 --no-figures --jobs 1 --json --output"
    return CliRunner().invoke(main, [*command.split(), str(folder)], prog_name="poise")


def plant(error: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the functions that hold the wrong line its code, wherever they have been imported."""
    module = importlib.import_module("poise." + error.file.removesuffix(".py").replace("/", "."))
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert text.count(error.right) == 1, "the line has changed: plant the error in the new one"
    right, wrong = functions(text), functions(text.replace(error.right, error.wrong))
    changed = [name for name in right if right[name] != wrong[name]]
    holders = [
        one
        for one in gc.get_objects()
        if type(one) is FunctionType
        and one.__module__ == module.__name__
        and one.__qualname__ in changed
    ]
    assert holders
    for one in holders:
        monkeypatch.setattr(one, "__code__", wrong[one.__qualname__])


def functions(text: str) -> dict[str, CodeType]:
    """Compile a module; return the code of its functions and methods."""
    return {code.co_qualname: code for code in inside(compile(text, "planted", "exec"))}


def inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from inside(constant)


def forget() -> None:
    """Empty every cache of the library: it holds what was computed with the other line."""
    for one in gc.get_objects():
        # Not isinstance: it asks every object for its class, and some of PyTorch then warn.
        if type(one) is functools._lru_cache_wrapper and one.__module__.startswith("poise"):
            one.cache_clear()


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    forget()
    yield monkeypatch
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("name", ERRORS)
def test_a_planted_error_is_caught(name: str, planting, tmp_path: Path) -> None:
    error = ERRORS[name]
    plant(error, planting)
    # The other rows of the section would take seconds, and cannot save the one that fails.
    planting.setitem(SECTIONS, error.section, lambda effort: computed(error.section, error.row))
    ran = reproduced(error.section, tmp_path)
    assert ran.exit_code == 1, ran.stderr
    table = json.loads(ran.stdout)
    failed = [claim["text"] for claim in table["claims"] if not claim["passed"]]
    assert error.caught_by in failed
    assert not table["passed"]


def test_the_library_itself_passes_in_the_same_way(planting, tmp_path: Path) -> None:
    ran = reproduced("2", tmp_path)
    assert ran.exit_code == 0, ran.stdout
    assert json.loads(ran.stdout)["passed"]
