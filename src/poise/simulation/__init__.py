"""Worlds whose stability is known, traps that mimic them, audits, and the paper's claims."""
