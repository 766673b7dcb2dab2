"""What people ask: one file per public question.

::

    advise             ``poise.advise``: what these rows can answer, before the first test
    assert_stable      stability as a unit test: ``assert_stable`` for pytest and for CI gates
    certificates/      certificates checked by somebody else: verdict, rows, trials computed again
    check/             before a test: whether an algorithm meets the conditions of a stability test
    choose_test        choose the test and the number of points, before the first fit
    combine_records    ``poise.combine``: the evidence of several records of one question together
    compare            many algorithms on the same trials, with one error level for all verdicts
    conditional/       the model you deploy: stability of one given training set
    cost_of_stability  the accuracy of a stabilised estimator compared with the original
    intervals/         prediction intervals whose coverage follows from a certificate of stability
    ledger_questions   questions that are put to a ledger before the first fit, and their answers
    measurement        one algorithm on one sample: checked before the first fit, then measured
    monitor/           evidence that may grow: a record to which rows are added as they come in
    notions            notions of stability for randomised algorithms (Appendix E)
    plan               ``poise.plan``: rows, training size, δ, α or power, from the other four
    power_warnings     warnings before the first fit: no trials, or no chance of a certificate
    provenance_of_run  note where changes come from, while rows and code are at hand
    run_procedure      run any black-box test (Definitions 2 and 3) and keep its transcript
    set_aside          rows set aside to find the scale that ε is a share of; no trial uses them
    settings           the keywords of the public functions, and the objects that hold them
    setup              what is measured: the settings that determine the trials
    spread             the spread of responses, which ε may be a share of, and where it says nothing
    stability_curve    stability at several training sizes, like a learning curve
    stability_test     ``poise.stability_test`` and ``poise.measure``
    toml_file          a TOML file of data, algorithms and questions, checked before a run
"""
