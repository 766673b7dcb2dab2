"""Exact shortcuts: they compute both fits of a trial for little more than the cost of one.

::

    batched                       many trials in one computation, for algorithms that can do that
    batched_tables                many trials of several removals and points in one computation
    block_memory                  memory that blocks of trials reuse, and blocks that fit the cache
    centred_moments               centred rows and responses, and their products, for linear fits
    class_labels                  Class labels as numbers, and the decision among classes
    class_moments                 sizes, means and centred rows of each class
    discriminant_and_naive_bayes  shortcuts for LinearDiscriminantAnalysis and GaussianNB
    discriminant_removals         linear discriminant analysis; each row is removed in turn
    dummy                         the shortcut for scikit-learn's DummyRegressor
    dummy_classifier              the shortcut for scikit-learn's DummyClassifier
    equal_trials                  trials of one size, read in blocks: what batched work asks of them
    factorizations                factorisations of all trials at once, with NumPy or JAX
    fast_path                     choose the fast path of some trials, if it agrees with the fits
    find_shortcut                 which estimator has an exact shortcut
    gaussian_process              the shortcut for GaussianProcessRegressor with a fixed kernel
    kernel_functions              kernel functions between the rows and the points of each trial
    kernel_removals               kernel systems (K + λI)a = y; each row is removed in turn
    kernel_ridge                  the shortcut for scikit-learn's KernelRidge
    kernel_systems                kernel systems (K + λI)a = y, with and without the last row
    leave_one_out                 all n leave-one-out models of a linear or kernel fit at once
    linear_narrow                 linear fits with more rows than columns; the last row is removed
    linear_removals               linear fits with more rows than columns; each is removed in turn
    linear_wide                   linear fits with at least as many columns as rows (dual form)
    naive_bayes_removals          Gaussian naive Bayes; each row is removed in turn
    nearest_neighbors             shortcuts for KNeighborsRegressor and KNeighborsClassifier
    nearest_rows                  the nearest rows of a test point, and their weights
    neighbor_removals             nearest neighbours; each row is removed in turn
    parameter_types               checks of parameters: a value out of range gets no shortcut
    ridge_and_least_squares       shortcuts for scikit-learn's Ridge and LinearRegression
    ridge_classifier              the shortcut for scikit-learn's RidgeClassifier
    rounding_bounds               the base class of shortcuts for regressors, with an error bound
    row_distances                 distances between the rows of each trial and its test point
    scaler_pipeline               shortcuts for a Pipeline of StandardScaler and an estimator
    shortcut                      the interface of shortcuts: the predictions of many trials
"""
