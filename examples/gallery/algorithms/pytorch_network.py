"""
A network in PyTorch: thousands of copies at once
=================================================

:func:`poise.torch_algorithm` trains many copies of a ``torch.nn.Module`` together, on a CPU or a
GPU. A function returns a new module; the loss, the optimiser and the number of steps are named.
"""

# %%
# The initial weights come from the random term of a trial, so that both networks of a trial start
# from the same ones, and a change is due to the missing row alone.
import matplotlib.pyplot as plt
import numpy as np
from torch import nn

import poise


def perceptron():
    """Return a new network with one hidden layer."""
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


# %%
# The optimiser and the number of steps are part of the algorithm. Two candidates are tested
# together, on the same trials and with one error level for both: one with few steps, one with many.
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=2000)
candidates = {
    "15 steps": poise.torch_algorithm(perceptron, loss="mse", lr=0.03, steps=15),
    "90 steps": poise.torch_algorithm(perceptron, loss="mse", lr=0.03, steps=90),
}
compared = poise.compare(candidates, X, y, n=30, epsilon=0.3, delta=0.2, random_state=0)
print(compared)

# %%
# Each point is a trial: how far the prediction moved when one of 30 rows was removed.
figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# The verdict is about a module *and* its training. It says nothing about accuracy: a network that
# does not learn is perfectly stable. See :doc:`/torch` for classes, images and training loops of
# your own; a function that trains a module in any other way can be tested too
# (:doc:`/libraries`).
