"""The protocol of Definitions 2 and 3: queries, generated rows, models, failures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import poise
from poise import Batch, Comparison, Failure, Made, Query
from poise.errors import ArgumentError, TrialError
from poise.protocol.budget import Counts
from shared.algorithms import CountsFits, mean
from shared.data import linear_rows
from shared.procedures import Ask

X, y = linear_rows(40, [1.0, -2.0, 0.5])


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


@pytest.mark.parametrize("said", [[1.0], [1.0, 2.0, 3.0], np.zeros((1, 2)), np.array(5.0)], ids=str)
def test_a_query_needs_one_prediction_per_row(said) -> None:
    def wrong(A, b, seed):
        return lambda rows: said

    query = Query(np.arange(5), np.array([6, 7]), 1)
    with pytest.raises(TrialError, match=r"for 2 rows; it must return one prediction per row"):
        poise.run(Ask(Batch([query])), wrong, X, y)


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
    spy = CountsFits()
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    first_above = int(np.flatnonzero(y > 1.0)[0])
    run = poise.run(Ask(Batch(tasks, until=lambda p: p[0] > 1.0)), spy, X, y)
    assert len(run.result[0].predictions) == first_above + 1 == spy.fits == run.counts.calls


# Failures


def test_a_failing_query_stops_the_run() -> None:
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    first = int(np.flatnonzero(y > 1.0)[0])
    with pytest.raises(TrialError, match=f"trial {first} failed: RuntimeError: too large") as error:
        poise.run(Ask(Batch(tasks)), CountsFits(limit=1.0), X, y)
    assert len(error.value.partial) == first


def test_a_failing_query_can_be_an_answer() -> None:
    tasks = [Query(np.array([k]), np.array([0]), 0) for k in range(40)]
    (answers,) = poise.run(
        Ask(Batch(tasks)), CountsFits(limit=1.0), X, y, on_error="unstable"
    ).result
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

    run = poise.run(Careful(), CountsFits(limit=1.0), X, y)
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
