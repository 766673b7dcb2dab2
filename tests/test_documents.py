"""README and documentation: examples run, commands and options exist, and so do files."""

import doctest
import re
import runpy
import shlex
import tomllib

import click
import matplotlib.pyplot as plt
import pytest

from helpers import ROOT, needs
from poise.cli import main

# A reader sees warnings on stderr.
pytestmark = pytest.mark.filterwarnings("ignore::poise.errors.PoiseWarning")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.rst"))]
# By the examples of a page.
NEEDED = {"networks.rst": ["optax", "torch"], "programs.rst": ["Rscript", "pyarrow"]}
TOLERANT = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
WRITES = ("--save", "--summary", "--output")  # their files need not exist
CONSOLE = re.compile(
    r"^```console\n(.*?)^```|^\.\. code-block:: console\n\n((?:[ ]{3}[^\n]*\n)+)", re.M | re.S
)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[*map(needs, NEEDED.get(page.name, ()))]) for page in PAGES],
    ids=lambda page: page.name,
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.M)
    names, said = {"__name__": "__main__"}, []
    examples = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    result = doctest.DocTestRunner(optionflags=TOLERANT).run(examples, out=said.append)
    assert not result.failed, "".join(said)


def typed():
    """Yield every line that is typed, with its page."""
    for page in PAGES:
        for found in CONSOLE.finditer(page.read_text("utf-8")):
            for line in "".join(filter(None, found.groups())).replace("\\\n", " ").splitlines():
                if line.strip().startswith("$ "):
                    yield pytest.param(line.strip()[2:], id=f"{page.stem}: {line.strip()[2:]}")


@pytest.mark.parametrize("line", list(typed()))
def test_commands_exist(line):
    command, *words = shlex.split(line, comments=True)
    {"poise": check_poise, "pip": check_pip, "make": check_make}[command](words)


def check_poise(words):
    """Read the options as the command does, without running it."""
    context = click.Context(main, info_name="poise")
    name, command, rest = main.resolve_command(context, words)
    read = command.make_context(name, list(rest), parent=context, resilient_parsing=False)
    assert name == command.name
    read.close()
    written = {rest[k + 1] for k, word in enumerate(rest) if word in WRITES}
    named = [re.split(r":|\(", word)[0] for word in rest if word not in written]
    for file in (word for word in named if word.startswith(("examples/", "docs/"))):
        assert (ROOT / file).is_file(), f"{file} does not exist"


def check_pip(words):
    """Look for the extras of ``pip install '.[plot,data]'``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = re.search(r"\[(.*)\]", words[-1])
    assert words[0] == "install"
    assert set(extras[1].split(",") if extras else []) <= project["optional-dependencies"].keys()


def check_make(words):
    """Look for the targets."""
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert set(words) <= set(rules)


def test_files_that_are_linked_exist():
    of_rst, of_markdown = r"^\.\. (?:image|literalinclude):: (\S+)", r"\]\((?!https?:|#)([^)#\s]+)"
    for page in PAGES:
        pattern = of_rst if page.suffix == ".rst" else of_markdown
        links = re.findall(pattern, page.read_text("utf-8"), re.M)
        missing = [link for link in links if not (page.parent / link).exists()]
        assert not missing, f"{page.name} names {missing}"
    named = re.findall(r"`([\w/]+\.py)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert not [f for f in named if not any((r / f).exists() for r in (ROOT, ROOT / "src/poise"))]


def test_the_reference_can_be_written(tmp_path):
    runpy.run_path(str(ROOT / "docs/reference.py"))["write"](tmp_path / "generated")
    for page in ("commands", "settings", "theory"):
        assert (tmp_path / f"generated/{page}.rst").stat().st_size > 3_000, page


@pytest.mark.parametrize("page", sorted((ROOT / "docs/gallery").glob("*.py")), ids=lambda p: p.stem)
def test_the_gallery_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    runpy.run_path(str(page))


DRAWN = re.compile(r"plot:: pictures/guide\.py (\w+)")


@pytest.mark.parametrize(
    "name", [name for page in PAGES for name in DRAWN.findall(page.read_text())]
)
def test_the_pictures_of_the_guide_are_drawn(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    runpy.run_path(str(ROOT / "docs/pictures/guide.py"))[name]()
    assert plt.gcf().axes, name
    plt.close("all")


@needs("lightgbm")
@needs("xgboost")
@pytest.mark.parametrize("line", ["diabetes,lasso,20", "digits,5 neighbours,50"])
def test_the_atlas_can_be_measured_again(line):
    data, name, n = line.split(",")
    measured = runpy.run_path(str(ROOT / "benchmarks/atlas.py"))["measured"]
    again = ",".join(map(str, measured(data, name, int(n)).values()))
    assert again in (ROOT / "docs/atlas.csv").read_text("utf-8").splitlines()
