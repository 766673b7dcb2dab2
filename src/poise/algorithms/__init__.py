"""Algorithms, the objects that are tested: estimators, functions, programs, networks.

::

    algorithm             the interface of algorithms: data and a random term give a predictor
    as_algorithm          turn a user's estimator or function into an :class:`~poise.Algorithm`
    bag_members           the models of a bagging ensemble, one per bag
    bagging               bagging whose bags are coupled between n and n − 1 rows (Appendix E)
    batched_algorithm     algorithms in JAX or PyTorch whose trials are all computed at once
    class_codes           Class labels as codes 0, 1, 2, …, for algorithms in JAX or PyTorch
    classes_from_data     classifiers that take their classes from the data, before the first fit
    code_digest           a digest of user code, so that a journal notices when the code has changed
    coupled_bags          bags that change little when the last row is removed
    couplings             joint laws of (ξ, ξ′) beyond "shared" and "independent" (Appendix E)
    distance              distances between two predictions: the change Δ
    estimator             a scikit-learn-compatible estimator as an algorithm
    fit_warnings          warnings of fits: the caller's filters hold, and each is shown once
    function              a Python function ``fit(X, y, seed) -> predict`` as an algorithm
    global_state          global state: random generators, and scikit-learn's configuration
    jax/                  training functions written in JAX, all trials at once
    largest_change        the largest possible change: every algorithm would pass with a larger ε
    library_versions      the versions of what computes changes: Python, machine and libraries
    losses                changes of a loss instead of a prediction: hypothesis stability
    missing_values        missing and infinite values that an estimator is certain to refuse
    networks/             ready-made networks in JAX (``poise.networks``)
    numbers_of_any_type   differences of numbers that are not floats: Decimal, Fraction, complex
    order_invariant       estimators that are known not to look at the order of their rows
    prediction_arrays     predictions as arrays, with masked values and categories kept
    program/              external programs in any language, tested as algorithms
    response_method       which method of a fitted estimator is called; its columns are aligned
    river_seeds           seeds inside models of river, which have no get_params
    seeds_and_threads     seeds and numbers of threads among the parameters of an estimator
    sklearn_input_checks  data that scikit-learn's estimators cannot read: no numbers, or no table
    sklearn_suitability   data that an estimator cannot use, found before the first fit
    stabilized/           estimators that are stable by theorem: averages over small bags
    symmetrized           a wrapper that makes any algorithm symmetric: it first shuffles the rows
    torch/                networks in PyTorch, all trials at once
    user_code             errors of user code outside a fit, such as in a constructor or in repr
    wrapper_input         what a wrapper estimator accepts: the rows that its estimator accepts
"""
