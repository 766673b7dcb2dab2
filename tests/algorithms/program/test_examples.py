"""The programs in examples/programs, run as they stand, with real R."""

import sys

import numpy as np
import pandas as pd
import pytest

from poise.algorithms.program import Program
from poise.errors import TrialError
from shared.r import needs_r

FILES = ["{train}", "{test}", "{predictions}"]


def r_program(path, **options):
    files = [] if options.get("mode") == "serving" else [*FILES, "{seed}"]
    return Program(["Rscript", "--vanilla", str(path), *files], **options)


@pytest.fixture(scope="module")
def data():
    """Numbers with few binary digits: R's own CSV reader errs in the last bit of longer ones."""
    rng = np.random.default_rng(20250611)
    X = np.round(rng.normal(size=(40, 4)) * 1024) / 1024
    noise = np.round(rng.normal(size=40) * 1024) / 1024
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + noise


@pytest.fixture(scope="module")
def points():
    return np.round(np.random.default_rng(7).normal(size=(5, 4)) * 1024) / 1024


def least_squares(X, y, points):
    design = np.column_stack([np.ones(len(X)), X])
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    return np.column_stack([np.ones(len(points)), points]) @ coefficients


SERVING_LM = [
    pytest.param("lm_serving.R", marks=needs_r("jsonlite")),
    pytest.param("lm_serving_base.R", marks=needs_r()),
]


@pytest.mark.parametrize("name", SERVING_LM)
def test_lm_is_least_squares_and_serving_changes_not_one_bit(examples, data, points, name):
    one_shot = r_program(examples / "lm.R").fit(*data, xi=1)(points)
    serving = r_program(examples / name, mode="serving").fit(*data, xi=1)(points)
    np.testing.assert_allclose(one_shot, least_squares(*data, points), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(serving, one_shot)


@pytest.mark.parametrize("name", SERVING_LM)
def test_serving_lm_reports_its_errors_and_goes_on(examples, data, points, name):
    program = r_program(examples / name, mode="serving")
    no_response = [float("nan")] * 40
    with pytest.raises(TrialError, match=rf"{name}` reported an error: .*0 \(non-NA\) cases"):
        program.fit(data[0], no_response, xi=1)(points)
    found = program.fit(*data, xi=1)(points)
    np.testing.assert_allclose(found, least_squares(*data, points), rtol=0, atol=1e-8)


@needs_r("jsonlite", "ranger")
def test_forest_is_a_function_of_rows_and_seed(examples, data, points):
    program = r_program(examples / "ranger.R", mode="serving")
    first = program.fit(*data, xi=11)(points)
    other = program.fit(*data, xi=12)(points)
    program.close()  # a new process must find the same forest
    np.testing.assert_array_equal(program.fit(*data, xi=11)(points), first)
    assert (first != other).all()
    assert np.abs(first - least_squares(*data, points)).max() < 4


@needs_r("glmnet")
def test_lasso_lies_between_the_mean_and_least_squares(examples, data, points):
    X, y = data
    found = r_program(examples / "glmnet.R").fit(X, y, xi=3)(points)
    full = least_squares(X, y, points)
    assert 0 < np.abs(found - full).max() < 0.5
    assert np.linalg.norm(found - y.mean()) < np.linalg.norm(full - y.mean())


def test_shell_script_fits_the_line(examples, data, points):
    X, y = data
    found = Program(["sh", str(examples / "slope.sh"), *FILES]).fit(X, y, xi=0)(points)
    line = np.polynomial.Polynomial.fit(X[:, 0], y, 1)
    np.testing.assert_allclose(found, line(points[:, 0]), rtol=0, atol=1e-10)


def test_python_script_finds_the_nearest_row(examples, data, points):
    X, y = data
    program = Program([sys.executable, str(examples / "nearest.py")], mode="serving")
    nearest = ((points[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(program.fit(X, y, xi=0)(points), y[nearest])


def test_python_script_reports_its_errors(examples):
    program = Program([sys.executable, str(examples / "nearest.py")], mode="serving")
    with pytest.raises(TrialError, match="reported an error: TypeError"):
        program.fit([["a"], ["b"]], [1.0, 2.0], xi=0)([["c"]])


@pytest.mark.parametrize(
    "mode",
    [pytest.param("one-shot", marks=needs_r()), pytest.param("serving", marks=needs_r("jsonlite"))],
)
def test_r_reads_text_missing_values_and_odd_names(tmp_path, mode):
    """R predicts, row by row: characters in town, then whether town and size are missing."""
    body = """
      town <- ifelse(is.na(test$town), 0, nchar(test$town))
      size <- ifelse(is.na(test[["x y"]]), 0.5, test[["x y"]])
      found <- town + 100 * is.na(test$town) + 1000 * size + 10000 * is.logical(train$old)
    """
    if mode == "one-shot":
        code = f"""
          f <- commandArgs(trailingOnly = TRUE)
          train <- read.csv(f[1], check.names = FALSE, encoding = "UTF-8")
          test <- read.csv(f[2], check.names = FALSE, encoding = "UTF-8")
          {body}
          writeLines(sprintf("%.17g", found), f[3])
        """
    else:
        code = f"""
          request <- jsonlite::fromJSON(readLines(file("stdin"), n = 1))
          train <- list2DF(request$train); test <- list2DF(request$test)
          {body}
          numbers <- paste(found, collapse = ",")
          cat(sprintf('{{"id":%d,"predictions":[%s]}}\\n', request$id, numbers))
        """
    (tmp_path / "describe.R").write_text(code)
    X = pd.DataFrame(
        {
            "town": ["Bath, UK", None, 'the "Hague"', "Køln", "two\nlines"],
            "x y": [1.0, 2.0, None, 4.0, 5.0],
            "old": [True, False, True, True, False],
        }
    )
    predict = r_program(tmp_path / "describe.R", mode=mode).fit(X, pd.Series([0.0] * 5), xi=0)
    assert predict(X).tolist() == [11008, 12100, 10511, 14004, 15009]
