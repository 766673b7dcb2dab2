"""Training functions written in JAX, all trials at once.

::

    jax_algorithm  a JAX function ``(X, y, x, key) -> prediction`` as an algorithm
    jax_programs   compiled programs of one JAX function: for one trial, or for a block of trials
    live_memory    the memory of a traced program: intermediate results that live at the same time
"""
