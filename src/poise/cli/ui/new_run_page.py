"""The page that starts a run: rows, algorithm, question, preflight, start."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, fields
from typing import Self

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from poise.cli.ui.data_files import algorithm_files, columns_of, names_in, tables
from poise.cli.ui.estimators import estimators, parameters
from poise.cli.ui.file_kind import FileKind
from poise.cli.ui.site import Site, pieces
from poise.errors import ArgumentError, PoiseError
from poise.questions.plan import plan

__all__ = [
    "NewRun",
    "choices",
    "new_run_page",
    "preflight",
    "resume",
    "start",
    "started",
    "stop",
]

_PARAMETER = "param:"  # before the names of the algorithm's parameters in the form


@dataclass(frozen=True)
class NewRun:
    """What the form holds: each is a word of the command line.

    Attributes
    ----------
    data, target, algorithm : str
        The file of the rows, the column of the responses, and PLACE:NAME.
    n, epsilon, delta, alpha : str
        The question; the command line checks it.
    name, seed, jobs, drop : str
        The journal, and settings that may be empty; columns to drop have commas between them.
    parameters : tuple of str
        NAME=VALUE of the algorithm.
    """

    data: str
    target: str
    algorithm: str
    n: str
    epsilon: str
    delta: str
    alpha: str = ""
    name: str = ""
    seed: str = ""
    jobs: str = ""
    drop: str = ""
    parameters: tuple[str, ...] = ()

    @classmethod
    def read(cls, content: object) -> Self:
        """Read the form; refuse what is missing or no text."""
        if not isinstance(content, dict):
            raise ArgumentError("the form must be an object of texts")
        texts = {str(key): value for key, value in content.items() if isinstance(value, str)}
        known = {each.name for each in fields(cls)} - {"parameters"}
        given = {name: texts.get(name, "").strip() for name in known}
        for name in ("data", "target", "algorithm", "n", "epsilon", "delta"):
            if not given[name]:
                raise ArgumentError(f"{name} is missing")
        chosen = [
            f"{key.removeprefix(_PARAMETER)}={value.strip()}"
            for key, value in texts.items()
            if key.startswith(_PARAMETER) and value.strip()
        ]
        return cls(**given, parameters=tuple(chosen))

    def checked(self, site: Site) -> Self:
        """Refuse a file that is not in the folder, and an algorithm from anywhere else."""
        if self.data not in tables(site.folder):
            raise ArgumentError(f"data must be a file with rows in the folder, got {self.data!r}")
        source, _, _ = self.algorithm.rpartition(":")
        if self.algorithm not in estimators() and source not in algorithm_files(site.folder):
            raise ArgumentError(
                f"algorithm must be an estimator of scikit-learn or in a Python file of the "
                f"folder, got {self.algorithm!r}"
            )
        return self

    def rows_and_algorithm(self) -> list[str]:
        """Return the words that name rows and algorithm.

        Examples
        --------
        >>> run = NewRun("a.csv", "y", "sklearn.linear_model:Ridge", "20", "1", "0.1")
        >>> run.rows_and_algorithm()
        ['--target=y', '--algorithm=sklearn.linear_model:Ridge', '--n=20', '--', './a.csv']
        """
        words = [f"--target={self.target}", f"--algorithm={self.algorithm}"]
        words += [f"--param={pair}" for pair in self.parameters]
        words += [f"--drop={name.strip()}" for name in self.drop.split(",") if name.strip()]
        words += [f"--seed={self.seed}"] if self.seed else []
        return [*words, f"--n={self.n}", "--", f"./{self.data}"]

    def test(self, journal: str) -> list[str]:
        """Return the words of `poise test` with this journal."""
        asked = [f"--epsilon={self.epsilon}", f"--delta={self.delta}"]
        asked += [f"--alpha={self.alpha}"] if self.alpha else []
        asked += [f"--jobs={self.jobs}"] if self.jobs else []
        return ["test", *asked, f"--journal={journal}", *self.rows_and_algorithm()]

    def default_name(self) -> str:
        """Return a name for the journal that says what it is, and when it was begun."""
        algorithm = self.algorithm.rpartition(":")[2]
        return f"{algorithm}-n{self.n}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"


def new_run_page(site: Site, request: Request) -> Response:
    """Show the form."""
    return site.page(
        request,
        "new.html",
        data=sorted(tables(site.folder)),
        places=sorted(estimators(), key=lambda place: place.rpartition(":")[2].lower()),
        files=sorted(algorithm_files(site.folder)),
    )


def choices(site: Site, request: Request) -> Response:
    """Return what depends on a choice: columns of a file, names in it, or parameters."""
    what, chosen = request.path_params["what"], request.query_params.get("of", "")
    if what == "columns":
        known = tables(site.folder)
        if chosen not in known:
            raise ArgumentError(f"there is no file {chosen!r} with rows in the folder")
        names, rows = columns_of(known[chosen])
        said = f"{rows:,} rows, {len(names):,} columns"
        return JSONResponse({"names": names, "said": said, "rows": rows})
    if what == "names":
        files = algorithm_files(site.folder)
        if chosen not in files:
            raise ArgumentError(f"there is no Python file {chosen!r} in the folder")
        return JSONResponse({"names": names_in(files[chosen])})
    return pieces(parameters=site.render("parameters.html", parameters=parameters(chosen)))


async def _form(site: Site, request: Request) -> NewRun:
    try:
        content = await request.json()
    except ValueError:
        raise ArgumentError("the form must be JSON") from None
    return await run_in_threadpool(NewRun.read(content).checked, site)


async def preflight(site: Site, request: Request) -> Response:
    """Check the algorithm on these rows, and say what the question needs."""
    run = await _form(site, request)
    _, rows = await run_in_threadpool(columns_of, tables(site.folder)[run.data])
    words = ["check", *run.rows_and_algorithm()]
    status, printed = await run_in_threadpool(site.started.preflight, words)
    content = {"plan": _planned(run, rows), "ok": status == 0, "printed": printed}
    command = shlex.join(["poise", *run.test(run.name or run.default_name())])
    return pieces(preflight=site.render("preflight.html", **content, command=command))


def _planned(run: NewRun, rows: int) -> list[str]:
    """Say what is known before the first fit: trials, and whether "stable" is in reach."""
    try:
        numbers = {"delta": float(run.delta), "alpha": float(run.alpha or 0.05)}
        return plan(n_labeled=rows, n=int(run.n), **numbers).summary().splitlines()  # type: ignore[arg-type]
    except (PoiseError, ValueError) as error:
        return [str(error)]


async def start(site: Site, request: Request) -> Response:
    """Start the run, which from now on needs neither the page nor the server."""
    run = await _form(site, request)
    journal = site.started.journal_name(run.name or run.default_name())
    await run_in_threadpool(site.started.start, journal, run.test(journal))
    return JSONResponse({"location": f"/started/{journal}"})


def started(site: Site, request: Request) -> Response:
    """Show a run that was just started: first what it prints, then its journal."""
    journal = request.path_params["journal"]
    found = (line for line in site.index.lines() if line.file.name == journal)
    line = next(found, None)
    alive = site.started.process(journal) is not None
    content = {"journal": journal, "line": line, "alive": alive}
    return site.page(request, "started.html", **content, said=site.started.said(journal))


def stop(site: Site, request: Request) -> Response:
    """Stop a run; its journal keeps what was measured."""
    site.started.stop(site.line(request).file.name)
    return JSONResponse({"said": "Stopping."})


def resume(site: Site, request: Request) -> Response:
    """Resume a run with the command in its journal, which the page has shown."""
    line = site.line(request)
    opened = site.opened(line)
    if line.kind != FileKind.JOURNAL or not opened.command or line.running:
        raise ArgumentError("only a run of the command line that has stopped can be resumed")
    site.started.resume(line.file.name, line.file.path)
    return JSONResponse({"said": "Resumed."})
