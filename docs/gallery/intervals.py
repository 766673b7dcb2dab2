"""
Prediction intervals for any algorithm
======================================

The jackknife+ turns leave-one-out fits into intervals that are valid for every algorithm which
ignores the order of its rows. A certificate of stability from other rows tightens the promise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso

import poise

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(X))
train, new = order[:150], order[150:]

# %%
# At confidence level 0.9 it promises a coverage of 0.8, and usually reaches 0.9.

plus = poise.JackknifeRegressor(Lasso(), confidence_level=0.9).fit(X[train], y[train])
predictions, intervals = plus.predict_interval(X[new])
low, high = intervals[:, 0], intervals[:, 1]
covered = np.mean((low <= y[new]) & (y[new] <= high))
print(plus.guarantee_)
print(f"It covers {covered:.0%} of {len(new)} new rows, width {np.mean(high - low):.0f}")

# %%
# With ``stability=result``, where ``result`` calls this estimator stable at n = 150, the promise is
# that of Theorem J; that takes hundreds of times as many rows as there are here.

by_middle = np.argsort(predictions)
_, panel = plt.subplots(figsize=(6.5, 3), layout="constrained")
panel.fill_between(range(len(new)), low[by_middle], high[by_middle], alpha=0.3, label="interval")
panel.plot(y[new][by_middle], ".", label="response")
panel.set(xlabel="new rows, by their prediction", ylabel="progression")
panel.legend()
