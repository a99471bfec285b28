"""How fast AWR and Statspack reports in text are read, every section, beside a plain loop that only splits the lines.

    .venv/bin/python benchmarks/read_oracle_text.py /path/to/awr_*.txt /path/to/sp_*.txt

The files are read again and again: from the file system to batches of rows, in one process and in as many as there are
CPUs. Beside it: only the tables (native), and what Python takes to split each line into words and wc to count them.
Rates are of wall time, and of CPU time, which a busy machine disturbs less; medians of the rounds.
"""

import argparse
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from doctord._native import text_tables
from doctord.read.formats import read_file
from doctord.read.oracle.text_report import KNOWN


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", help="AWR or Statspack reports in text")
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
    """Median seconds of a round, by the clock and of CPU; ours and the peers by turns."""
    works: dict[str, Callable[[Path], int]] = {
        "doctord, all rows": read_rows,
        "doctord, tables only": tables,
        "Python, lines split": split_lines,
        "wc": count_words,
    }
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


def tables(file: Path) -> int:
    """Find the tables of a report, and make nothing of them."""
    return len(text_tables(file.read_bytes(), KNOWN))


def split_lines(file: Path) -> int:
    """What a script of a few lines begins with: the words of each line."""
    return sum(len(line.split()) for line in file.read_text(errors="replace").splitlines())


def count_words(file: Path) -> int:
    """Count lines, words and bytes."""
    return len(subprocess.run(["wc", file], check=True, capture_output=True).stdout)


if __name__ == "__main__":
    main()
