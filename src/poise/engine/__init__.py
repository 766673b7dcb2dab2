"""Runs what procedures ask for: work, workers, failures, progress."""
