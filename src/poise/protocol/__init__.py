"""What passes between asking and answering: questions, answers, random numbers, budgets.

::

    budget      how much a procedure may ask, and how much it has asked
    messages    what a black-box test asks and what it is told (Definition 2)
    procedure   A black-box test is a generator: it yields batches of questions and returns its ve
    randomness  every random number, as a function of (root seed, role, trial) alone
    work        what workers are given: tasks to compute, and how code and data travel
"""
