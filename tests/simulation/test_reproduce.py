"""The paper is reproduced; a library with an error in one line does not reproduce it."""

import functools
import gc
import json
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from click.testing import CliRunner

from poise.cli import main
from poise.errors import ArgumentError
from poise.research import Share, reproduce
from poise.simulation import claims
from poise.simulation.claims import PARTS, Effort, at_most, beyond, both, equal, every, near

PLANTED = {  # module, right, wrong, and the claim that must fail
    "kappa": ("theory.counts", "size + points)", "size + points + 1)", "most_sets"),
    "shared row": ("data.split", "= k * self.n, (k + 1) * self.n",
                   "= k * (self.n - 1), k * (self.n - 1) + self.n", "no_row_twice"),
    "last response": ("simulation.traps", "y == self.star", "y[-1:] == self.star", "symmetric"),
    "no point": ("procedures.own", "rows // (n + 1)", "rows // n", "two_calls"),
    "eps counts": ("procedures.own", "values > self.eps", "values >= self.eps", "bootstrap_power"),
    "not sprung": ("simulation.traps", "if len(y) != self.n", "if True", "binomial_on_the_trap"),
    "explored": ("procedures.adaptive", "order[count:]", "order", "explored"),
    "large y": ("simulation.traps", "y == self.star", "y > 2", "supremum"),
    "nothing removed": ("procedures.own", "Query(train[:-1]", "Query(train", "law_of_the_count"),
    "ties count": ("theory.changes", "table > epsilon", "table >= epsilon", "strict"),
    "alpha halved": ("theory.binomial", "n_trials), checks.deltas(delta), checks.alphas(alpha)",
                     "n_trials), checks.deltas(delta), checks.alphas(alpha) / 2", "unique"),
    "< for <=": ("theory.binomial", '"zeta", zeta) <= a', '"zeta", zeta) < a', "decision"),
    "coin alone": ("theory.binomial", "if n_trials else -1", "if True else -1", "no_trials"),
    "half a coin": ("theory.binomial", '"zeta", zeta) <= a', '"zeta", zeta) <= a / 2', "size"),
    "no coin": ("procedures.own", "if self.randomized", "if False", "first_regime"),
    "half a tie": ("theory.binomial", "m, truth, a)", "m, truth, a / 2)", "closed_form"),
    "one less": ("theory.limits", "(b.astype", "((b - (b > 0)).astype", "inverts"),
    "no zeta": ("theory.limits", 'checks.alphas(alpha), checks.probabilities("zeta", zeta)',
                "checks.alphas(alpha), np.asarray(1.0)", "delta_hat_misses"),
    "next rank": ("theory.limits", "allowed + 1 -", "allowed + 2 -", "epsilon_hat_misses"),
    "n + 1 labels": ("theory.ceilings", "(labeled, n, y", "(labeled, n + 1, y", "attained"),
    "n for n + 1": ("theory.ceilings", "(n + 1, False) if", "(n, False) if", "exponents"),
    "read as kappa": ("theory.ceilings", "if black_box else (n", "if n else (n", "reads_models"),
    "first model": ("simulation.traps", "max(b + radius", "min(b + radius", "stays_linear"),
    "half the stars": ("simulation.traps", "y == self.star", "y[::2] == self.star", "label_trap"),
    "search": ("procedures.exhaustive", "nan=np.inf).max()", "nan=np.inf).max() + 1",
               "known_support"),
    "all stars": ("simulation.traps", "random(size) < c", "random(size) < 1", "coincidence"),
    "no evaluation": ("simulation.traps", "if at.any()", "if False", "feature_trap"),
    "c halved": ("simulation.traps", "return -math.expm1(", "return -0.5 * math.expm1(",
                 "better_trap"),
    "one term": ("data.randomness", "0], words[:, 1]", "0], words[:, 0]", "three_notions"),
    "no coupling": ("procedures.own", "as_coupling(self.coupling).p", 'as_coupling("shared").p',
                    "independent_size"),
}  # fmt: skip


def codes(code):
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from codes(each)


def plant(monkeypatch, module, right, wrong):
    """Give the functions that hold the wrong line its code, wherever they have been imported."""
    home = import_module(f"poise.{module}")
    text = Path(home.__file__).read_text("utf-8")
    assert text.count(right) == 1, "the line has changed: plant the error in the new one"
    made = {
        each.co_qualname: each for each in codes(compile(text.replace(right, wrong), "", "exec"))
    }
    for one in gc.get_objects():  # not isinstance, which asks every object for its class
        if type(one) is FunctionType and one.__module__ == home.__name__:
            code = made.get(one.__qualname__)
            if code is not None and code.co_freevars == one.__code__.co_freevars:
                monkeypatch.setattr(one, "__code__", code)


def forget():
    for one in gc.get_objects():
        if type(one) is functools._lru_cache_wrapper and one.__module__.startswith("poise"):
            one.cache_clear()


@pytest.fixture
def planting(monkeypatch):
    yield monkeypatch
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_caught(name, planting):
    module, right, wrong, row = PLANTED[name]
    reproduce(only=[], progress=False)  # makes the rows known
    [check] = [each for rows in claims._ROWS.values() for each in rows if each.__name__ == row]
    planting.setattr(claims, "_ROWS", {"2": [check]})
    plant(planting, module, right, wrong)
    forget()
    assert not reproduce(progress=False).passed


@pytest.mark.parametrize("part", PARTS)
def test_claims(part):
    found = reproduce(only=[part], share=0.05, progress=False)
    assert found.passed, found.failures
    assert all(len(f"{each.part}: {each.text}") < 110 for each in found.claims)


def test_what_comes_out_is_compared():
    half = Share(500, 1000)
    wrong = [
        equal(0.8225, 0.8226),
        every([True, False]),
        every([]),  # no case at all shows nothing
        near(0.6, half),
        at_most(0.4, half),
        beyond(0.5, half),
    ]
    right = [equal(1, 1), every([True]), near(0.5, half), at_most(0.5, half), beyond(0.4, half)]
    assert not any(each.passed for each in wrong)
    assert both(*right).passed
    assert not both(*right, wrong[0]).passed
    assert [Effort(share).count(2000) for share in (0.5, 0.001)] == [1000, 60]


def test_a_claim_that_cannot_be_computed_fails_and_the_others_are_shown(monkeypatch):
    def broken(effort):
        raise KeyError("no such thing")

    rows = [broken, lambda effort: equal(1.0, 1.0)]
    monkeypatch.setattr(claims, "_ROWS", {"2": rows})
    found = reproduce(progress=False)
    assert found.failures == (found.claims[0],)
    assert found.claims[0].measured == "KeyError: 'no such thing'"
    assert str(found).endswith("1 of 2 claims came out as stated.")
    with pytest.raises(ArgumentError, match="only must be"):
        reproduce(only=["7"])


def test_commands(monkeypatch):
    run = CliRunner().invoke
    done = run(main, ["research", "reproduce", "--only", "4.2", "--share", "0.1", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["passed"]) == (0, True)
    monkeypatch.setattr(claims, "_ROWS", {"4.2": [lambda effort: equal(1, 2)]})
    assert run(main, ["research", "reproduce", "--only", "4.2"]).exit_code == 1
    words = ["research", "audit", "BootstrapTest(resamples=40)", "constant", "--rows", "15"]
    done = run(main, [*words, "--replications", "60"])
    assert done.exit_code == 1
    assert "BootstrapTest is invalid" in done.stdout
    words[2:4] = ["BinomialTest", "memorising"]
    done = run(main, [*words, "--replications", "20", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["invalid"]) == (0, False)
