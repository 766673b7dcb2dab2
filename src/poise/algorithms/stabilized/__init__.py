"""Estimators that are stable by theorem: averages over small bags, whatever is bagged.

::

    bag_fits    fitting all bags and averaging what they say, in one order for any number of workers
    classifier  a stable classifier: probabilities, and sets of labels that survive removals
    ensemble    what the stable regressor and the stable classifier have in common
    guarantee   what a stabilised estimator promises, in numbers and in a sentence
    regressor   a stable regressor: the average of clipped predictions
    stabilize   the front door: from any estimator to a stable one
"""
