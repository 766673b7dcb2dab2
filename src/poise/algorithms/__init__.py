"""What is tested: estimators, functions, programs and networks as one kind of algorithm.

::

    algorithm             what poise calls an algorithm: data and a random term in, a prediction f
    as_algorithm          from what users have (an estimator, a function) to an :class:`~poise.Alg
    bag_members           the models of a bagging ensemble: one per bag
    bagging               bagging whose bags are coupled between n and n − 1 rows (Appendix E)
    bags                  bags that hardly change when the last row is removed
    class_codes           Class labels for programs that compute with 0, 1, 2, … only
    code_digest           A digest of user code, so that a journal notices when it is not the code
    couplings             joint laws of (ξ, ξ′) beyond "shared" and "independent" (Appendix E)
    distance              how far apart two predictions are: the number called Δ
    estimator             A scikit-learn-compatible estimator as an algorithm
    function              A Python function ``fit(X, y, seed) -> predict`` as an algorithm
    global_state          what algorithms use without saying so: generators, and scikit-learn's co
    jax/                  training functions written in JAX, all trials at once
    largest_change        how large a change can be at all: an ε beyond it is no gate
    losses                changes of a loss instead of a prediction: hypothesis stability
    missing_values        missing and infinite values that an estimator is certain to refuse
    networks/             ready-made networks in JAX (``poise.networks``)
    numbers_of_any_type   differences of numbers that are no floats: Decimal, Fraction, complex
    prediction_arrays     predictions as arrays that hide nothing: masked values, categories
    program/              external programs in any language, tested as algorithms
    response_method       what a fitted estimator is asked, and how its answers are made comparabl
    seeds_and_threads     parameters that would make two fits of one trial differ for no good reas
    sklearn_input_checks  whether data are what scikit-learn's own estimators can read: rows and c
    sklearn_suitability   estimators and data that cannot go together, found before the first fit
    stabilized/           estimators that are stable by theorem: averages over small bags (``poise.s
    symmetrized           A wrapper that makes any algorithm symmetric: it shuffles the rows by ξ
    user_code             errors of user code outside a fit, which never end a program silently
    wrapper_input         what an estimator around another one accepts: rows as the inner one wants
"""
