"""Results in words: summaries, tables and facts.

::

    describe_design  what a trial compares, in words: the statement that a verdict is about
    describe_result  what a verdict means, in sentences: what was done, found, and not shown
    duration         times in the unit that suits them
    facts            facts under names, and results as one row: what notebooks, frames and termina
    menu_table       the menu of what rows can answer, as a table and in words
    needs            what a clean run needs to be declared stable: trials, and the rows they are m
    next_questions   what can be asked of some rows, with the call or the command that asks it
    next_step        what would change the answer, and what must not be done to get it
    numbers          few digits, limits rounded to the safe side, questions to the letter
    summary          one headline and a few paragraphs, for terminals, notebooks and reports alike
    table            rows under headings, for people: as text and as HTML
"""
