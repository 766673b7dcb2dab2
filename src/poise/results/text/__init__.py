"""Results in words: summaries, tables and facts.

::

    conditional_sentences  what a data-conditional certificate states, by notion and test
    describe_averaged      words for the averaged test: what a share is, and how the bet went
    describe_certificate   what a certificate states, for each verdict, and the theorem behind it
    describe_combined      words for the evidence of several records together
    describe_conditional   words for data-conditional results
    describe_design        the design of a run in words: what a trial compares
    describe_monitor       words for a growing record: its evidence, its limits, what they rest on
    describe_plan          a plan in words: question, answer, and what it does not promise
    describe_provenance    where a verdict comes from: seed, digests and versions
    describe_result        what a verdict means, in sentences: what was done, found, and not shown
    describe_trials        words for a measurement without a verdict
    duration               durations in words, in a readable unit
    next_questions         questions that some rows can answer, each with its call or command
    next_step              the line "Next: …" of a summary: what to do after a verdict
    question_menu_table    what rows can answer, as a table and in words
    rows_needed            the trials and rows that a run without large changes needs
    summary                a summary: one headline and a few paragraphs
    table                  rows under headings, for people: as text and as HTML
    verdict_cells          what tables and facts show of every verdict: headings and cells
"""
