"""The paper, reproduced: every claim as a computation or a simulation that could fail.

::

    appendix_b_traps         Appendix B: the perturbed triple, from which no test can tell the hon
    appendix_e_notions       Appendix E: shared, independent and coupled randomness, and Theorem 5
    beyond_subbagging        beyond the paper: Theorems K, L and M, against linear programmes
    claim                    one claim of the paper, what it says should come out, and what did
    effort                   how much is simulated: workers, and how many replications a row of th
    figures                  three figures: power against κ, power against δ*, and the trap at wor
    reproduce                run every claim and lay out what came of it
    section_2_examples       Section 2.3: the other examples of black-box tests, and tests that ar
    section_2_framework      Section 2: symmetry, transcripts, the split of the Binomial test, and
    section_3_binomial_test  Section 3.1 and Theorem 1: the Binomial test, its size, its level and
    section_4_ceilings       Theorem 2 and section 4.2: what no valid black-box test can exceed, a
    section_4_estimation     Section 4.1: three targets that are one (Proposition 1), and what The
    section_4_model_classes  Theorems 3 and 4: tests that see the fitted models, and models that a
    section_5_finite         Section 5.1: finite spaces, with a support that is known or not, and
"""

from __future__ import annotations

from poise.simulation.paper.claim import Claim
from poise.simulation.paper.reproduce import Reproduction, reproduce

__all__ = ["Claim", "Reproduction", "reproduce"]
