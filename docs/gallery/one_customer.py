"""
We deployed a model: does one patient matter?
=============================================

The question is about *this* training set: fresh rows, on which nothing was trained or chosen, ask
how much the deployed model's predictions depend on single rows.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso

import poise

X, y = load_diabetes(return_X_y=True)
trained, responses = X[:300], y[:300]
first, second = X[300:370], X[370:]  # two sets of fresh rows

# %%
# On the first fresh rows we look: which training rows move predictions most?

trials = poise.measure_deployed(Lasso(), trained, responses, first)
worst = trials.influence(epsilon=2).head(3)
print(worst)

# %%
# On the second, which had no part in the choice, we ask about the worst of them.

row = int(worst["row"].iloc[0])
result = poise.deployed_test(
    Lasso(), trained, responses, second, without=[row], epsilon=4, delta=0.1
)
print(result)
figure = result.plot(figsize=(6.5, 4.6))
