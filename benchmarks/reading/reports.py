"""What the benchmarks of reading reports share: files read again and again, ours and the peers' work by turns.

Rates are of wall time, and of CPU time, which a busy machine disturbs less; medians of the rounds, in one process and
in as many as there are CPUs.
"""

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from doctord.read.formats import read_file

Work = Callable[[Path], int]


def compare(about: str, files_are: str, peers: Mapping[str, Work]) -> None:
    """Take files from the command line, measure, and print a table.

    Args:
        about: What is measured.
        files_are: What the files are.
        peers: What else is done with a file, by what it is called.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("files", type=Path, nargs="+", help=files_are)
    parser.add_argument("--repeat", type=int, default=10, help="times that each file is read in a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    files = arguments.files * arguments.repeat
    size = sum(file.stat().st_size for file in files)
    rows = sum(read_rows(file) for file in arguments.files)
    print(f"{len(arguments.files)} files, {size / arguments.repeat / 1e6:.1f} MB, {rows:,} rows, {os.cpu_count()} CPUs")
    print("| processes | what | MB/s | reports/s | MB per second of CPU |\n|---|---|---|---|---|")
    for processes in (1, os.cpu_count() or 1):
        for what, (wall_s, cpu_s) in rates(files, processes, arguments.rounds, peers).items():
            rate = f"{size / wall_s / 1e6:.1f} | {len(files) / wall_s:.0f} | {size / cpu_s / 1e6:.1f}"
            print(f"| {processes} | {what} | {rate} |")


def rates(files: list[Path], processes: int, rounds: int, peers: Mapping[str, Work]) -> dict[str, tuple[float, float]]:
    """Median seconds of a round, by the clock and of CPU."""
    works = {"doctord, all rows": read_rows, **peers}
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


def cpu_of(work: Work, file: Path) -> float:
    """CPU seconds that a piece of work takes, in this process and in what it starts."""
    begin = _cpu_s()
    work(file)
    return _cpu_s() - begin


def _cpu_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def read_rows(file: Path) -> int:
    """Read a report; the number of its rows."""
    return sum(len(batch) for batch in read_file(file).batches)
