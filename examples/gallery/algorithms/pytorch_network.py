"""
A network in PyTorch
====================

Any function that trains on rows and returns a prediction function can be tested. Here it trains
a small network in PyTorch.
"""

# %%
# poise sets the generator of PyTorch from the random term of the trial before each fit, so both
# networks of a trial start from the same weights.
import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_diabetes

import poise

X, y = load_diabetes(return_X_y=True)
X, y = X / X.std(axis=0), (y - y.mean()) / y.std()


def network(steps, decay=0.0):
    """Return a function that trains a network with one hidden layer of 16 units."""

    def fit(X, y, seed):
        rows, target = torch.tensor(X), torch.tensor(y)
        layers = [torch.nn.Linear(rows.shape[1], 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)]
        model = torch.nn.Sequential(*layers).double()
        optimiser = torch.optim.AdamW(model.parameters(), lr=0.03, weight_decay=decay)
        for _ in range(steps):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(rows).squeeze(1), target).backward()
            optimiser.step()

        def predict(points):
            with torch.no_grad():
                return model(torch.tensor(points)).squeeze(1).numpy()

        return predict

    return fit


# %%
# The number of steps and the decay of the weights are part of the algorithm. Two candidates are
# tested together, on the same trials and with the same first weights. The responses have been
# scaled to a standard deviation of 1, so ε = 0.5 is half of that.
candidates = {
    "40 steps": network(40),
    "40 steps, decay 5": network(40, decay=5.0),
}
compared = poise.compare(candidates, X, y, n=20, epsilon=0.5, delta=0.3, random_state=0)
print(compared)

# %%
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# That one is declared stable and another is not does not mean that the first is more stable
# than the second, and a network that learns nothing is perfectly stable.
