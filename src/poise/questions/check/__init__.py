"""Before a test: whether an algorithm keeps what a stability test expects of it.

::

    bags_that_change  whether bags drawn by scikit-learn belong together at n and n − 1 rows
    check_algorithm   run the checks in order, within the time allowed, and report
    check_report      what a preflight found, as a short table with a remedy per finding
    checks            the questions of a preflight: one function each, from a probe to a finding
    learns            does the algorithm learn? Predictions that ignore the rows are stable
    prediction_type   the type of predictions, and whether the distance can compare them
    probe             fits an algorithm on rows by number, and writes down what happens meanwhile
    rare_classes      training sets that lack a rare class, and fits that then fail
    symmetry          does the order of the rows matter? The paper assumes that it does not
"""

from __future__ import annotations

from poise.questions.check.check_algorithm import check_algorithm
from poise.questions.check.check_report import CheckReport, Finding, Severity

__all__ = ["CheckReport", "Finding", "Severity", "check_algorithm"]
