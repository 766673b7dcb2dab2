"""The paper, reproduced: every claim as a computation or a simulation that could fail.

::

    appendix_b_traps         Appendix B: the traps, which no test can recognise
    appendix_e_notions       Appendix E: shared, independent and coupled randomness, and Theorem 5
    beyond_averaged          beyond the paper: the averaged test, its level and its power
    beyond_conditional       beyond the paper: one given training set, and Proposition I
    beyond_finite_responses  beyond the paper: finite responses and bounded outputs (G and H)
    beyond_intervals         beyond the paper: Theorem J on jackknife intervals
    beyond_subbagging        beyond the paper: Theorems K, L and M on subbagging
    claim                    one claim of the paper: what it says, and what was measured
    effort                   how much is simulated: workers and replications
    figures                  three figures: power against κ, power against δ*, and a trap
    reproduce                ``poise reproduce``: check every claim of the paper
    section_2_examples       Section 2.3: other examples of black-box tests
    section_2_framework      Section 2: symmetry, transcripts, trials and the cost of a test
    section_3_binomial_test  Section 3.1, Theorem 1: size, level and power of the Binomial test
    section_4_ceilings       Section 4.2, Theorem 2: the ceiling on the power of all valid tests
    section_4_estimation     Section 4.1: estimation instead of testing (Proposition 1)
    section_4_model_classes  theorems 3 and 4: tests that see the models, and linear models
    section_5_finite         Section 5.1: finite spaces, with known or unknown support
"""

from __future__ import annotations

from poise.simulation.paper.claim import Claim
from poise.simulation.paper.reproduce import Reproduction, reproduce

__all__ = ["Claim", "Reproduction", "reproduce"]
