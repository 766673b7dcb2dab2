"""Online fallback: levels of tests that are made one after the other, without a last one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.decision import declares

__all__ = ["checked_sequence", "online_fallback"]


def checked_sequence(pvalues: ArrayLike, alpha: float) -> tuple[NDArray[np.float64], float]:
    """Check p-values that come one after the other, and the level of all of them."""
    values = arguments.probability("pvalues", pvalues)
    if values.ndim != 1:
        raise ArgumentError(f"pvalues must be a list of numbers, got shape {values.shape}")
    return values, float(arguments.alpha(alpha))


@np.errstate(under="ignore")
def online_fallback(pvalues: ArrayLike, alpha: float = 0.05) -> NDArray[np.float64]:
    r"""Give each test of a sequence its level before it is made.

    The level of test k is :math:`\alpha_k = \alpha / (k(k+1))`, plus :math:`\alpha_{k-1}` if
    test k − 1 was declared (:math:`p_{k-1} \le \alpha_{k-1}`). Declare what has
    :math:`p_k \le \alpha_k`: then P(any true hypothesis is ever declared false) ≤ α, however the
    p-values depend on each other and however many tests are made (Tian and Ramdas, *Online control
    of the familywise error rate*, 2021). Proof: up to the first false declaration, the level of a
    true hypothesis is made of its own share and of shares of the false hypotheses since the last
    true one. These shares are numbers, different ones for each true hypothesis, and all together
    they are at most :math:`\alpha \sum 1/(k(k+1)) = \alpha`.

    It does not allow a hypothesis to be chosen by looking at the data that test it. Alpha-investing
    (Foster and Stine 2008) needs p-values that are valid given the earlier answers, which tests on
    the same rows do not have: with equal p-values its marginal false discovery rate goes to 1.
    Online fallback needs nothing of the kind.

    Parameters
    ----------
    pvalues : array-like
        Valid p-values in the order in which the tests are made, each in [0, 1].
    alpha : float
        Error level of all tests together, in (0, 1).

    Returns
    -------
    ndarray
        One level per test, and one more: that of the next test.

    Examples
    --------
    >>> online_fallback([0.2, 0.001, 0.3], alpha=0.06).round(4).tolist()
    [0.03, 0.01, 0.015, 0.003]
    """
    values, total = checked_sequence(pvalues, alpha)
    places = np.arange(1, len(values) + 2)
    levels = total / (places * (places + 1.0))
    for place, value in enumerate(values):
        if declares(value, levels[place]):
            levels[place + 1] += levels[place]
    return np.asarray(levels)
