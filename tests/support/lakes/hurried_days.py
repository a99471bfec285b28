"""A recorder of which each row is a minute of a time long past: what is sealed is summed up, and then goes.

`python hurried_days.py LAKE FIRST SYNC_S ROTATE_S START_S KEEP_DAYS`: like hurried_recorder.py; the row NUMBER is of
`cpu`, at START_S since the epoch and NUMBER minutes, and kept for so many days.
"""

import logging
import sys
from datetime import timedelta
from pathlib import Path

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.lake.maintenance import Maintenance
from doctord.lake.retention import Retention
from hurried_recorder import ToldWriter, record

MINUTE_US = 60_000_000


def value_of(number: int) -> float:
    """A percentage that differs from row to row: an hour with another row in place of one has another sum."""
    return float(number * 7919 % 101)


def main() -> None:
    lake, first, sync_s, rotate_s, start_s, keep_days = sys.argv[1:]

    def minute(number: int, _: int) -> Batch:
        ts = int(start_s) * 1_000_000 + number * MINUTE_US
        return rows("cpu", [{"ts": ts, "interval_s": 60.0, "host": "h", "usr_pct": value_of(number), "sys_pct": 0.0}])

    logging.basicConfig(level=logging.ERROR)
    sums = [sys.executable, "-m", "doctord.app.roll_up", lake, "7948800"]
    maintenance = Maintenance(Retention(keep=timedelta(days=int(keep_days))), sums)
    writer = ToldWriter(Path(lake), sync_s=float(sync_s), rotate_s=float(rotate_s), maintenance=maintenance)
    record(writer, minute, int(first), maintenance.stop)


if __name__ == "__main__":
    main()
