"""Damaged files: how they are made, which formats there are, and what came of reading them.

Used by the tests (20,000 inputs) and by ``benchmarks/fuzz.py`` (as many as one likes).

::

    byte_damage    flipped, cut, repeated and inserted bytes; words that no reader expects
    json_damage    one value of a JSON text replaced, removed or nested
    array_damage   an npz file with one array altered, or one value of its JSON header
    one_format     one kind of file: its samples, its reader, and the ways to damage it
    table_formats  files of rows: text, archives of arrays, Parquet and Feather
    formats        every format that poise reads, by its name
    outcomes       what came of reading: a valid object, an error of poise, or a raw error
"""
