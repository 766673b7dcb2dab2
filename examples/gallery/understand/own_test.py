r"""
Your own test in twenty lines
=============================

A black-box test may train the algorithm on any rows and look at the predictions; it may not
look inside. In poise such a test is a generator: it yields questions, is sent the answers, and
returns a verdict.
"""

# %%
# This test says "stable" only if no prediction moved by more than ε in any of its trials. If
# the algorithm is not (ε, δ)-stable, each trial moves with probability above δ, so the verdict
# is wrong with probability at most :math:`(1-\delta)^m` for m trials.
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

import poise
from poise import Batch, Comparison


@dataclass(frozen=True)
class AllQuiet:
    """Say stable if no change is larger than epsilon."""

    n: int
    epsilon: float
    trials: int

    def ask(self, sample, randomness):
        """Yield all trials at once, and judge the answers."""
        order = randomness.generator("order").permutation(sample.n_labeled)
        rows = order[: self.trials * (self.n + 1)].reshape(self.trials, self.n + 1)
        tasks = []
        for k, row in enumerate(rows):
            xi = randomness.words("xi", k)
            tasks.append(Comparison.without_last(row[:-1], row[-1:], xi, xi))
        answers = yield Batch(tasks)
        moved = bool((answers.changes > self.epsilon).any())
        return "inconclusive" if moved else "stable"


# %%
# Run it. 29 trials give an error level of 0.9²⁹ < 0.05 for δ = 0.1.
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 3))
y = X @ [1.0, 2.0, 3.0] + rng.normal(size=1500)
run = poise.run(AllQuiet(n=40, epsilon=0.5, trials=29), Ridge(), X, y, random_state=0)
print(run.verdict, run.counts)

# %%
# Is it valid, and how good is it? An audit runs a test on many data sets from a world whose
# stability is known. This one memorises rare rows, so its δ* is whatever we like. The law is
# :math:`(1-\delta^*)^{29}`: at most α where δ* > δ, and below 1 almost everywhere else.
test = AllQuiet(n=4, epsilon=0.5, trials=29)
true, shares = [0.005, 0.02, 0.05, 0.1, 0.15], []
for delta_star in true:
    world = poise.world.zoo.memorising(n=4, rarity=delta_star)
    audit = poise.audit(
        test, world, delta=0.1, alpha=0.05, n_labeled=145, replications=60, random_state=0
    )
    shares.append(audit.accepted)
print(audit)

# %%
grid = np.linspace(0, 0.2, 100)
heights = np.array([share.value for share in shares])
ends = np.array([[share.low, share.high] for share in shares])
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.plot(grid, (1 - grid) ** 29, color="#1f4e79", label="(1 − δ*)²⁹")
axes.errorbar(
    true, heights, np.abs(ends.T - heights), fmt="o", color="#c8553d", label="60 runs each"
)
axes.axhline(0.05, color="#6b7280", linestyle=":", label="α = 0.05")
axes.axvline(0.1, color="#6b7280", linestyle="--", label="δ = 0.1")
axes.set(xlabel="true probability δ* of a large change", ylabel='share declared "stable"')
axes.legend(frameon=False)
plt.show()

# %%
# An audit finds errors; it does not prove that there are none. :doc:`/write_your_own_test` says
# what makes a test valid.
