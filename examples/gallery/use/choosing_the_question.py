"""
Choosing n, ε and δ
===================

A verdict answers one question, and the question has to be chosen first. Here is how to choose
it from what is known beforehand: the number of rows and the scale of the response.
"""

# %%
# n: what the rows can answer
# ---------------------------
#
# One trial takes n rows to train on and a fresh one to predict. So a small n leaves many
# trials, and a large n few. :func:`poise.advise` lists the choices; *certifies delta* is the
# smallest δ that a run without any large change certifies.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import poise

X, y = load_diabetes(return_X_y=True)
advice = poise.advise(X, y, delta=0.2)
print(advice.headline())
print(advice.table().text())

# %%
# Choose the n that you train with, if the rows allow it. If they do not, choose the largest n
# that they do allow for your δ, and say so: the verdict is about that n.
sizes = np.arange(3, 60)
certified = [1 - 0.05 ** (1 / poise.theory.n_trials(n, len(y))) for n in sizes]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.step(sizes, certified, where="mid")
axes.axhline(0.2, color="#c8553d", linestyle="--", label="δ = 0.2")
axes.axvline(advice.menu.largest.n, color="#6b7280", linestyle=":", label="largest n")
axes.set(xlabel="training size n", ylabel="smallest δ that can be certified", ylim=(0, 0.6))
axes.legend(frameon=False)
plt.show()

# %%
# ε: what does not matter
# -----------------------
#
# ε is in the units of the predictions. Ask what change nobody would care about: of a price, a
# dose, a score. If there is no such number, take a share of the spread of the responses. poise
# computes the spread from 30 rows that it uses for nothing else, so the guarantee stays the
# same.
result = poise.stability_test(
    Ridge(), X, y, n=10, epsilon="30% of spread", delta=0.2, random_state=0
)
print(result)

# %%
# δ: how often is too often
# -------------------------
#
# δ is the share of cases in which a larger change would be acceptable. A smaller δ needs more
# trials: each of these numbers is how many trials without a large change certify δ at α = 0.05.
for delta in (0.2, 0.1, 0.05, 0.01):
    print(f"δ = {delta}: {np.ceil(np.log(0.05) / np.log(1 - delta)):.0f} trials")
