"""Prediction intervals whose coverage follows from a certificate of stability.

::

    certify_and_fit      the whole rule: certify on some rows, fit on others, fall back if refused
    jackknife_regressor  an estimator with intervals by jackknife and jackknife+
    leave_one_out        the n models that were fitted without one row: by fits, or in closed form
    usable_certificate   which certificates Theorem J accepts, and why it refuses the others
"""
