"""A recorder whose hours are short: rows from two threads, each of which is told on standard output.

`python hurried_recorder.py LAKE FIRST SYNC_S ROTATE_S`: numbers from FIRST on become rows of `statistic`. It prints
`a NUMBER TS_US` after a row was appended, `s TS_US` after a sync without a fault: rows appended before are on disk.
"""

import itertools
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows
from doctord.lake.retention import Retention
from doctord.lake.writer import LakeWriter

PACE_S = 0.004


class ToldWriter(LakeWriter):
    def sync(self) -> None:
        started = now_us()
        super().sync()
        if not self.is_failing:
            tell(f"s {started}\n")


def tell(line: str) -> None:
    os.write(1, line.encode())  # one write, so that lines of threads do not mix, nor get lost in a buffer


def numbered(number: int, ts: int) -> Batch:
    return rows("statistic", [{"ts": ts, "host": "h", "name": "n", "value": float(number)}])


def append(
    writer: LakeWriter, row: Callable[[int, int], Batch], numbers: "itertools.count[int]", stop: threading.Event
) -> None:
    while not stop.wait(PACE_S):
        number, ts = next(numbers), now_us()
        writer.append(row(number, ts))
        tell(f"a {number} {ts}\n")


def record(
    writer: LakeWriter, row: Callable[[int, int], Batch], first: int, at_end: Callable[[], None] = lambda: None
) -> None:
    """Append rows until told to stop; then do what is to be done before the writer is closed."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    numbers = itertools.count(first)
    with writer:
        threads = [threading.Thread(target=append, args=(writer, row, numbers, stop)) for _ in range(2)]
        for thread in threads:
            thread.start()
        stop.wait()
        for thread in threads:
            thread.join()
        at_end()


def main(lake: str, first: str, sync_s: str, rotate_s: str) -> None:
    logging.basicConfig(level=logging.ERROR)
    writer = ToldWriter(Path(lake), sync_s=float(sync_s), rotate_s=float(rotate_s), maintenance=Retention())
    record(writer, numbered, int(first))


if __name__ == "__main__":
    main(*sys.argv[1:])
