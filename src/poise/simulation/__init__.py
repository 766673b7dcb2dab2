"""Simulations: worlds of known stability, traps for tests, audits, and the paper.

::

    audit/   audits: whether a procedure is valid, and how its power compares with the ceiling
    paper/   the paper, reproduced: every claim as a computation or a simulation that could fail
    traps/   the traps of the proof: unstable worlds that no test can recognise (Appendix B)
    worlds/  worlds: triples (A, P, n) whose stability is known or can be simulated
"""
