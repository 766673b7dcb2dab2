"""Sphinx configuration: the pydata theme, numpydoc, pictures drawn by the pages' own code."""

import sys
from importlib.util import find_spec
from pathlib import Path

from sphinx_gallery.scrapers import figure_rst

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for reference

import reference  # noqa: E402

import poise  # noqa: E402

project = "poise"
author = "The poise developers"
copyright = "2026, The poise developers"
release = poise.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery"]
templates_path = ["_templates"]

# Commands, settings and the functions of poise.theory are listed by the code that defines them.
reference.write(HERE / "generated")

suppress_warnings = ["config.cache"]  # the gallery is given a function
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings have them in words
numpydoc_show_class_members = False
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False


def figures(block, block_vars, gallery_conf):
    """Save what an example calls ``figure``: pictures of poise are unknown to pyplot."""
    figure = block_vars["example_globals"].pop("figure", None)
    if not hasattr(figure, "png"):
        return ""
    path = Path(next(block_vars["image_path_iterator"]))
    path.write_bytes(figure.png())
    return figure_rst([str(path)], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "image_scrapers": ("matplotlib", figures),
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# One file has all of MathJax, fonts included: formulas need no network.
mathjax_path = "tex-svg-full.js"
_mathjax = find_spec("sphinx-mathjax-offline").submodule_search_locations[0]

html_theme = "pydata_sphinx_theme"
html_title = "poise"
html_static_path = ["_static", str(Path(_mathjax, "static", "mathjax", mathjax_path))]
html_css_files = ["poise.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": [], "assumed": []}
html_theme_options = {
    "logo": {
        "text": "poise",
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
