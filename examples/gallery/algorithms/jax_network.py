"""
A network in JAX: all trainings at once
=======================================

Code in JAX is compiled once and trained for all trials together, on a CPU or a GPU. Here is a
training loop of one's own; ``poise.networks`` has ready-made networks for those who do not
write JAX.
"""

# %%
# The function trains on ``X`` of shape (n, d) and ``y`` of shape (n,), and predicts at one
# point ``x``. All randomness comes from ``key``: here the first weights of a network with 32
# hidden units.
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import poise


def loss(weights, X, y):
    """Return the mean squared error of a network, with a small penalty."""
    inner, outer = weights
    penalty = jnp.sum(inner**2) + jnp.sum(outer**2)
    return jnp.mean((jnp.tanh(X @ inner) @ outer - y) ** 2) + 0.1 * penalty / len(y)


def network(X, y, x, key):
    """Train for 100 steps from random weights, and predict at x."""
    first, second = jax.random.split(key)
    weights = jax.random.normal(first, (X.shape[1], 32)), 0.2 * jax.random.normal(second, (32,))

    def step(_, weights):
        slopes = jax.grad(loss)(weights, X, y)
        return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes)

    inner, outer = jax.lax.fori_loop(0, 100, step, weights)
    return jnp.tanh(x @ inner) @ outer


# %%
# Does removing one row of 40 move a prediction by more than ¼ in more than a fifth of all
# cases? The function is written for one training; poise maps it over all of them.
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=4000)
trials = poise.measure(poise.jax_algorithm(network), X, y, n=40, random_state=0)
print(f"{trials.n_trials} pairs of networks ({trials.design.path})")
print(trials.test(epsilon=0.25, delta=0.2))

# %%
# The changes, and their profile: for each ε, an upper limit for the probability of a larger
# change.
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
trials.plot(epsilon=0.25, delta=0.2, ax=axes)
plt.show()

# %%
# The verdict is about a network *and* its training: width, steps, learning rate, penalty and
# first weights are all part of the algorithm. See :doc:`/jax`.
