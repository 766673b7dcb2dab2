"""External programs in any language, tested as algorithms.

======================  ==============================================================
:mod:`.algorithm`       :class:`Program`, what users see
:mod:`.command`         the command line, checked before anything runs
:mod:`.columns`         rows in any container, read column by column
:mod:`.task`            one fit and its predictions, written as CSV or as one JSON line
:mod:`.predictions`     what came back, checked number by number
:mod:`.process`         one process group: killed as a whole, its last words kept
:mod:`.scratch`         its temporary folder, removed whatever happens
:mod:`.one_shot`        a process per prediction: files in, file out
:mod:`.serving`         a process per worker: a line in, a line out
:mod:`.pool`            serving programs between two requests, and their end
======================  ==============================================================
"""

from __future__ import annotations

from poise.adapters.program.algorithm import Program

__all__ = ["Program"]
