"""Results as an HTML page.

::

    html_report  one self-contained HTML page with verdicts, tables and plots
"""
