"""Results in words: summaries, tables and facts.

::

    describe_design  what a trial compares, in words: the statement that a verdict is about
    duration         times in the unit that suits them
    facts            facts under names, and results as one row: what notebooks, frames and termina
    menu_table       the menu of what rows can answer, as a table and in words
    needs            what a clean run needs to be declared stable: trials, and the rows they are m
    next_questions   what can be asked of some rows, with the call or the command that asks it
    summary          words for numbers: the summary of a result, as text and as a table
    table            rows under headings, for people: as text and as HTML
"""
