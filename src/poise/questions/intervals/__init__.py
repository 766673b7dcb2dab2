"""Prediction intervals whose coverage follows from a certificate of stability.

::

    certify_and_fit          certify on some rows and fit on others; else use jackknife+
    conditional_certificate  which certificates about one training set the jackknife accepts
    jackknife_regressor      an estimator with intervals by jackknife and jackknife+
    kept_models              the models of jackknife+ in files, so that a run can be continued
    leave_one_out_models     the n models without one row, by n fits or by a formula
    usable_certificate       which certificates Theorem J accepts, and why it refuses the others
"""
