"""Sphinx configuration: the pydata theme and numpydoc."""

import poise

project = "poise"
author = "The poise developers"
copyright = "2026, The poise developers"
release = poise.__version__

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "matplotlib.sphinxext.plot_directive",  # pictures are drawn by the examples beside them
]
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = True
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_title = "poise"
html_theme_options = {"show_toc_level": 2, "navbar_end": ["theme-switcher"]}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]


def _short(app, what, name, obj, options, lines):
    """Keep the first line of scikit-learn's routing methods: the rest links to its own pages."""
    if name.endswith("_request"):
        del lines[1:]


def setup(app):
    """Connect what is done to docstrings."""
    app.connect("autodoc-process-docstring", _short, priority=400)
