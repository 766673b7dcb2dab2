"""
The profile: every ε at once
============================

If ε is chosen after looking at the changes, a verdict at that ε has no guarantee. The profile
has one: its band holds for every ε at the same time, so you may look first and choose
afterwards.
"""

# %%
# :func:`poise.measure` runs all trials and judges nothing.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise

X, y = load_diabetes(return_X_y=True)
neighbours = poise.measure(KNeighborsRegressor(5), X, y, n=10, random_state=0)
print(neighbours.n_trials, "trials, the largest change is", neighbours.changes.max())

# %%
# On the left are the changes themselves, on the right the profile: for each ε an upper limit
# for the probability of a larger change. All of the band lies above the true curve with
# probability 0.95.
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
neighbours.plot(ax=axes)
plt.show()

# %%
# Read it in both directions. "Which ε goes with δ = 0.25?" and "Which δ goes with ε = 40?" may
# both be asked of one profile, as often as you like.
profile = neighbours.profile(alpha=0.05)
print("ε for δ = 0.25:", profile.epsilon_for(delta=0.25))
print("δ for ε = 40:  ", round(float(profile.at(40)), 3))

# %%
# A limit for a single ε that was fixed beforehand is smaller. That is the price of choosing
# later.
print("δ for ε = 40, fixed beforehand:", round(neighbours.delta_hat(epsilon=40), 3))

# %%
# Two algorithms, measured on the same trials and drawn on the same axes:
ridge = poise.measure(Ridge(), X, y, n=10, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained", sharey=True)
neighbours.profile().plot(ax=axes[0], title="five nearest neighbours")
ridge.profile().plot(ax=axes[1], title="ridge regression")
for ax in axes:
    ax.set_xlim(0, 80)
plt.show()
