"""What a preflight found, as a short table with a remedy per finding."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.errors import AlgorithmError
from poise.results.json_encoding import plain, to_json
from poise.results.text.table import TextTable

__all__ = ["CheckReport", "Finding", "Severity"]


class Severity(StrEnum):
    """How much a finding matters; compares equal to its own name.

    Examples
    --------
    >>> Severity.FAIL == "fail"
    True
    """

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """The answer to one question about an algorithm.

    Attributes
    ----------
    check : str
        What was asked, in a few words.
    severity : Severity
        "ok"; "warn": a verdict would hold but may mean less than it seems;
        "fail": a verdict could not be trusted; "skipped": the check was not run.
    found : str
        What was seen.
    remedy : str
        What to do about it; empty where there is nothing to do.

    Examples
    --------
    >>> Finding("symmetric in its rows", Severity.OK, "exactly").remedy
    ''
    """

    check: str
    severity: Severity
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class CheckReport(ShownAsCard):
    """Everything that :func:`poise.check_algorithm` found, in the order of the checks.

    "ok" means that nothing was found on these rows with these random terms. It
    proves nothing about others.

    Attributes
    ----------
    algorithm : str
        Name and parameters.
    n : int
        Training size that was tried.
    findings : tuple of Finding
        One per check.
    n_fits : int
        Number of fits that were run.
    seconds_per_fit : float
        Median time of a fit and its first predictions; NaN if none succeeded.
    n_fits_needed : int
        Number of fits of a test that runs every trial, 2⌊κ⌋.

    Examples
    --------
    >>> finding = Finding("accepts n rows", Severity.FAIL, "ValueError: no", "ask a larger n")
    >>> report = CheckReport("mine", 5, (finding,), 1, 0.01, 40)
    >>> report.ok, [f.check for f in report.failed]
    (False, ['accepts n rows'])
    """

    algorithm: str
    n: int
    findings: tuple[Finding, ...]
    n_fits: int
    seconds_per_fit: float
    n_fits_needed: int

    @property
    def ok(self) -> bool:
        """Whether no check failed; there may be warnings."""
        return not self.failed

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that make a verdict unreliable."""
        return tuple(f for f in self.findings if f.severity == Severity.FAIL)

    @property
    def warned(self) -> tuple[Finding, ...]:
        """The findings that limit what a verdict means."""
        return tuple(f for f in self.findings if f.severity == Severity.WARN)

    def __getitem__(self, check: str) -> Finding:
        found = {finding.check: finding for finding in self.findings}
        if check not in found:
            raise KeyError(f"no check {check!r}; checks: {', '.join(found)}")
        return found[check]

    def headline(self) -> str:
        """Return the outcome in one sentence."""
        many = (len(self.failed), "failed"), (len(self.warned), "to look at")
        bad = ", ".join(f"{count} {word}" for count, word in many if count)
        return (
            f"{self.algorithm} at n = {self.n:,}: {len(self.findings)} checks, "
            f"{bad or 'nothing found'} ({self.n_fits:,} fits)."
        )

    def table(self) -> TextTable:
        """Return one line per check: its name, its severity and what was seen."""
        rows = [[f.check, f.severity.value, f.found] for f in self.findings]
        return TextTable(["check", "", "found"], rows, self.headline())

    def summary(self) -> str:
        """Return headline, table, and the remedies."""
        remedies = [f"{f.check}: {f.remedy}" for f in self.findings if f.remedy]
        parts = [self.headline(), self.table().text()]
        return "\n\n".join([*parts, "Remedies\n" + "\n".join(remedies)] if remedies else parts)

    def raise_if_failed(self) -> None:
        """Raise :class:`~poise.errors.AlgorithmError` if a check failed, for use in scripts."""
        if not self.ok:
            listed = "; ".join(f"{f.check}: {f.found} ({f.remedy})" for f in self.failed)
            raise AlgorithmError(f"{self.algorithm} failed its preflight: {listed}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        content: dict[str, Any] = plain(asdict(self) | {"ok": self.ok})
        return content

    def to_json(self, indent: int | None = 2) -> str:
        """Write the report as JSON."""
        return to_json(self.to_dict(), indent)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per check."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["findings"])

    def _card(self) -> Card:
        rows = [[f.check, f.severity.value, f.found, f.remedy] for f in self.findings]
        table = TextTable(["check", "", "found", "remedy"], rows)
        given = [finding.severity for finding in self.findings]
        order = (Severity.OK, Severity.FAIL, Severity.WARN, Severity.SKIPPED)
        parts = {each.value: given.count(each) for each in order}
        badge = "ok" if self.ok else "failed"
        return Card(self.headline(), badge, tables=[table], parts=parts)

    def __str__(self) -> str:
        return self.summary()
