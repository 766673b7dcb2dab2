"""
A first verdict
===============

Is my learning algorithm stable? If one training row is removed, does a prediction stay where it
was? This example asks that question about two algorithms on the same patients.
"""

# %%
# The data are 442 patients with diabetes. The response says how far the disease had progressed
# after a year; it lies between 25 and 346.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

import poise

X, y = load_diabetes(return_X_y=True)

# %%
# The question has four numbers, chosen before anybody looks at the changes:
#
# - ``n=10``: the algorithm is trained on ten patients;
# - ``epsilon=25``: a prediction may move by up to 25;
# - ``delta=0.2``: it may move by more in at most a fifth of all cases;
# - ``alpha=0.05``: the chance we accept of being told "stable" (or "unstable") wrongly.
#
# poise cuts the rows into trials that share no row. In each trial it trains with ten patients
# and with nine of them, and compares the two predictions for a fresh patient.
question = dict(n=10, epsilon=25, delta=0.2, alpha=0.05, random_state=0)
ridge = poise.stability_test(Ridge(), X, y, **question)
print(ridge)

# %%
# Least squares without a penalty gets another verdict. The run stops early: the trials that are
# left could not change it.
plain = poise.stability_test(LinearRegression(), X, y, **question)
print(plain)

# %%
# The picture shows how many predictions moved by more than ε, and which counts decide.
figure, axes = plt.subplots(2, 1, figsize=(8, 5.2), layout="constrained")
ridge.plot(ax=axes[0], title="ridge regression")
plain.plot(ax=axes[1], title="least squares")
plt.show()

# %%
# The verdict is about an algorithm, a training size and the distribution of the rows. It
# assumes that the rows are independent draws from that distribution. It says nothing about
# accuracy. Each of the two verdicts has its own error level; :func:`poise.compare` has one
# level for both.
