"""A learning algorithm of your own: rows and a seed in, a prediction function out."""

import numpy as np
from sklearn.linear_model import Lasso


def fit(X, y, seed):
    """Average five lassos, each fitted to half of the rows."""
    rng = np.random.default_rng(seed)
    halves = [rng.permutation(len(y))[: len(y) // 2] for _ in range(5)]
    models = [Lasso().fit(X.iloc[rows], y.iloc[rows]) for rows in halves]
    return lambda points: np.mean([model.predict(points) for model in models], axis=0)
