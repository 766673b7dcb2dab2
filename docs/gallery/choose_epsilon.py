"""
Choose ε by looking
===================

You know how often a prediction may move, but not by how much. Limits that hold for *every* ε at
once let you look first and choose afterwards.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import poise

X, y = load_diabetes(return_X_y=True)
forest = RandomForestRegressor(n_estimators=20)

# %%
# 31 trials of 13 rows each. The draws of a forest go by the place of a row, so we ask about a row
# removed wherever it stands. The profile is one statement about all ε: with 95% confidence the
# true curve lies below its line everywhere.

trials = poise.measure(forest, X, y, n=13, delta=0.4, position="uniform")
profile = trials.profile()
figure = profile.plot(figsize=(6.5, 3))

# %%
# So it is legitimate to read off the ε that belongs to a δ, or the δ that belongs to an ε:

print(f"at most 40% of changes exceed {profile.epsilon_for(delta=0.4):.0f}")
print(f"changes above 60 have probability at most {profile.at(epsilon=60):.2f}")

# %%
# A limit for a single δ that was named before the run is sharper:

print(trials)
