"""Before a test: whether an algorithm meets the conditions of a stability test.

::

    algorithm_checks  the questions of a preflight: one function each, from a probe to a finding
    bags_that_change  whether scikit-learn draws nearly the same bags at n and n − 1 rows
    check_algorithm   run the checks in order, within the time allowed, and report
    check_report      what a preflight found, as a short table with a remedy per finding
    learns            whether predictions depend on the training rows at all
    prediction_type   the type of predictions, and whether the distance can compare them
    probe             fit an algorithm on rows given by number, and record times and changed inputs
    rare_classes      training sets that lack a rare class, and fits that then fail
    symmetry          whether the order of the rows matters; the paper assumes that it does not
"""

from __future__ import annotations

from poise.questions.check.check_algorithm import check_algorithm
from poise.questions.check.check_report import CheckReport, Finding, Severity

__all__ = ["CheckReport", "Finding", "Severity", "check_algorithm"]
