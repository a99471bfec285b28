"""How long `doctord diagnose --find` takes for a recorded day, and a signature against a thousand incidents.

The lake is that of study_days.py, with those tables alone that the search reads: a minute of a private server under
twenty clients, repeated through two days with noise. The search is of the second day.

    .venv/bin/python benchmarks/incidents/day.py [--lake FOLDER] [--runs 5]

Needs root, as the lab's servers do.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from study_days import DOCTORD, place, recorded_minute, repeat

from doctord.analyse.incidents.figures import NEEDS, figures_of
from doctord.analyse.incidents.likeness import likeness
from doctord.analyse.incidents.signature import Change, signature_of
from doctord.app.incidents.find import A_DAY
from doctord.app.source import Recorded
from doctord.dataset.dataset import Dataset

KEPT = 1000


def main() -> None:
    """Make the lake where it is not there, then search it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lake", type=Path, help="where it is, or is to be kept")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with place(arguments.lake) as lake:
        if not lake.exists():
            minute = recorded_minute(0)
            repeat(Dataset({name: minute.tables[name] for name in minute.tables if name in NEEDS}), lake)
        took = [timed(lake) for _ in range(arguments.runs)]
        print(f"search of a day: median {statistics.median(took):.1f} s ({min(took):.1f} to {max(took):.1f})")
        took = list(compared(lake, arguments.runs))
        print(f"a signature against {KEPT} incidents: median {statistics.median(took) * 1e3:.0f} ms")
        print(f"load average before: {os.getloadavg()[0]:.2f}")


def timed(lake: Path) -> float:
    """One search, with the start of the program."""
    began = time.monotonic()
    done = subprocess.run([DOCTORD, "diagnose", "--find", "--lake", lake], capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    print(done.stdout.partition("\n")[0], file=sys.stderr)
    return time.monotonic() - began


def compared(lake: Path, runs: int) -> list[float]:
    """Likeness of the lake's last hours to a thousand incidents of as many figures."""
    source = Recorded(lake)
    figures = figures_of(source.seen(source.newest(A_DAY / 12), where=NEEDS).dataset)
    assert figures
    own = signature_of(figures, figures.steps // 2, figures.steps)
    library = [
        {name: Change(change.higher * (number + 1) / KEPT, change.log_ratio) for name, change in own.items()}
        for number in range(KEPT)
    ]
    took = []
    for _ in range(runs):
        began = time.monotonic()
        likeness(own, library)
        took.append(time.monotonic() - began)
    return took


if __name__ == "__main__":
    main()
