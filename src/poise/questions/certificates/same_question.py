"""Whether rows, design, code and warnings are those of a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from poise.arguments import without_addresses
from poise.data.duplicates import about_copies
from poise.errors import ArgumentError
from poise.procedures.trial_setup import TrialSetup
from poise.protocol.messages import FIT_BY_FIT
from poise.protocol.randomness import Randomness
from poise.questions.certificates.findings import Findings
from poise.questions.measurement import Measurement
from poise.questions.set_aside import resolved
from poise.results.design import Design
from poise.results.provenance import Provenance
from poise.results.relative_epsilon import Relative
from poise.results.trials import Trials

__all__ = [
    "check_same_question",
    "origin_of",
    "settings_to_repeat",
    "with_own_distance",
    "with_rows_set_aside",
]

_DECIDE_NOTHING = ("path", "name")
_WRITTEN_BY_LIBRARIES = ("algorithm", "distance")  # names that another version may write otherwise


def origin_of(trials: Trials) -> Provenance:
    """Return where the changes come from; refuse a certificate that does not say it."""
    if trials.provenance is None:
        raise ArgumentError(
            "this certificate does not say from which rows its changes come: they were measured "
            "elsewhere or read from a file. Verify it without data and algorithm"
        )
    return trials.provenance


def settings_to_repeat(trials: Trials) -> dict[str, Any]:
    """Return the keywords of :func:`poise.measure` that give the same changes."""
    design, origin = trials.design, origin_of(trials)
    # The design holds every setting of a trial under its own name.
    of_a_trial = {field.name: getattr(design, field.name) for field in fields(TrialSetup)}
    return of_a_trial | {
        "points": design.points if design.shape else None,
        "distance": origin.distance,
        "response": origin.response,
        "random_state": Randomness(design.seed, design.order),
        "fast": design.path != FIT_BY_FIT,
        "on_error": "unstable",
        "on_timeout": "unstable",
        "check": False,
    }


def with_own_distance(settings: dict[str, Any]) -> dict[str, Any]:
    """Refuse settings without a distance: it was a function of the user's own."""
    if settings["distance"] == "":
        raise ArgumentError(
            "distance must be given: the certificate was made with a distance of the user's own"
        )
    return settings


def with_rows_set_aside(measurement: Measurement, design: Design) -> Measurement:
    """Set aside the rows that gave the scale of ε, if it was a share of their spread."""
    if not design.set_aside:
        return measurement
    kept, _ = resolved(measurement, Relative(1.0, rows=design.set_aside))
    return kept


def check_same_question(measurement: Measurement, trials: Trials, findings: Findings) -> bool:
    """Compare what was given with what the certificate is about; tell whether it is the same."""
    before = len(findings.wrong) + len(findings.unrepeated)
    for name, text in _other_design(trials.design, measurement.design):
        findings.differs(text, only_poise=name not in _WRITTEN_BY_LIBRARIES)
    origin = origin_of(trials)
    _check_rows(measurement, origin, findings)
    _check_code(measurement, origin, findings)
    _check_warnings(measurement, trials, findings)
    same = len(findings.wrong) + len(findings.unrepeated) == before
    if same:
        findings.checked.append(
            "the rows, the design, the seed and the name of the algorithm are those that were given"
        )
    return same


def _other_design(there: Design, here: Design) -> Iterator[tuple[str, str]]:
    before, now = there.to_dict(), here.to_dict()
    for name, value in before.items():
        same = _plain(value) == _plain(now[name])
        if name not in _DECIDE_NOTHING and not same:
            yield name, f"{name} is {value} in the certificate and {now[name]} in what was given"


def _plain(value: Any) -> Any:
    return without_addresses(value) if isinstance(value, str) else value


def _check_rows(measurement: Measurement, origin: Provenance, findings: Findings) -> None:
    if not origin.rows:
        findings.open_points.append("that the rows are the same: the file has no digest of them")
    elif origin.rows != measurement.sample.long_digest:
        findings.differs(
            "the rows that were given are not those of the certificate, or were read in another "
            "way (other columns, types or order)"
        )


def _check_code(measurement: Measurement, origin: Provenance, findings: Findings) -> None:
    """Compare the digests of user code; they depend on the version of Python."""
    if findings.there.get("python") != findings.here.get("python"):
        findings.open_points.append("the digest of the code: it depends on the version of Python")
        return
    codes = ("algorithm", origin.code), ("distance", origin.distance_code)
    for (what, there), here in zip(codes, measurement.oracle.codes, strict=True):
        if there != here:
            findings.differs(f"the code of the {what} is not that of the certificate")
        elif there:
            findings.checked.append(f"the code of the {what} has the digest {there}")


def _check_warnings(measurement: Measurement, trials: Trials, findings: Findings) -> None:
    """See that what the rows give reason to doubt is in the certificate."""
    doubt = about_copies(measurement.sample)
    if doubt and doubt not in trials.warnings:
        findings.differs(f"the certificate leaves out a warning: {doubt}")
