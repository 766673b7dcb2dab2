"""The model you deploy: stability of one given training set.

::

    closed_form              the changes of linear and kernel models without n fits
    conditional_measurement  one training set and fresh rows: checked, then measured
    conditional_question     the question about one training set: ε, δ, α and γ, checked
    conditional_setup        what is measured about one training set: the settings of its trials
    conditional_test         ``poise.conditional_test`` and ``poise.measure_conditional``
    fresh_rows               training rows and fresh rows, numbered together; what is refused
    stop_when_forced         stop when no later trial can change the verdict
"""
