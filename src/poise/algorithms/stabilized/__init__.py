"""Estimators that are stable by theorem: averages over small bags.

::

    bag_fits    fit all bags and average their predictions, in one order for all workers
    classifier  a stable classifier: averaged probabilities, and stable sets of labels
    ensemble    the base class of the stable regressor and classifier
    guarantee   the guarantee of a stabilised estimator, in numbers and in a sentence
    regressor   a stable regressor: the average of clipped predictions over bags
    stabilize   ``poise.stabilize``: from any estimator to one that is stable by theorem
"""
