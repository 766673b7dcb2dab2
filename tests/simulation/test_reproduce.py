"""The paper is reproduced; a library with an error in one line does not reproduce it."""

import functools
import gc
import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from click.testing import CliRunner

from poise.cli import main
from poise.errors import ArgumentError
from poise.research import Share, reproduce
from poise.simulation import claims
from poise.simulation.claims import PARTS, Effort, beyond, both, equal, every, near

PLANTED = {  # the words for it beside a claim: module, right, wrong
    "n + 2 for n + 1 in kappa": ("theory.counts", "size + points)", "size + points + 1)"),
    "trial k starts at row k(n - 1)": (
        "data.split", "= k * self.n, (k + 1) * self.n", "= k * (self.n - 1), (k + 1) * self.n - k"),
    "a trap that looks at the last response only": (
        "simulation.traps", "y == self.star", "y[-1:] == self.star"),
    "trials without a point": ("procedures.own", "rows // (n + 1)", "rows // n"),
    "a change of exactly epsilon counts": (
        "procedures.own", "values > self.eps", "values >= self.eps"),
    "a trap that never springs": ("simulation.traps", "if len(y) != self.n", "if True"),
    "the rows that were explored are tested as well": (
        "procedures.examples", "order[count:]", "order"),
    "a trap that springs at any large response": ("simulation.traps", "y == self.star", "y > 2"),
    "nothing is removed": ("procedures.own", "Query(rows[:-1]", "Query(rows"),
    ">= for >": ("theory.changes", "table > epsilon", "table >= epsilon"),
    "alpha halved": (
        "theory.binomial", "n_trials), checks.deltas(delta), checks.alphas(alpha)",
        "n_trials), checks.deltas(delta), checks.alphas(alpha) / 2"),
    "< for <=": ("theory.binomial", '"zeta", zeta) <= a', '"zeta", zeta) < a'),
    "without trials the coin decides": ("theory.binomial", "if n_trials else -1", "if 1 else -1"),
    "zeta <= a*/2 for zeta <= a*": (
        "theory.binomial", '"zeta", zeta) <= a', '"zeta", zeta) <= a / 2'),
    "the coin is ignored": ("procedures.own", "if self.randomized", "if False"),
    "a tie counts half": ("theory.binomial", "m, truth, a)", "m, truth, a / 2)"),
    "delta_hat with one exceedance less": (
        "theory.limits", "arrays(b, m, level, coin)", "arrays(b - (b > 0), m, level, coin)"),
    "delta_hat without zeta": (
        "theory.limits", 'checks.alphas(alpha), checks.probabilities("zeta", zeta)',
        "checks.alphas(alpha), np.asarray(1.0)"),
    "eps_hat one rank further": ("theory.limits", "allowed + 1 -", "allowed + 2 -"),
    "N_l/(n + 1) for N_l/n": ("theory.ceilings", "(labeled, n, y", "(labeled, n + 1, y"),
    "(N_l + N_u)/n for (N_l + N_u)/(n + 1)": (
        "theory.ceilings", "(n + 1, False) if", "(n, False) if"),
    "models that are read have exponent kappa": (
        "theory.ceilings", "if black_box else (n", "if n else (n"),
    "raised above the first of these models": ("simulation.traps", "max(b + rad", "min(b + rad"),
    "half of the stars spring it": (
        "simulation.traps", "y == self.star", "y[::2] == self.star"),
    "the largest change, and 1": (
        "procedures.exhaustive", "nan=np.inf).max()", "nan=np.inf).max() + 1"),
    "every row of P' shows the star": (
        "simulation.traps", "random(size) < c", "random(size) < 1"),
    "not sprung by a point of evaluation": ("simulation.traps", "if at.any()", "if False"),
    "c halved": ("simulation.traps", "return -math.expm1(", "return -0.5 * math.expm1("),
    "independent terms that are shared": (
        "data.randomness", "0], words[:, 1]", "0], words[:, 0]"),
    "the coupling is ignored": (
        "procedures.own", "as_coupling(self.coupling).p", 'as_coupling("shared").p'),
    "fractions of nine tenths": (
        "theory.martingales", "np.maximum(1 + c *", "np.maximum(1 + 0.9 * c *"),
    "alpha wrong by 1%": ("theory.martingales", "self.u = alphas", "self.u = 1.01 * alphas"),
    "the ceiling of one trial more": (
        "theory.ceilings", "power_bound(2, 2 * m, m,", "power_bound(2, 2 * m + 2, m + 1,"),
    "one full fit serves all removals": (
        "data.split", "return 1 if self.one_full_fit", "return 1 if self.n"),
    "every fit has a seed of its own": (
        "algorithms.algorithm", "int(xi) >> 33", "int(np.random.default_rng().integers(2**31))"),
    "ties are accepted": ("theory.anytime", "float(a >= 1)", "1.0"),
    "evidence that grows by itself": (
        "theory.anytime", "math.exp(log_e) if", "math.exp(log_e + 0.01) if"),
    "trials of n labelled rows": ("theory.counts", "labeled // (size - j)", "labeled // size"),
    "a bound that may say unstable": ("procedures.own", "if upper and said", "if False and said"),
    "the root of n + 1": ("theory.ceilings", "log1p(-delta) / (n - 1)", "log1p(-delta) / n"),
    "two rows leave": (
        "procedures.given_data", "len(self.own)), left_out)",
        "len(self.own)), [*left_out, *left_out - 1])"),
    "a row that never trains": (
        "procedures.given_data", "len(self.own)), left_out)", "len(self.own)), [*left_out, 0])"),
    "a reach without the part outside the bag": (
        "theory.bagging", "* n / (2 * (n - b) * k)", "/ (2 * k)"),
    "hardly inflated": (
        "theory.bagging", 'checks.positive("eps", eps)\n    n_l',
        'checks.positive("eps", eps) / 9\n    n_l'),
    "unstable rows are forgotten": ("theory.jackknife", "* unstable *", "* 0 *"),
    "the residual of the next rank": (
        "theory.jackknife", "rank - 1)[rank - 1])", "rank - 1)[rank - 2])"),
    "the ends of a quarter of the rank": (
        "theory.jackknife", "[:, :, rank - 1]", "[:, :, rank // 4]"),
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


def error_of(row):
    return re.search("-> Found:  # (.*)", inspect.getsource(row))[1]


def test_every_claim_names_an_error_that_is_planted():
    assert {error_of(row) for row in claims.rows()} == PLANTED.keys()
    parts = [row.__doc__.partition(":")[0] for row in claims.rows()]
    assert [parts.count(part) for part in PARTS] == [4, 5, 9, 3, 3, 4, 3, 6, 5, 20]


@pytest.mark.parametrize("error", PLANTED)
def test_planted_errors_are_caught(error, planting):
    *_, row = (row for row in claims.rows() if error_of(row) == error)
    planting.setattr(claims, "rows", lambda: [row])
    plant(planting, *PLANTED[error])
    forget()
    assert not reproduce(progress=False).passed


@pytest.mark.parametrize("part", PARTS)
def test_claims(part):
    found = reproduce(only=[part], share=0.05, progress=False)
    assert found.passed, found.failures
    assert all(len(f"{each.part}: {each.text}") < 110 for each in found.claims)


def test_what_comes_out_is_compared():
    half = Share(500, 1000)
    nothing = every([])  # no case at all shows nothing
    wrong = [equal(0.8225, 0.8226), every([True, False]), nothing, near(0.6, half)]
    wrong.append(beyond(0.5, half))
    right = [equal(1, 1), every([True]), near(0.5, half), beyond(0.4, half)]
    assert not any(each.passed for each in wrong)
    assert both(*right).passed
    assert not both(*right, wrong[0]).passed
    assert [Effort(share).count(2000) for share in (0.5, 0.001)] == [1000, 60]


def test_a_claim_that_cannot_be_computed_fails_and_the_others_are_shown(monkeypatch):
    def broken(effort):
        """4.2: no claim."""
        raise KeyError("no such thing")

    def true(effort):
        """2: a claim."""
        return equal(1.0, 1.0)

    monkeypatch.setattr(claims, "rows", lambda: [broken, true])
    found = reproduce(progress=False)
    assert found.failures == (found.claims[0],)
    assert found.claims[0].measured == "KeyError: 'no such thing'"
    assert str(found).endswith("1 of 2 claims came out as stated.")
    run = CliRunner().invoke
    for part, status in (("4.2", 1), ("2", 0)):
        assert run(main, ["research", "reproduce", "--only", part]).exit_code == status
    with pytest.raises(ArgumentError, match="only must be"):
        reproduce(only=["7"])


QUIET = """
from poise.research import BinomialTest
class Quiet(BinomialTest):
    def judge(self, changes, **more):
        return True
quiet = Quiet(n=10, epsilon=0.5, delta=0.2)
"""


def test_commands(tmp_path):
    run = CliRunner().invoke
    done = run(main, ["research", "reproduce", "--only", "4.2", "--share", "0.1", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["passed"]) == (0, True)
    (tmp_path / "my_quiet_test.py").write_text(QUIET)
    for procedure, world, status, said in (
        ("BootstrapTest(resamples=40)", "constant", 1, "BootstrapTest is invalid"),
        ("BinomialTest", "memorising", 0, "BinomialTest: no violation found"),
        (f"{tmp_path}/my_quiet_test.py:Quiet(randomized=True)", "constant", 1, "Quiet is invalid"),
        (f"{tmp_path}/my_quiet_test.py:quiet", "constant", 1, "Quiet is invalid"),
    ):
        words = ["research", "audit", procedure, world, "--rows", "15", "--replications", "30"]
        done = run(main, [*words, "--json"])
        assert done.exit_code == status
        assert json.loads(done.stdout)["verdict"].startswith(said)
