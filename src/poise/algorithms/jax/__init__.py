"""Training functions written in JAX, all trials at once.

::

    jax_algorithm  A pure function ``(X, y, x, key) -> prediction`` as an algorithm, all trials at
    jax_programs   one JAX function as compiled programs: for one trial, or for all trials of a bl
"""
