"""Sphinx configuration: the pydata theme, numpydoc, and a gallery of examples that run."""

import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for see_also and gallery_order

import see_also

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
    "myst_parser",  # for the changelog and the guide for contributors
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = True
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
exclude_patterns = [
    "_build",
    "_templates",
    "**/*.ipynb",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
myst_heading_anchors = 3

# One file has all of MathJax, fonts included: formulas need no network.
_MATHJAX = "tex-svg-full.js"
_package = find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
mathjax_path = _MATHJAX

html_theme = "pydata_sphinx_theme"
html_title = "poise"
html_static_path = ["_static", str(Path(_package, "static", "mathjax", _MATHJAX))]
html_css_files = ["poise.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {
        "text": "poise",
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
    },
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# Without R the page of its example has no picture; everything else is built.
_executed = r"\.py$" if shutil.which("Rscript") else r"(?<!r_program)\.py$"
_PARTS = ("use", "algorithms", "understand")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": _executed,
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("use", "algorithms", "understand")
    ],
    "within_subsection_order": "gallery_order.ReadingOrder",
    "doc_module": ("poise",),
    "backreferences_dir": "generated/backreferences",
    "reference_url": {"poise": None},
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10_000,
    "download_all_examples": True,
    "plot_gallery": "True",
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def _short(app, what, name, obj, options, lines):
    """Keep the first line of scikit-learn's routing methods: the rest links to its own pages."""
    if name.endswith("_request"):
        del lines[1:]


def setup(app):
    """Connect what is done to docstrings."""
    app.connect("autodoc-process-docstring", _short, priority=400)
    app.connect("autodoc-process-docstring", see_also.add, priority=410)
