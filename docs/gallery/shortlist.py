"""
Does retraining change whom we call?
====================================

A model ranks people, and the best five of every twenty are called. A decision is a distance: what
share of the list changes when the model is trained again with new rows?
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), LogisticRegression())
shortlist = poise.decisions.top_k(5, of=20)

# %%
# For new training sets of 40 rows, when one row is missing:

result = poise.stability_test(
    model, X, y, n=40, delta=0.3, distance=shortlist, response="decision_function"
)
print(result)

# %%
# For the training set that we have, when three new rows are added to its 200:

update = poise.deployed_test(
    model,
    X[:200],
    y[:200],
    X[200:],
    y[200:],
    update=3,
    delta=0.3,
    distance=shortlist,
    response="decision_function",
)
print(update)
figure = update.plot(figsize=(6.5, 3.4))
