"""How fast maps are built and drawn: LatencyGrid beside numpy.histogram2d and trace2heatmap.pl, in one run.

    .venv/bin/python benchmarks/map.py --trace2heatmap PATH

Pairs of time and latency of one hour, in order of time, from a fixed seed: two modes and a tail. LatencyGrid, on one
core, gets 100 million of them, the others what they take in reasonable time; the figure is pairs a second, median of
the rounds. trace2heatmap.pl (B. Gregg, HeatMap) is measured where its path is given. Then a frame of a terminal of 256
colours with 120 x 40 cells, half of them in each map, none like its neighbours, in CPU time, when one column is new.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from doctord._native import LatencyGrid
from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import Column, LatencyMap
from doctord.report.map.terminal import BESIDE_COLUMNS, BESIDE_ROWS, frame
from doctord.report.map.view import View

HOUR_US = 3600 * 10**6
COLUMN_US = 10 * 10**6
Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def main() -> None:
    """Measure, and print a table."""
    arguments = _arguments()
    times, latencies = _pairs(int(arguments.millions * 1e6))
    part = len(times) // 20
    contenders: dict[str, tuple[Callable[[Pairs], float], int]] = {
        "LatencyGrid, 10 s columns": (_grid, len(times)),
        "numpy.histogram2d, 360 x 40": (_histogram2d, part),
    }
    if arguments.trace2heatmap:
        contenders["trace2heatmap.pl"] = (lambda pairs: _perl(arguments.trace2heatmap, pairs), part // 20)
    print("| what | pairs | million pairs/s, median |\n|---|---|---|")
    for name, (build, number) in contenders.items():
        rates = [_rate(build, (times[:number], latencies[:number])) for _ in range(arguments.rounds)]
        print(f"| {name} | {number:,} | {statistics.median(rates):.2f} |", flush=True)
    print(f"\na frame of 120 x 40 cells: {_frame_ms(arguments.rounds):.2f} ms of CPU, median")


def _pairs(number: int) -> Pairs:
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, HOUR_US, number))
    latencies = random.lognormal(12.0, 0.4, number)
    slow = random.random(number) < 0.3
    latencies[slow] = random.lognormal(15.9, 0.3, int(slow.sum()))
    return times, latencies.astype(np.int64)


def _rate(build: Callable[[Pairs], float], pairs: Pairs) -> float:
    return len(pairs[0]) / build(pairs) / 1e6


def _grid(pairs: Pairs) -> float:
    """Seconds of CPU."""
    began = time.process_time()
    grid = LatencyGrid(COLUMN_US)
    grid.add(*pairs)
    cells = grid.cells()
    seconds = time.process_time() - began
    assert sum(cell[3] for cell in cells) == len(pairs[0])
    return seconds


def _histogram2d(pairs: Pairs) -> float:
    """Seconds of CPU."""
    edges = [np.arange(0, HOUR_US + 1, COLUMN_US), 2.0 ** np.arange(41)]
    began = time.process_time()
    np.histogram2d(*pairs, bins=edges)
    return time.process_time() - began


def _perl(script: Path, pairs: Pairs) -> float:
    """Seconds, without those in which its file is written."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.writelines(f"{at} {latency}\n" for at, latency in zip(pairs[0], pairs[1] // 1000, strict=True))
        file.flush()
        command = ["perl", script, "--unitstime=us", "--unitslabel=us", file.name]
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began


def _frame_ms(rounds: int) -> float:
    edges = [2.0 ** (step / 2) for step in range(40)]
    random = np.random.default_rng(2)

    def column(second: int) -> Column:
        counts = random.integers(0, 1000, 19)
        held = (Bucket(edges[n], edges[n + 1], int(count)) for n, count in enumerate(counts))
        return Column(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second), 1.0, Histogram.of(held))

    columns = [column(second) for second in range(120)]
    whole = Histogram.of(bucket for one in columns for bucket in (one.histogram or Histogram()).buckets)
    size, view, spent = (120 + BESIDE_COLUMNS, 40 + BESIDE_ROWS), View(rows=20), []
    for second in range(120, 120 + 20 * rounds):
        columns = [*columns[1:], column(second)]
        drawn = LatencyMap("reads", None, "h", "histogram", tuple(columns))
        began = time.process_time()
        frame(drawn, view, size, "256", whole=whole)
        spent.append((time.process_time() - began) * 1e3)
    return statistics.median(spent)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--millions", type=float, default=100, help="pairs for LatencyGrid, millions")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trace2heatmap", type=Path, help="the peer's script")
    return parser.parse_args()


if __name__ == "__main__":
    main()
