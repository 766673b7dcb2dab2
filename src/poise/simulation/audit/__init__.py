"""Audits: whether a procedure is valid, and how its power compares with the ceiling.

::

    audit             measure the level or the power of any procedure, by simulation
    audit_result      the result of an audit: a verdict on a procedure, not on an algorithm
    audited_question  the question of an audit, and the truth in its world
    with_traps        one procedure on one world and on the traps that mimic it
"""

from __future__ import annotations

from poise.simulation.audit.audit import audit
from poise.simulation.audit.audit_result import AuditResult
from poise.simulation.audit.with_traps import AuditSuite, audit_with_traps

__all__ = ["AuditResult", "AuditSuite", "audit", "audit_with_traps"]
