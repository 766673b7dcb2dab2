"""The paper, reproduced: every claim as a computation or a simulation that could fail.

::

    appendix_b_traps         Appendix B: the perturbed triple, from which no test can tell the hones
    appendix_e_notions       Appendix E: shared, independent and coupled randomness, and Theorem 5
    beyond_subbagging        beyond the paper: Theorems K, L and M, against linear programmes, each
    claim                    one claim of the paper, what it says should come out, and what did
    effort                   how much is simulated: workers, and how many replications a row of the
    figures                  three figures: power against κ, power against δ*, and the trap at work
    reproduce                run every claim and lay out what came of it
    section_2_examples       Section 2.3: the other examples of black-box tests, and tests that are
    section_2_framework      Section 2: symmetry, transcripts, the split of the Binomial test, and w
    section_3_binomial_test  Section 3.1 and Theorem 1: the Binomial test, its size, its level and i
    section_4_ceilings       Theorem 2 and section 4.2: what no valid black-box test can exceed, and
    section_4_estimation     Section 4.1: three targets that are one (Proposition 1), and what Theor
    section_4_model_classes  theorems 3 and 4: tests that see the fitted models, and models that are
    section_5_finite         Section 5.1: finite spaces, with a support that is known or not, and wi
"""

from __future__ import annotations

from poise.simulation.paper.claim import Claim
from poise.simulation.paper.reproduce import Reproduction, reproduce

__all__ = ["Claim", "Reproduction", "reproduce"]
