"""Damaged files: how they are made, which formats there are, and what came of reading them.

Used by the tests (20,000 inputs) and by ``benchmarks/fuzz.py`` (as many as one likes).

::

    byte_damage   flipped, cut, repeated and inserted bytes; words that no reader expects
    json_damage   one value of a JSON text replaced, removed or nested
    array_damage  an npz file with one array altered, or one value of its JSON header
    formats       every format that poise reads: samples, the reader, and the ways to damage them
    outcomes      what came of reading: a valid object, an error of poise, or a raw error
"""
