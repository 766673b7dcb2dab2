"""
Does a larger forest make predictions stable?
=============================================

Averaging over trees should calm the predictions. Four sizes of a forest are compared on the same
trials; the probability that *any* of them is wrongly called stable is at most 5%.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import poise

X, y = load_breast_cancer(return_X_y=True)
forests = {f"{size:3} trees": RandomForestClassifier(size) for size in (2, 5, 25, 100)}

# %%
# Labels hardly ever change, and when they do it is too late. Probabilities show what moves before:
# at n = 10, do they change by more than 0.2?

found = poise.compare(
    forests,
    X,
    y,
    n=10,
    epsilon=0.2,
    delta=0.2,
    response="predict_proba",
    position="uniform",
)
print(found)

# %%

figure = found.plot(figsize=(6.5, 3))
