r"""
The traps of the proof, drawn
=============================

No valid black-box test can be much better than the Binomial test (Theorem 2). The proof builds
a trap: from a stable world it makes another one that is *not* stable, although the data of the
two worlds are almost always the same.
"""

# %%
# The honest world: the algorithm predicts one number, whatever its n = 10 rows. The trap hides
# a feature vector x* that the honest world never shows. With a small probability c a row of the
# trapped world carries it, and the trapped algorithm then jumps.
import matplotlib.pyplot as plt
import numpy as np

import poise
from poise.adversary import feature_trap, same_verdict
from poise.procedures import BinomialTest, BootstrapTest
from poise.world import zoo

world = zoo.constant(n=10)
trap = feature_trap(world, epsilon=0.0, delta=0.1)
print(f"honest world: δ* = {world.delta_star(0.0)}")
print(f"trapped world: δ* = {trap.instability:.4f}, a row is marked with c = {trap.c:.4f}")

# %%
# Each square is a row of a data set of 110, and each line is one data set. Marked rows are red.
# A data set without a red square looks honest, and every test must treat it as honest.
rng = np.random.default_rng(1)
marked = rng.random((24, 110)) < trap.c
figure, axes = plt.subplots(figsize=(8.5, 3.6), layout="constrained")
colours = np.where(marked[..., None], [200, 85, 61], [203, 216, 230]).astype(np.uint8)
axes.imshow(colours, aspect="auto", interpolation="nearest")
clean = ~marked.any(axis=1)
axes.set(xlabel="row", ylabel="data set", title=f"{clean.sum()} of 24 data sets show no marked row")
plt.show()

# %%
# On honest data a test cannot tell the two algorithms apart: it gives the same verdict for
# both.
test = BinomialTest(n=10, epsilon=0.0, delta=0.1)
found = same_verdict(test, trap, n_labeled=330, replications=20, random_state=0)
print("the same verdict in every run:", found.always)

# %%
# So whoever declares the honest world stable with a large probability declares the trap stable
# too often. The ceiling is α divided by the chance that a data set shows no marked row:
rows = np.arange(10, 700, 10)
ceiling = [poise.theory.power_bound(10, int(m), delta=0.1, alpha=0.05) for m in rows]
unseen = (1 - trap.c) ** rows
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.plot(rows, unseen, color="#c8553d", label="chance that no row is marked")
axes.plot(rows, ceiling, color="#1f4e79", label="ceiling on the power of every valid test")
axes.axhline(0.05, color="#6b7280", linestyle=":", label="α = 0.05")
axes.set(xlabel="rows", ylim=(0, 1.03))
axes.legend(frameon=False)
plt.show()

# %%
# The bootstrap draws its trials from the same few rows and believes them. It walks into the
# trap: an audit finds that it declares an unstable world stable far more often than α allows.
bootstrap = BootstrapTest(n=10, epsilon=0.0, delta=0.1, resamples=40)
audit = poise.audit_with_traps(bootstrap, world, n_labeled=40, replications=30, random_state=0)
for result in audit.results:
    print(result)
