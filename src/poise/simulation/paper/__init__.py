"""The paper, reproduced: every claim as a computation or a simulation that could fail.

::

    appendix_b_traps         Appendix B: the perturbed triple, from which no test can tell the hon
    appendix_e_notions       Appendix E: shared, independent and coupled randomness, and Theorem 5
    beyond_subbagging        beyond the paper: Theorems K, L and M, against linear programmes
    claim                    one claim of the paper, what it says should come out, and what did
    figures                  three figures: power against κ, power against δ*, and the trap at wor
    reproduce                run every claim and lay out what came of it
    section_2_counting       Section 2: how many independent trials the data hold, and what a test
    section_3_binomial_test  Section 3.1 and Theorem 1: the Binomial test, its size, its level and
    section_4_ceilings       theorems 2 to 4 and section 4.2: what no valid black-box test can exc
    section_4_estimation     Section 4.1: three targets that are one (Proposition 1)
    section_5_finite         Section 5.1: a finite, known support lets exhaustive search exceed th
"""

from __future__ import annotations

from poise.simulation.paper.claim import Claim
from poise.simulation.paper.reproduce import Reproduction, reproduce

__all__ = ["Claim", "Reproduction", "reproduce"]
