"""Programs inside a stability test: trials named, failures decided by policy, workers equal."""

import numpy as np
import pytest

import poise
from poise.errors import TrialError
from shared.data import linear_rows

X, Y = linear_rows(60, [1.0, -1.0], 4)

MEAN = {
    "one-shot": """
rows = [line.split(",") for line in open(train).read().splitlines()[1:]]
mean = sum(float(row[-1]) for row in rows) / len(rows)
open(predictions, "w").write(repr(mean))
""",
    "serving": "mean = sum(request['train']['y']) / len(request['train']['y'])\nanswer(mean)",
}

# Fails once, the third time it is asked, in whichever process.
FAILS_ONCE = """
asked = os.environ["PIDS"] + ".asked"
open(asked, "a").write("asked\\n")
if len(open(asked).readlines()) == 3: sys.exit(9)
"""


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_changes_are_those_of_the_same_algorithm_in_python(write_program, mode):
    def mean(X, y, seed):
        return lambda rows: [sum(y.tolist()) / len(y)] * len(rows)

    program = write_program(MEAN[mode], mode)
    found = poise.measure(program, X, Y, n=10, random_state=1)
    expected = poise.measure(mean, X, Y, n=10, random_state=1)
    np.testing.assert_array_equal(found.changes, expected.changes)


def test_workers_change_nothing(write_program):
    program = write_program(MEAN["serving"], "serving")
    alone = poise.measure(program, X, Y, n=10, random_state=1)
    together = poise.measure(program, X, Y, n=10, random_state=1, n_jobs=2, backend="threading")
    np.testing.assert_array_equal(alone.changes, together.changes)


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_a_failure_names_its_trial_and_is_not_tried_again(write_program, tmp_path, mode):
    program = write_program(FAILS_ONCE + MEAN[mode], mode)
    with pytest.raises(
        TrialError, match=r"trial 1 failed: .*the program `.*exit status 9"
    ) as caught:
        poise.measure(program, X, Y, n=10, random_state=1)
    assert caught.value.trial == 1
    assert (tmp_path / "pids.asked").read_text().count("asked") == 3


@pytest.mark.parametrize("mode", ["one-shot", "serving"])
def test_policy_may_count_a_failure_as_unstable(write_program, mode):
    program = write_program(FAILS_ONCE + MEAN[mode], mode)
    trials = poise.measure(program, X, Y, n=10, random_state=1, on_error="unstable")
    assert np.isinf(trials.changes).tolist() == [False, True] + [False] * (trials.n_trials - 2)
