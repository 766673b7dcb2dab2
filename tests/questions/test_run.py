"""The protocol of Definitions 2 and 3: queries, made-up rows, budgets, models, failures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import poise
from poise import Batch, Budget, Comparison, Failure, Made, Query
from poise.errors import ArgumentError, BudgetError, TrialError
from poise.procedures.split_of_rows import Split
from poise.protocol.budget import Counts, cost
from poise.protocol.randomness import Randomness, Shared
from shared.algorithms import mean
from shared.data import linear_rows

X, y = linear_rows(40, [1.0, -2.0, 0.5])


class Ask:
    """A procedure that yields the batches it is given and returns all answers."""

    def __init__(self, *batches: Batch) -> None:
        self.batches = batches

    def ask(self, sample, randomness):
        answers = []
        for batch in self.batches:
            answers.append((yield batch))
        return answers


def test_a_procedure_that_breaks_the_protocol_is_told_so() -> None:
    class Returns:
        def ask(self, sample, randomness):
            return "stable"

    class YieldsTasks:
        def ask(self, sample, randomness):
            yield [Query(slice(0, 5), np.array([6]), 1)]

    with pytest.raises(ArgumentError, match=r"ask of Returns must be a generator.*got a str"):
        poise.run(Returns(), mean, X, y)
    with pytest.raises(ArgumentError, match=r"YieldsTasks must yield a poise.Batch, got \["):
        poise.run(YieldsTasks(), mean, X, y)


class Spy:
    """Counts fits; fails on rows whose first response is NaN-like: above a limit."""

    def __init__(self, limit: float = np.inf) -> None:
        self.fits = 0
        self.limit = limit

    def __call__(self, X, y, seed):
        self.fits += 1
        if y[0] > self.limit:
            raise RuntimeError("too large")
        return mean(X, y, seed)


def test_a_query_is_a_fit_and_its_predictions() -> None:
    train, evaluate = np.array([3, 1, 4, 1]), np.array([5, 9, 2])
    (answers,) = poise.run(Ask(Batch([Query(train, evaluate, xi=7)])), Ridge(), X, y).result
    expected = Ridge().fit(X[train], y[train]).predict(X[evaluate])
    np.testing.assert_array_equal(answers.predictions[0], expected)
    assert len(answers.changes) == 0
    assert answers.models == ()


def test_queries_by_slice_over_labelled_and_unlabelled_rows() -> None:
    extra = np.full((2, 3), 9.0)
    query = Query(slice(0, 10), slice(38, 42), xi=0)
    (answers,) = poise.run(Ask(Batch([query])), Ridge(), X, y, X_unlabeled=extra).result
    model = Ridge().fit(X[:10], y[:10])
    np.testing.assert_allclose(
        answers.predictions[0], model.predict(np.vstack([X[38:], extra])), rtol=1e-12
    )


def test_made_up_rows_are_trained_on_and_evaluated_at() -> None:
    made = Made(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 4.0]))
    query = Query(made, Made(np.array([[10.0], [-1.0]])), xi=0)
    (answers,) = poise.run(Ask(Batch([query])), LinearRegression(), [[0.0]], [0.0]).result
    np.testing.assert_allclose(answers.predictions[0], [20.0, -2.0])


def test_an_algorithm_cannot_change_made_up_rows() -> None:
    def vandal(X, y, seed):
        level = float(np.mean(y))
        X[:], y[:] = 99.0, 99.0

        def predict(rows):
            rows[:] = 99.0
            return np.full(len(rows), level)

        return predict

    made = Made(np.zeros((3, 1)), np.array([1.0, 2.0, 3.0]))
    point = Made(np.zeros((1, 1)))
    batch = Batch([Comparison(Query(made, point, 0), Query(made, point, 0))])
    run = poise.run(Ask(batch), vandal, [[0.0]], [0.0])
    assert run.result[0].changes.tolist() == [0.0]
    assert made.y.tolist() == [1.0, 2.0, 3.0]
    assert made.X.tolist() == [[0.0]] * 3
    assert point.X.tolist() == [[0.0]]


def test_comparisons_of_made_up_rows() -> None:
    made = Made(np.zeros((3, 1)), np.array([1.0, 2.0, 6.0]))
    task = Comparison.without_last(made, Made(np.zeros((1, 1))), xi=0, xi_reduced=0)
    run = poise.run(Ask(Batch([task])), mean, [[0.0]], [0.0])
    assert run.result[0].changes.tolist() == [3.0 - 1.5]


def test_answers_come_in_plan_order_whatever_the_number_of_workers() -> None:
    batch = Batch([Query(np.arange(2 + k), np.array([0, 39]), xi=k) for k in range(30)])
    serial = poise.run(Ask(batch), mean, X, y).result[0].predictions
    parallel = poise.run(Ask(batch), mean, X, y, n_jobs=2).result[0].predictions
    assert [p.tolist() for p in serial] == [p.tolist() for p in parallel]
    assert [p[0] for p in serial] == [pytest.approx(np.mean(y[: 2 + k])) for k in range(30)]


def test_a_later_stage_may_depend_on_earlier_answers() -> None:
    class FindLargest:
        def ask(self, sample, randomness):
            first = yield Batch([Query(np.array([k]), np.array([0]), 0) for k in range(40)])
            best = int(np.argmax([p[0] for p in first.predictions]))
            second = yield Batch([Query(np.array([best]), np.array([0]), 0)])
            return best, float(second.predictions[0][0])

    run = poise.run(FindLargest(), mean, X, y)
    assert run.result == (int(np.argmax(y)), pytest.approx(y.max()))
    assert run.counts == Counts(41, 41, 41)


def test_until_stops_a_batch_of_queries() -> None:
    spy = Spy()
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    first_above = int(np.flatnonzero(y > 1.0)[0])
    run = poise.run(Ask(Batch(tasks, until=lambda p: p[0] > 1.0)), spy, X, y)
    assert len(run.result[0].predictions) == first_above + 1 == spy.fits == run.counts.calls


# Failures


def test_a_failing_query_stops_the_run() -> None:
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    first = int(np.flatnonzero(y > 1.0)[0])
    with pytest.raises(TrialError, match=f"trial {first} failed: RuntimeError: too large") as error:
        poise.run(Ask(Batch(tasks)), Spy(limit=1.0), X, y)
    assert len(error.value.partial) == first


def test_a_failing_query_can_be_an_answer() -> None:
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    (answers,) = poise.run(Ask(Batch(tasks)), Spy(limit=1.0), X, y, on_error="unstable").result
    failed = [k for k, p in enumerate(answers.predictions) if isinstance(p, Failure)]
    assert failed == np.flatnonzero(y > 1.0).tolist() == [f.trial for f in answers.failures]


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda rows: np.full(len(rows), np.nan), "prediction 0 is not a number"),
        (lambda rows: np.zeros(len(rows) + 1), r"shape \(4,\) for 3 rows"),
        (lambda rows: 0.0, r"shape \(\) for 3 rows"),
    ],
)
def test_predictions_that_cannot_be_used_are_failures(predict, message) -> None:
    query = Query(np.arange(5), np.arange(3), 0)
    with pytest.raises(TrialError, match=message):
        poise.run(Ask(Batch([query])), lambda X, y, seed: predict, X, y)


def test_a_procedure_may_recover_from_a_failure() -> None:
    class Careful:
        def ask(self, sample, randomness):
            try:
                yield Batch([Query(np.array([int(np.argmax(y))]), np.array([0]), 0)])
            except TrialError:
                answers = yield Batch([Query(np.array([int(np.argmin(y))]), np.array([0]), 0)])
            return float(answers.predictions[0][0])

    run = poise.run(Careful(), Spy(limit=1.0), X, y)
    assert run.result == pytest.approx(y.min())
    assert poise.replay(run.transcript) == run.result


# Transparent models (Definition 3)


def test_models_stay_hidden_unless_the_run_allows_it() -> None:
    batch = Batch([Query(np.arange(10), None, 0)], models=True)
    with pytest.raises(ArgumentError, match=r"models='black-box'.*models='transparent'"):
        poise.run(Ask(batch), Ridge(), X, y)
    (answers,) = poise.run(Ask(batch), Ridge(), X, y, models="transparent").result
    np.testing.assert_array_equal(answers.models[0].coef_, Ridge().fit(X[:10], y[:10]).coef_)
    assert answers.predictions[0].shape == (0,)


def test_models_are_not_sent_where_nobody_asked() -> None:
    batch = Batch([Query(np.arange(10), np.array([0]), 0)])
    (answers,) = poise.run(Ask(batch), Ridge(), X, y, models="transparent").result
    assert answers.models == ()


def test_models_of_comparisons_are_refused() -> None:
    query = Query(np.arange(10), np.array([11]), 0)
    batch = Batch([Comparison(query, query)], models=True)
    with pytest.raises(ArgumentError, match="not of comparisons"):
        poise.run(Ask(batch), Ridge(), X, y, models="transparent")


def test_models_must_be_one_of_two_words() -> None:
    with pytest.raises(ArgumentError, match=r"models must be one of .* got 'glass'"):
        poise.run(Ask(), Ridge(), X, y, models="glass")


# Budgets


def test_what_is_asked_is_counted() -> None:
    queries = Batch([Query(np.arange(10), np.arange(3), 0), Query(slice(0, 4), None, 0)])
    pair = Query(np.arange(7), np.array([8]), 0)
    run = poise.run(Ask(queries, Batch([Comparison(pair, pair)])), mean, X, y)
    assert run.counts == Counts(calls=4, training_rows=10 + 4 + 14, evaluation_rows=3 + 2)


@pytest.mark.parametrize(
    ("limit", "granted"),
    [("calls", 6), ("training_rows", 30), ("evaluation_rows", 12)],
)
def test_a_budget_is_enforced_before_the_work(limit: str, granted: int) -> None:
    batch = Batch([Query(np.arange(10), np.arange(4), 0)] * 3)
    spent = cost(batch.tasks, 3)
    assert spent == Counts(3, 30, 12)
    once, twice = getattr(spent, limit), 2 * getattr(spent, limit)
    spy = Spy()
    poise.run(Ask(batch, batch), spy, X, y, budget=Budget(**{limit: twice}))
    assert spy.fits == 6
    spy = Spy()
    with pytest.raises(BudgetError, match=f"asks for {once} .* after {once}, .* {twice - 1} in"):
        poise.run(Ask(batch, batch), spy, X, y, budget=Budget(**{limit: twice - 1}))
    assert spy.fits == 3  # the second batch was refused as a whole


def test_a_budget_holds_for_the_binomial_test_before_its_first_fit() -> None:
    spy = Spy()
    test = poise.procedures.BinomialTest(n=3, epsilon=0.1, delta=0.5)
    with pytest.raises(BudgetError) as error:
        poise.run(test, spy, X, y, budget=Budget(calls=19))
    assert spy.fits == 0
    assert error.value.partial.n_observed == 0


def test_a_procedure_may_adapt_to_its_budget() -> None:
    class Modest:
        def ask(self, sample, randomness):
            for size in (100, 10):
                try:
                    answers = yield Batch([Query(np.arange(5), np.array([0]), 0)] * size)
                except BudgetError:
                    continue
                return len(answers.predictions)

    run = poise.run(Modest(), mean, X, y, budget=Budget(calls=50))
    assert run.result == 10
    assert poise.replay(run.transcript) == 10


def test_a_split_knows_its_cost_without_being_made() -> None:
    split = Split(5, 6, 33, 4, Randomness(0), Shared())
    assert split.cost(6) == cost(list(split), 6)
    assert split.cost(2) == cost(list(split), 2)


@pytest.mark.parametrize("value", [-1, 2.5, "ten"])
def test_budgets_are_whole_numbers(value) -> None:
    with pytest.raises(ArgumentError, match="calls must be"):
        Budget(calls=value)


# run itself


def test_run_and_stability_test_are_one_code_path() -> None:
    test = poise.procedures.BinomialTest(n=4, epsilon=0.5, delta=0.4, alpha=0.1)
    run = poise.run(test, Ridge(), X, y, random_state=3)
    direct = poise.stability_test(
        Ridge(), X, y, n=4, epsilon=0.5, delta=0.4, alpha=0.1, random_state=3
    )
    assert run.result == direct
    assert run.verdict == direct.verdict
    assert run.counts.calls == direct.n_fits


def test_a_plain_verdict_is_its_own_verdict() -> None:
    class Gullible:
        def ask(self, sample, randomness):
            return True
            yield

    run = poise.run(Gullible(), mean, X, y)
    assert run.verdict is True
    assert str(run) == "True"
    assert run.counts == Counts()


@pytest.mark.parametrize("procedure", [None, "binomial", poise.procedures.BinomialTest])
def test_what_cannot_ask_is_refused(procedure) -> None:
    with pytest.raises(ArgumentError, match="procedure must be an object with a method ask"):
        poise.run(procedure, mean, X, y)


# Everything that concerns the fits, as in stability_test


def run_and_test(algorithm, labels=y, *, question=None, **settings):
    """The same question by both doors, and the transcript read back from memory."""
    asked = {"n": 4, "epsilon": 0.3, "delta": 0.4} | (question or {})
    test = poise.procedures.BinomialTest(**asked)
    run = poise.run(test, algorithm, X, labels, random_state=3, **settings)
    direct = poise.stability_test(algorithm, X, labels, **asked, random_state=3, **settings)
    assert poise.replay(run.transcript) == run.result
    return run.result, direct


def test_what_an_estimator_is_asked() -> None:
    model, labels = GaussianNB(), (y > 0).astype(int)
    by_run, direct = run_and_test(model, labels, response="predict_proba")
    assert by_run == direct
    assert by_run.design.algorithm == "GaussianNB().predict_proba"
    assert by_run.design.distance == "total_variation"


def test_weights_follow_the_rows() -> None:
    weights = {"sample_weight": np.linspace(0.1, 9.0, len(y))}
    by_run, direct = run_and_test(Ridge(), fit_params=weights)
    assert by_run == direct
    every_trial = poise.procedures.MeasureChanges(n=4)
    changes = [
        poise.run(every_trial, Ridge(), X, y, random_state=3, fit_params=given).result.changes
        for given in (weights, None)
    ]
    alone = poise.measure(Ridge(), X, y, n=4, random_state=3, fit_params=weights)
    assert changes[0].tolist() == alone.changes.tolist() != changes[1].tolist()


def test_made_up_rows_have_no_weights() -> None:
    query = Query(Made(np.zeros((3, 3)), np.arange(3.0)), np.array([0]), xi=0)
    weights = {"sample_weight": np.ones(len(y))}
    with pytest.raises(ArgumentError, match="generates its own rows has no sample_weight"):
        poise.run(
            Ask(Batch([query])), Ridge(), X, y, fit_params=weights, on_error="unstable"
        )  # not a failed trial: no answer at all

    def level(X, y, seed, shift):
        return lambda rows: np.full(len(rows), np.mean(y) + shift)

    (answers,) = poise.run(Ask(Batch([query])), level, X, y, fit_params={"shift": 7.0}).result
    assert answers.predictions[0].tolist() == [8.0]


def test_groups_are_kept_together_by_procedures_that_say_so() -> None:
    groups = np.arange(len(y)) // 2
    by_run, direct = run_and_test(Ridge(), groups=groups, question={"delta": 0.6})
    assert by_run == direct
    assert by_run.n_trials == 20 // 5
    for procedure in (poise.procedures.BootstrapTest(4, 0.3, 0.4), Ask()):
        with pytest.raises(ArgumentError, match=r"would take groups apart; BinomialTest keeps"):
            poise.run(procedure, Ridge(), X, y, groups=groups)

    class Counting(Ask):
        keeps_groups = True

        def ask(self, sample, randomness):
            return len(sample.groups)
            yield

    assert poise.run(Counting(), Ridge(), X, y, groups=groups).result == 20


def test_losses_are_compared_at_labelled_rows() -> None:
    loss, more = poise.LossChange("squared"), np.random.default_rng(1).normal(size=(50, 3))
    by_run, direct = run_and_test(Ridge(), distance=loss, X_unlabeled=more)
    assert by_run == direct
    assert by_run.n_trials == 40 // 5


def slow(X, y, seed):
    import time

    time.sleep(30)


def test_a_call_that_takes_too_long() -> None:
    tasks = [Query(np.arange(5), np.array([0]), 0)]
    settings = {"n_jobs": 2, "timeout": 0.5}
    with pytest.raises(TrialError, match=r"0\.5"):
        poise.run(Ask(Batch(tasks)), slow, X, y, on_error="unstable", **settings)
    run = poise.run(Ask(Batch(tasks)), slow, X, y, on_timeout="unstable", **settings)
    [answers] = run.result
    assert answers.predictions[0].kind == "timeout"
    assert run.transcript.on_timeout == "unstable"


def test_exhaustive_search_knows_how_far_labels_are_apart() -> None:
    """Labels 0 and 2 are one flip apart, not two."""
    support = {"support_X": [[0.0], [1.0]], "support_y": [0, 2]}
    test = poise.procedures.ExhaustiveTest(3, 0.5, 0.1, **support, deterministic=True)
    X, labels = [[0.0], [1.0]] * 5, [0, 2] * 5
    run = poise.run(test, KNeighborsClassifier(1), X, labels, random_state=0)
    assert run.result.details["worst_change"] == 1.0
    assert poise.replay(run.transcript) == run.result
