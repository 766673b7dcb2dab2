"""Training functions written in JAX, all trials at once.

::

    compiled_jax   one JAX function, compiled: for one trial, or for a block of trials
    jax_algorithm  a JAX function ``(X, y, x, key) -> prediction`` as an algorithm
    live_memory    the memory of a traced function: intermediate results that live at the same time
"""
