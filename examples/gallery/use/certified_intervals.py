"""
Certified prediction intervals
==============================

Leave-one-out residuals give prediction intervals. How often they miss depends on the stability
of the algorithm. A certificate of stability turns that into a number.
"""

# %%
# 80 rows to train on, and many fresh ones.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

import poise

rng = np.random.default_rng(0)
X = rng.normal(size=(380, 3))
y = X @ [1.0, 2.0, 3.0] + rng.normal(size=380)
train, fresh, new = slice(0, 80), slice(80, 280), slice(280, 380)

# %%
# Without a certificate, jackknife+ covers the response of a new row with probability at least
# 80% if it aims at 90%, whatever the distribution.
plus = poise.JackknifeRegressor(Ridge(), method="plus", level=0.9).fit(X[train], y[train])
print(plus.guarantee_.sentence)

# %%
# Fresh rows can certify that a further row moves few of the leave-one-out residuals by more
# than ε. Every fresh row is a trial, so 200 of them are enough for a sharp statement about
# *these* 80 rows.
certificate = poise.conditional_test(
    Ridge(),
    X[train],
    y[train],
    X[fresh],
    y[fresh],
    notion="jackknife",
    epsilon=0.4,
    delta=0.02,
    gamma=0.02,
    alpha=0.02,
    random_state=0,
)
print(certificate.verdict.value)

# %%
# With it the plain jackknife, widened by ε, has a better promise:
certified = poise.JackknifeRegressor(
    Ridge(), method="jackknife", level=0.9, certificate=certificate
).fit(X[train], y[train])
print(certified.guarantee_.sentence)

# %%
# The intervals of 100 new rows, and how many of their responses they contain.
for name, model in (("jackknife+", plus), ("certified jackknife", certified)):
    ends = model.predict_interval(X[new])[1]
    inside = np.mean((ends[:, 0] <= y[new]) & (y[new] <= ends[:, 1]))
    print(f"{name}: {inside:.0%} covered, mean width {np.mean(ends[:, 1] - ends[:, 0]):.2f}")
figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained", sharex=True)
plus.plot(X[new], y[new], ax=axes[0], title="jackknife+")
certified.plot(X[new], y[new], ax=axes[1], title="certified jackknife")
plt.show()

# %%
# The promises are probabilities over training rows, fresh rows and the new row together. They
# are no statement about one interval.
