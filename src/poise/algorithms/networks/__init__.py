"""Ready-made networks in JAX (``poise.networks``).

::

    activations       what follows a hidden layer, and its slope as a function of its value
    adam              adam (Kingma & Ba, 2015) as one compiled loop
    classes           classifiers in JAX whose classes are those of the data they will be run on
    gpu_kernel        regression networks with one hidden layer, each trained inside one kernel of
    gradient_descent  minimising a smooth convex function: one loop, two rules for where to go
    input_scaling     bringing columns to mean 0 and spread 1, as part of the fit
    logistic          penalised logistic regression to convergence: ``(X, y, x, key) -> prediction
    networks          ready-made models in JAX, for whoever asks whether a small network is stable
    perceptron        fully connected networks, trained by Adam: ``(X, y, x, key) -> prediction``
"""

from __future__ import annotations

from poise.algorithms.networks.networks import logistic_regression, mlp_classifier, mlp_regressor

__all__ = ["logistic_regression", "mlp_classifier", "mlp_regressor"]
