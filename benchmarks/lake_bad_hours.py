"""Whether a recorder keeps every row: thousands of hours in shortened time on a bad disk.

Each row is in the lake once, or told as a gap; a kill costs what was appended after the last good sync began.
"""

import argparse
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bad_hours import Hours, Outcome

LAKES = 8  # side by side: they wait for their disks nearly all the time


def main() -> None:
    """Run until so many hours were crossed, and print what became of the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crossings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    total, seed = Outcome(), options.seed
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, ThreadPoolExecutor(LAKES) as threads:
        while total.crossings < options.crossings:
            seeds = range(seed, seed + LAKES)
            for outcome in threads.map(lambda seed: one(Path(folder), seed), seeds):
                total = added(total, outcome)
            seed += LAKES
            print(f"{total.crossings} crossings", file=sys.stderr)
    print(f"| what | seeds {options.seed} to {seed - 1} |\n|---|---:|")
    for field in fields(Outcome):
        value = getattr(total, field.name)
        print(f"| {field.name.replace('_', ' ')} | {len(value) if isinstance(value, list) else value} |")
    print(f"Load at the end: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    sys.exit(bool(total.lost or total.doubled))


def one(folder: Path, seed: int) -> Outcome:
    """One lake, for half a minute."""
    place = folder / str(seed)
    place.mkdir()
    outcome = Hours(place, seed).run(30)
    if not outcome.lost and not outcome.doubled:
        shutil.rmtree(place)
    return outcome


def added(one: Outcome, other: Outcome) -> Outcome:
    """Two outcomes as one."""
    return Outcome(**{field.name: getattr(one, field.name) + getattr(other, field.name) for field in fields(Outcome)})


if __name__ == "__main__":
    main()
