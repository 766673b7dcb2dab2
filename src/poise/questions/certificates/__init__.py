"""Certificates checked by somebody else: the verdict, the rows, and trials computed again.

::

    check_claims   whether the verdict, the numbers and the words follow from the changes
    findings       what is found while a certificate is checked, point by point
    repeat_trials  some trials computed again, in the same way as the first time
    same_question  whether rows, design, code and warnings are those of the certificate
    verify         ``poise.verify``: check a certificate, and say what was checked
"""
