r"""
The paper's theorems as pictures
================================

Kim & Barber, *Black-box tests for algorithmic stability*: what the Binomial test can do
(Theorem 1), what no test can do (Theorems 2 to 4), and what it means to estimate instead of to
test (Proposition 1). Every curve is computed by ``poise.theory``; nothing is fitted or drawn at
random.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from poise import theory

BLUE, RED, GREY = "#1f4e79", "#c8553d", "#6b7280"
delta, alpha = 0.1, 0.05

# %%
# Theorem 1: level and power of the Binomial test
# -----------------------------------------------
#
# The probability that the test says "stable", against the true probability δ* of a large
# change. To the right of δ it is at most α, whatever the algorithm and the distribution. More
# trials make it steeper.
true = np.linspace(0, 0.25, 126)
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for m, style in ((20, ":"), (50, "--"), (200, "-")):
    power = theory.power(m, delta, true, alpha, randomized=True)
    axes.plot(true, power, style, color=BLUE, label=f"{m} trials")
axes.axvline(delta, color=GREY, linewidth=0.8)
axes.axhline(alpha, color=RED, linewidth=0.8, label="α")
axes.set(xlabel="true probability δ*", ylabel='P("stable")')
axes.legend(frameon=False)
plt.show()

# %%
# Theorem 2: the ceiling
# ----------------------
#
# For a perfectly stable algorithm (δ* = 0) no valid black-box test has more power than
# :math:`\alpha(1-\delta)^{-\kappa}`, where κ is the number of trials that the rows hold. The
# Binomial test with its coin attains it wherever κ is a whole number; the plain test waits for
# the next whole trial.
n, rows = 20, np.arange(21, 21 * 40)
ceiling = [theory.power_bound(n, int(m), delta=delta, alpha=alpha) for m in rows]
trials = [theory.n_trials(n, int(m)) for m in rows]
coin = [theory.power(m, delta, 0.0, alpha, randomized=True) for m in trials]
plain = [theory.power(m, delta, 0.0, alpha, randomized=False) for m in trials]
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.plot(rows, ceiling, color=RED, label="ceiling of Theorem 2")
axes.plot(rows, coin, color=BLUE, label="Binomial test with the coin")
axes.plot(rows, plain, color=BLUE, linestyle=":", label="without the coin")
axes.set(xlabel="labelled rows, at n = 20", ylabel="power at δ* = 0")
axes.legend(frameon=False)
plt.show()

# %%
# Theorems 3 and 4: what is seen changes the ceiling
# --------------------------------------------------
#
# The exponent of the ceiling depends on what is uncountable, and on whether the test may look
# at the fitted models. Unlabelled rows help only as test points. A larger exponent allows more
# power.
cases = {
    "black-box, no unlabelled rows": dict(n_unlabeled=0),
    "black-box, 220 unlabelled rows": dict(n_unlabeled=220),
    "transparent, no unlabelled rows": dict(n_unlabeled=0, models="transparent"),
    "countable responses, 220 unlabelled": dict(n_unlabeled=220, response="countable"),
}
exponents = [float(theory.exponent(10, 220, **case)) for case in cases.values()]
figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
axes.barh(list(cases), exponents, color=BLUE)
axes.bar_label(axes.containers[0], padding=3, fmt="%.4g")
axes.set(xlabel="exponent, for n = 10 and 220 labelled rows", xlim=(0, max(exponents) * 1.12))
axes.invert_yaxis()
plt.show()

# %%
# Proposition 1: testing and estimating are the same
# --------------------------------------------------
#
# The test declares "stable" for exactly those δ that lie above the limit :math:`\hat\delta`. So
# the limits are the tests, turned on their side: each is right with probability 1 − α.
counts = np.arange(0, 31)
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for m, style in ((30, ":"), (60, "--"), (120, "-")):
    limits = [theory.delta_hat(int(b), m, alpha) for b in counts if b <= m]
    axes.plot(counts[: len(limits)] / m, limits, style, color=BLUE, label=f"{m} trials")
axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, label="the share itself")
axes.set(
    xlabel="share of trials with a large change", ylabel="limit δ̂", xlim=(0, 0.6), ylim=(0, 0.8)
)
axes.legend(frameon=False)
plt.show()
