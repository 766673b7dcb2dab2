"""Results as an HTML page.

::

    html_report  one HTML page with verdicts, tables and pictures that needs nothing but itself
"""
