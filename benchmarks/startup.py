"""What starting costs, and how much of poise the README's first call enters.

    python benchmarks/startup.py [--rounds 15]

Times are of fresh processes, in turn, beyond an empty interpreter. The second table counts modules
imported, files entered and own frames above ``fit``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from side_by_side import table

COMMANDS = {
    "empty interpreter": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import poise": ["-c", "import poise"],
    "poise --help": ["-m", "poise", "--help"],
}


def seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def starts(rounds: int) -> list[list[str]]:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(1 + rounds):  # in the first, Python keeps what it has compiled
        for name, arguments in COMMANDS.items():
            times[name].append(seconds(arguments))
    median = {name: statistics.median(taken[1:]) for name, taken in times.items()}
    empty = median["empty interpreter"]
    numpy = median["import numpy"] - empty
    return [
        [name, f"{1e3 * median[name]:.0f} ms", f"{(median[name] - empty) / numpy:.2f}"]
        for name in COMMANDS
    ]


def first_call() -> list[list[str]]:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Lasso

    import poise

    home = str(Path(poise.__file__).parent)
    files: set[str] = set()
    frames: list[int] = []

    class Watched(Lasso):
        def fit(self, *given: object) -> object:
            frame, own = sys._getframe(1), 0
            while frame is not None:
                own += frame.f_code.co_filename.startswith(home)
                frame = frame.f_back
            frames.append(own)
            return super().fit(*given)

    def entered(frame, event, argument):
        name = frame.f_code.co_filename
        if name.startswith(home) and frame.f_code.co_name != "<module>":
            files.add(name)

    X, y = load_diabetes(return_X_y=True)
    question = {"n": 10, "epsilon": 25, "delta": 0.2}
    str(poise.stability_test(Lasso(), X, y, **question))  # bodies of classes are imports
    sys.setprofile(entered)
    print(poise.stability_test(Watched(), X, y, **question))
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.split(".")[0] == "poise"]
    return [
        ["modules imported", str(len(modules))],
        ["files entered", str(len(files))],
        ["own frames above fit", str(statistics.mode(frames))],
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    print(table(["", "time", "over numpy"], starts(parser.parse_args().rounds)), end="\n\n")
    print(table(["stability_test and its text", ""], first_call()))
