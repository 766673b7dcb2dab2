"""Damaged files of every format: nothing but a valid object or an error of poise comes out.

    python benchmarks/fuzz.py [--inputs 1000000] [--seed 0] [--only FORMAT] [--examples FOLDER]

Undamaged samples of every format are damaged in one or a few places: flipped, cut, repeated and
inserted bytes; a value of a JSON text replaced by one of another type, a huge number, a deep
list; an array of another type or shape; checksums that fit the damage. Each is read, and what
comes out is described, written, and asked questions. Printed per format: how many inputs gave a
valid object, how many an error of poise, how many anything else, and the slowest. The exit
status is 1 if there was anything else.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from shared.fuzzing.formats import formats
from shared.fuzzing.outcomes import Tally, fuzzed


def main() -> int:
    """Print a line per format; return 1 if anything but a valid object or an error came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one format")
    parser.add_argument("--examples", type=Path, help="where to keep raw errors and slow ones")
    asked = parser.parse_args()
    kinds = [kind for name, kind in formats().items() if asked.only in (None, name)]
    print(
        "| format | inputs | accepted | refused | raw errors | slowest |\n|---|---|---|---|---|---|"
    )
    raw = 0
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            tally = fuzzed(kind, asked.inputs // len(kinds), asked.seed, Path(folder))
        _tell(kind.name, tally, asked.examples)
        raw += tally.raw.total()
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(f"\n{seconds:.0f} s of CPU, at most {megabytes:.0f} MB of memory")
    return min(raw, 1)


def _tell(name: str, tally: Tally, kept: Path | None) -> None:
    counts = f"{tally.inputs:,} | {tally.accepted:,} | {tally.refused:,} | {tally.raw.total():,}"
    print(f"| {name} | {counts} | {tally.slowest:.2f} s |", flush=True)
    for error, times in tally.raw.most_common():
        print(f"  {times:,} times {error}", file=sys.stderr)
        code = hashlib.sha256(error.encode()).hexdigest()[:8]
        _keep(kept, f"{name} {code}", tally.examples[error])
    _keep(kept, f"{name} slowest", tally.slow)


def _keep(folder: Path | None, name: str, content: bytes) -> None:
    if folder is not None:
        folder.mkdir(exist_ok=True)
        (folder / name.replace(" ", "-")).write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
