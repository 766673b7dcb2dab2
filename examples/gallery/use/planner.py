"""
The planner: how many rows?
===========================

Before anything is fitted, the planner says how many rows a question needs, and how likely a
stable algorithm is to be declared stable.
"""

# %%
# A team wants to test at n = 100 that at most one prediction in ten moves by more than ε. If
# the algorithm never moves a prediction that far, how many labelled rows make a verdict
# "stable" at least 90% likely?
import matplotlib.pyplot as plt
import numpy as np

import poise

plan = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9)
print(plan)

# %%
# Real algorithms move a prediction now and then. Let that happen once in fifty cases, δ* =
# 0.02:
plan = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.02)
print(plan.n_labeled, "rows")

# %%
# The picture shows the probability of "stable" against the true probability δ* of a large
# change, for that many rows. Beyond δ = 0.1 it is at most α, whatever the algorithm and the
# distribution.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
plan.plot(ax=axes)
plt.show()

# %%
# With fewer rows than that no test can help. Theorem 2 bounds the power of *every* valid
# black-box test, also of those that nobody has thought of yet. At n = 100 and δ* = 0:
rows = np.arange(200, 4001, 50)
trials = [poise.theory.n_trials(100, count) for count in rows]
power = [poise.theory.power(m, 0.1, 0.0, 0.05, randomized=False) for m in trials]
ceiling = [poise.theory.power_bound(100, int(count), delta=0.1, alpha=0.05) for count in rows]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(rows, ceiling, color="#6b7280", linestyle="--", label="ceiling for all valid tests")
axes.step(rows, power, where="post", color="#1f4e79", label="the Binomial test without a coin")
axes.set(xlabel="labelled rows", ylabel="power", ylim=(-0.02, 1.05))
axes.legend(frameon=False)
plt.show()
