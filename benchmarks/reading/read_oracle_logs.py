"""How fast Oracle's SQL traces and logs are read, beside what takes only their lines apart.

    .venv/bin/python benchmarks/reading/read_oracle_logs.py TRACE.trc alert_SID.log listener.log

Each file is repeated to a size worth measuring. From the file system to batches of rows, in one process; beside it a
plain loop in Python that splits each line into words, and `wc`, which counts them. Rates are of wall time, medians of
the rounds, ours and theirs by turns.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from doctord.read.formats import read_file


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", help="10046 traces, alert logs, listener logs")
    parser.add_argument("--megabytes", type=float, default=50.0, help="size to which each file is repeated")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print("| file | what | MB/s | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for file in arguments.files:
            large = repeated(file, Path(folder), arguments.megabytes)
            rates = measured(large, arguments.rounds)
            for what, rate in rates.items():
                print(f"| {file.name} | {what} | {rate:.1f} | {rates['doctord, all rows'] / rate:.2f} |")


def repeated(file: Path, folder: Path, megabytes: float) -> Path:
    """The file as often as it takes to be so large."""
    content = file.read_bytes()
    large = folder / file.name
    large.write_bytes(content * max(1, round(megabytes * 1e6 / len(content))))
    return large


def measured(file: Path, rounds: int) -> dict[str, float]:
    """Median MB/s of each way to go through the file."""
    works: dict[str, Callable[[Path], object]] = {
        "doctord, all rows": read_file,
        "Python, lines split": split_lines,
        "wc": count_words,
    }
    seconds: dict[str, list[float]] = {what: [] for what in works}
    for _ in range(rounds):
        for what, work in works.items():
            begin = time.perf_counter()
            work(file)
            seconds[what].append(time.perf_counter() - begin)
    return {what: file.stat().st_size / statistics.median(found) / 1e6 for what, found in seconds.items()}


def split_lines(file: Path) -> int:
    """Words of the file, by a loop over its lines."""
    with file.open(errors="replace") as lines:
        return sum(len(line.split()) for line in lines)


def count_words(file: Path) -> str:
    """Words of the file, as wc counts them."""
    return subprocess.run(["wc", "-w", file], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
