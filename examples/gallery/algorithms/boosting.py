"""
Gradient boosting: how much may one row matter?
===============================================

Boosting has many knobs, and some of them decide how much a single row can move a prediction.
This example tests XGBoost with a few settings, all on the same trials.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from xgboost import XGBRegressor

import poise

X, y = load_diabetes(return_X_y=True)
boosters = {
    "as it comes": XGBRegressor(n_estimators=10),
    "slow": XGBRegressor(n_estimators=10, learning_rate=0.05),
    "slow, subsampled": XGBRegressor(n_estimators=10, learning_rate=0.05, subsample=0.5),
}

# %%
# poise sets the seeds and keeps every fit on one thread, so that a change is due to the missing
# row and to nothing else. Three verdicts share one error level (Holm).
compared = poise.compare(boosters, X, y, n=12, epsilon=20, delta=0.25, random_state=0)
print(compared)

# %%
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# How does it change with the training size? More rows make each of them matter less, but a
# larger n leaves fewer trials. This is another question to the same rows, with an error level
# of its own.
curve = poise.stability_curve(
    boosters["slow"], X, y, n=[8, 14, 20], epsilon=20, delta=0.25, random_state=0
)
print(curve.table().text())
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
curve.plot(ax=axes)
plt.show()

# %%
# LightGBM, CatBoost and scikit-learn's own boosting are tested in the same way:
# :doc:`/libraries`.
