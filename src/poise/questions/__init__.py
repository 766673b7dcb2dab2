"""What people ask: one file per public question.

::

    advise             before the first question: what the rows at hand can answer
    assert_stable      stability as a unit test: ``assert_stable`` for pytest and for CI gates
    check/             before a test: whether an algorithm keeps what a stability test expects of it
    compare            many algorithms on the same trials, with one error level for all verdicts
    cost_of_stability  what stability costs: the accuracy of a stabilised estimator beside the origi
    intervals/         prediction intervals whose coverage rests on a certificate of stability, or
    measurement        one algorithm on one sample: checked, then measured or tested
    notions            notions of stability for randomised algorithms (Appendix E), and what symmetr
    power_warnings     warnings before the first fit: nothing to run, or nothing to certify
    run                run any black-box test (Definitions 2 and 3) and keep everything it asked and
    set_aside          rows set aside to find the scale that ε is a share of; no trial uses them
    settings           the keywords of the public functions, and the objects that hold them
    setup              what is measured: everything that decides the trials
    stability_curve    stability at several training sizes, in the manner of a learning curve
    stability_test     the two functions most people need: test stability, or measure it and judge l
    toml_file          A TOML file of data, algorithms and questions, checked key by key before anyt
"""
