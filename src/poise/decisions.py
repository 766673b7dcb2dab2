"""Decisions whose changes can be tested: shortlists, thresholds, rankings, and your own."""

from poise.algorithms.decisions import decision, flips, ranking, top_k

__all__ = ["decision", "flips", "ranking", "top_k"]
