"""
Stabilising a tree
==================

A decision tree is not stable: one row can move a whole branch. The average of trees on random
bags of rows is stable by a theorem, whatever the distribution. No test is needed for that.
"""

# %%
# :func:`poise.stabilize` chooses the size and the number of the bags for the ε and δ that you
# name. The theorem needs bounds for the predictions; a tree predicts averages of responses, so
# bounds of the responses will do.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

import poise

tree = DecisionTreeRegressor(max_leaf_nodes=6)
stable = poise.stabilize(tree, n=40, epsilon=2, delta=0.2, bounds=(-3, 3), random_state=0)
print(stable.guarantee.sentence)

# %%
# What it looks like: a tree and its stabilised version on 40 rows, each with all rows and
# without one of them. The removed row is the one that moves the tree most.
rng = np.random.default_rng(3)
X = np.sort(rng.uniform(0, 6, size=(40, 1)), axis=0)
y = np.clip(np.sin(X[:, 0]) + 0.5 * rng.normal(size=40), -3, 3)
grid = np.linspace(0, 6, 400).reshape(-1, 1)


def predictions(model, removed=None):
    """Fit without one row, and predict at the grid."""
    kept = np.arange(40) != removed
    return model.fit(X[kept], y[kept]).predict(grid)


full = predictions(tree)
removed = max(range(40), key=lambda row: np.mean(np.abs(full - predictions(tree, row))))
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained", sharey=True)
for ax, model, name in zip(axes, (tree, stable), ("a tree", "stabilised"), strict=True):
    with_it, without = predictions(model), predictions(model, removed)
    ax.fill_between(grid[:, 0], with_it, without, color="#f3d3cb")
    ax.plot(X, y, ".", color="#6b7280")
    ax.plot(X[removed], y[removed], "X", color="#c8553d", label="the row that is removed")
    ax.plot(grid, with_it, color="#1f4e79", label="with it")
    ax.plot(grid, without, "--", color="#c8553d", label="without it")
    ax.set(title=f"{name}: moves by {np.max(np.abs(with_it - without)):.2f} at most", xlabel="x")
axes[0].legend(frameon=False, fontsize=9)
plt.show()

# %%
# Larger bags lose less accuracy and need more fits. These sizes and numbers of bags all give
# the same guarantee; the one that was chosen is marked.
choices = poise.theory.bag_trade_off(40, epsilon=2, delta=0.2, width=6)
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot([c.bag_size for c in choices], [c.n_bags for c in choices], "o-", color="#1f4e79")
axes.plot(stable.bag_size, stable.n_bags, "D", color="#c8553d", markersize=9, label="chosen")
axes.set(xlabel="rows in a bag", ylabel="bags", yscale="log")
axes.legend(frameon=False)
plt.show()
