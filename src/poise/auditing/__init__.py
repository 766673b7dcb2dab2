"""Audits: whether a procedure is valid, and how its power compares with the ceiling."""

from __future__ import annotations

from poise.auditing.measuring import audit
from poise.auditing.result import AuditResult
from poise.auditing.suite import AuditSuite, audit_with_traps

__all__ = ["AuditResult", "AuditSuite", "audit", "audit_with_traps"]
