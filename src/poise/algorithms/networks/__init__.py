"""Ready-made networks in JAX (``poise.networks``).

::

    activations       activation functions, and their derivatives as functions of their values
    adam              the Adam optimiser (Kingma & Ba, 2015) as one compiled loop
    gpu_kernel        small regression networks, each trained inside one GPU kernel
    gradient_descent  minimise a smooth convex function, by Newton's rule or by L-BFGS
    input_scaling     scale columns to mean 0 and standard deviation 1, as part of the fit
    logistic          penalised logistic regression in JAX, solved to convergence
    networks          the public functions of ``poise.networks``: small models in JAX
    perceptron        fully connected networks in JAX, trained by Adam
"""

from __future__ import annotations

from poise.algorithms.networks.networks import logistic_regression, mlp_classifier, mlp_regressor

__all__ = ["logistic_regression", "mlp_classifier", "mlp_regressor"]
