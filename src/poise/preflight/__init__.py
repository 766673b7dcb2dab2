"""Before a test: whether an algorithm keeps what a stability test expects of it."""

from __future__ import annotations

from poise.preflight.checking import check_algorithm
from poise.preflight.report import CheckReport, Finding, Severity

__all__ = ["CheckReport", "Finding", "Severity", "check_algorithm"]
