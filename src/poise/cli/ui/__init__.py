"""``poise ui``: the results of a folder, in the browser.

The server renders pages; the browser asks it for numbers and pictures. No formula is written
in JavaScript.

::

    app              the addresses of the server, and the function that answers each
    browser_figures  figures for the browser: data and layout for plotly.js, computed here
    compare_page     several runs side by side, and the curve over n
    data_files       files of the folder that hold rows, their columns, and files with algorithms
    estimators       every estimator of scikit-learn, with its parameters
    file_kind        tell from its first bytes what poise wrote into a file
    live             server-sent events: a run has appeared, grown or ended
    new_run_page     the page that starts a run: rows, algorithm, question, preflight, start
    plan_page        power with its ceiling, rows needed, and what rows can answer
    repeat           the command line and the Python that repeat a run
    result_file      one file of results, opened: what was measured, asked and found
    results_folder   the folder whose results are shown, and nothing outside it
    rows_in_python   Python that reads the rows of a run again
    run_index        the list of all runs; a file is read again only if it has changed
    run_page         the page of one run
    runs_page        the list of runs: searched, sorted and live
    security         who may use the server, and no foreign code in a page
    site             what every page shares: templates, the folder, errors
    slider_answers   answers to the sliders of a run: the verdict, its limits, and whether they hold
    start_server     ``poise ui``: options, address, and the server
    started_runs     runs that the page starts, stops and resumes
"""

from __future__ import annotations

from poise.cli.ui.start_server import command

__all__ = ["command"]
