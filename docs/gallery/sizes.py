"""
How large must a training set be?
=================================

A tree and a linear model at several training sizes. The limits of a curve hold at all of its
sizes at once.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import poise

X, y = load_diabetes(return_X_y=True)
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6))
for model, panel in zip((Ridge(), DecisionTreeRegressor()), panels, strict=True):
    curve = poise.stability_curve(model, X, y, n=[4, 8, 16, 24], delta=0.3)
    curve.plot(ax=panel)
    panel.set_title(type(model).__name__, loc="left")
    print(curve, end="\n\n")
figure.tight_layout()

# %%
# What happens beyond the largest size is an assumption that these rows cannot support. If you are
# willing to assume that changes shrink at least like 1/n, the curve can be carried on; it says
# that it certifies nothing.

linear = poise.stability_curve(Ridge(), X, y, n=[4, 8, 16, 24], delta=0.3)
print(linear.extrapolate(n=[100, 400], power=1.0))
