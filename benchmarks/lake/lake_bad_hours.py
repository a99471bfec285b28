"""Whether a recorder keeps every row: thousands of hours in shortened time on a bad disk.

Each row is in the lake once, or told as a gap; a kill costs what was appended after the last good sync began. With
--days rows are summed up and deleted as well, and the sums must know each once.
"""

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "lakes"))

from bad_days import Days, Sums
from bad_hours import Hours, Outcome, side_by_side

Result = TypeVar("Result", Outcome, Sums)
LAKES = 8  # side by side: they wait for their disks nearly all the time


def main() -> None:
    """Run until so many hours were crossed, and print what became of the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crossings", type=int, default=1000)
    parser.add_argument("--days", action="store_true", help="sums and retention; the crossings are of simulated hours")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    total, seed = Sums() if options.days else Outcome(), options.seed
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        while total.crossings < options.crossings:
            seeds = range(seed, seed + LAKES)
            for outcome in side_by_side(Path(folder), seeds, partial(one, days=options.days)):
                total = added(total, outcome)
            seed += LAKES
            print(f"{total.crossings} crossings", file=sys.stderr)
    print(f"| what | seeds {options.seed} to {seed - 1} |\n|---|---:|")
    for field in fields(total):
        value = getattr(total, field.name)
        print(f"| {field.name.replace('_', ' ')} | {len(value) if isinstance(value, list) else value} |")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    sys.exit(total.is_bad)


def one(place: Path, seed: int, *, days: bool) -> Outcome | Sums:
    """One lake, for half a minute."""
    outcome = Days(place, seed).sums(30) if days else Hours(place, seed).run(30)
    if not outcome.is_bad:
        shutil.rmtree(place)
    return outcome


def added(one: Result, other: Result) -> Result:
    """Two outcomes as one."""
    return type(one)(**{field.name: getattr(one, field.name) + getattr(other, field.name) for field in fields(one)})


if __name__ == "__main__":
    main()
