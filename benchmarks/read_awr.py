"""How fast AWR reports in HTML are read, every section, beside what lxml takes merely to parse the same files.

    .venv/bin/python -m pip install lxml
    .venv/bin/python benchmarks/read_awr.py /path/to/awr/*.html

The files are read again and again: from the file system to batches of rows, in one process and in as many as there are
CPUs. Rates are of wall time, and of CPU time, which a busy machine disturbs less; medians of the rounds.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from doctord.read.formats import read_file

try:
    from lxml import html
except ImportError:
    raise SystemExit("the peer is missing: .venv/bin/python -m pip install lxml") from None


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", help="AWR reports in HTML")
    parser.add_argument("--repeat", type=int, default=10, help="times that each file is read in a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    files = arguments.files * arguments.repeat
    size = sum(file.stat().st_size for file in files)
    rows = sum(read_rows(file) for file in arguments.files)
    print(f"{len(arguments.files)} files, {size / arguments.repeat / 1e6:.1f} MB, {rows:,} rows, {os.cpu_count()} CPUs")
    print("| processes | what | MB/s | reports/s | MB per second of CPU |\n|---|---|---|---|---|")
    for processes in (1, os.cpu_count() or 1):
        for what, (wall_s, cpu_s) in rates(files, processes, arguments.rounds).items():
            rate = f"{size / wall_s / 1e6:.1f} | {len(files) / wall_s:.0f} | {size / cpu_s / 1e6:.1f}"
            print(f"| {processes} | {what} | {rate} |")


def rates(files: list[Path], processes: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Median seconds of a round, by the clock and of CPU; ours and the peer's by turns."""
    works = {"doctord, all rows": read_rows, "lxml.html, parsed only": parse}
    seconds: dict[str, list[tuple[float, float]]] = {what: [] for what in works}
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(read_rows, files[:processes]))  # processes are started, modules loaded
        for _ in range(rounds):
            for what, work in works.items():
                begin = time.perf_counter()
                cpu_s = sum(pool.map(partial(cpu_of, work), files))
                seconds[what].append((time.perf_counter() - begin, cpu_s))
    return {
        what: (statistics.median(wall for wall, _ in found), statistics.median(cpu for _, cpu in found))
        for what, found in seconds.items()
    }


def cpu_of(work: Callable[[Path], int], file: Path) -> float:
    """CPU seconds that a piece of work takes."""
    begin = time.process_time()
    work(file)
    return time.process_time() - begin


def read_rows(file: Path) -> int:
    """Read a report; the number of its rows."""
    return sum(len(batch) for batch in read_file(file).batches)


def parse(file: Path) -> int:
    """Parse a report, and make nothing of it."""
    return len(html.fromstring(file.read_bytes()))


if __name__ == "__main__":
    main()
