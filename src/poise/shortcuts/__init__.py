"""Exact stand-ins for fits: both fits of a trial for hardly more than the price of one.

::

    batched                       thousands of trials at once, where the algorithm knows how
    block_memory                  memory that is used again from block to block, and blocks that f
    centred_moments               rows and responses about their means, and the products of them t
    class_labels                  Class labels as numbers, and the decision among classes
    discriminant_and_naive_bayes  shortcuts for LinearDiscriminantAnalysis and GaussianNB: class m
    dummy                         the shortcut for scikit-learn's DummyRegressor: the same statist
    factorizations                factorisations over a stack of trials, in the array API that Num
    find_shortcut                 exact shortcuts: both fits of a trial for hardly more than the p
    gaussian_process              the shortcut for scikit-learn's GaussianProcessRegressor with a
    kernel_functions              kernel functions over a stack of trials: rows against rows, and
    kernel_ridge                  the shortcut for scikit-learn's KernelRidge
    kernel_systems                kernel systems (K + λI)a = y: the last row leaves by a bordered
    linear_narrow                 linear fits with more rows than columns: one row is removed by f
    linear_wide                   linear fits with at least as many columns as rows: the dual form
    nearest_neighbors             shortcuts for scikit-learn's KNeighborsRegressor and KNeighborsC
    nearest_rows                  which rows are nearest to a test point, what each of them counts
    parameter_types               tests of an estimator's parameters: whatever is not plainly in r
    ridge_and_least_squares       shortcuts for scikit-learn's Ridge and LinearRegression
    ridge_classifier              the shortcut for scikit-learn's RidgeClassifier: ridge regressio
    rounding_bounds               what all shortcuts for regressors share: their own bound on the
    row_distances                 how far the rows of each trial are from its test point
    scaler_pipeline               shortcuts for a Pipeline of StandardScaler and an estimator that
    shortcut                      what a shortcut is: both predictions of many trials at once, and
"""
