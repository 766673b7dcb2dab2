"""Rows: containers, samples, checks, copies, files; and which rows make a trial."""
