"""What starting costs: ``import poise`` beside ``import numpy``, and ``poise --help``.

    python benchmarks/startup.py [--rounds 15]

Each is timed in fresh processes, in turn, as the time beyond an empty interpreter; after
one round that is not counted, in which Python keeps what it has compiled.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "empty interpreter": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import poise": [sys.executable, "-c", "import poise"],
    "poise --help": [sys.executable, "-m", "poise", "--help"],
}


ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return time.perf_counter() - began


def main(rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(1 + rounds):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    times = {name: counted for name, (_, *counted) in times.items()}
    empty = statistics.median(times["empty interpreter"])
    numpy = statistics.median(times["import numpy"]) - empty
    for name in COMMANDS:
        median = statistics.median(times[name])
        beyond = median - empty
        print(f"{name:18} {1e3 * median:7.1f} ms   {beyond / numpy:5.2f} of import numpy")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    main(parser.parse_args().rounds)
