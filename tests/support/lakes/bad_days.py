"""Days of a recorder in shortened time on a bad disk: each hour is sealed and summed up, and most are then deleted.

Recorder and sums are killed, disks are full and slow, the lake is moved away, at random. Afterwards the sums must know
each row that was appended once. Of an hour of which a kill or a gap may have cost rows, there must be none too many.
"""

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bad_hours import Hours, is_told
from doctord.dataset.figure import own_figures
from doctord.lake.history import History
from doctord.lake.maintenance import Maintenance
from doctord.lake.place import LakePaths
from doctord.lake.query import Lake
from doctord.lake.retention import Retention
from hurried_days import value_of

_DAYS = timedelta(days=60)
_HOUR = 60  # rows


@dataclass
class Sums:
    """What became of the hours of a run."""

    rows: int = 0
    rows_deleted: int = 0
    hours: int = 0
    hours_with_a_kill_or_gap: int = 0
    kills: int = 0
    kills_of_sums: int = 0
    full_disks: int = 0
    vanished: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def crossings(self) -> int:
        """Simulated hours that were begun."""
        return self.hours

    @property
    def is_bad(self) -> bool:
        """Whether the sums of an hour are not those of its rows."""
        return bool(self.wrong)


class Days(Hours):
    """One run: a recorder whose rows are of long ago, so that they are deleted as soon as they are summed up."""

    recorder = "hurried_days.py"
    moved_away = (".",)  # the sums know of rows in `sealed`, which elsewhere would count again

    def __init__(self, folder: Path, seed: int) -> None:
        """Prepare a run in an empty folder."""
        super().__init__(folder, seed, slowest_ms=300)
        start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - _DAYS
        self._start_s = int(start.timestamp())
        self._arguments += [str(self._start_s), ""]
        self._kills_of_sums = 0

    def _befall_more(self) -> None:
        """Kill a process that sums up, where there is one."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if b"doctord.app.roll_up" in words and str(self._lake).encode() in words:
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    self._kills_of_sums += 1

    def sums(self, seconds: float) -> Sums:
        """Record for so long, and look for every row in the sums."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._arguments[-1] = self._chance.choice(["7", "59"])
            self._record(min(self._chance.uniform(1, 6), max(1.0, end - time.monotonic())), is_last=False)
        self._record(3.0, is_last=True)
        for _ in range(2):  # the second must find nothing that is not known
            self._roll_up_and_delete()
        return self._judged_sums()

    def _roll_up_and_delete(self) -> None:
        """What is sealed, without faults: on a busy machine no recorder may have lived for long enough."""
        sums = [sys.executable, "-m", "doctord.app.roll_up", str(self._lake), "7948800"]
        subprocess.run(sums, check=True, capture_output=True, timeout=600)
        Maintenance(Retention(keep=timedelta(days=7)), sums)(LakePaths(self._lake))

    def _judged_sums(self) -> Sums:
        told = self.outcome
        sums = Sums(
            len(self._appended),
            kills=told.kills,
            kills_of_sums=self._kills_of_sums,
            full_disks=told.full_disks,
            vanished=told.vanished,
        )
        gaps, found = self._gaps(), self._found()
        appended, doubtful = defaultdict[int, list[int]](list), set[int]()
        for number, ts in self._appended.items():
            hour = -(-number // _HOUR)  # a row at a full hour is of the hour that ends then
            appended[hour].append(number)
            if is_told(ts, gaps) or self._is_excused(ts):
                doubtful.add(hour)
        sums.hours, sums.hours_with_a_kill_or_gap = len(appended), len(doubtful)
        for hour in sorted({*appended, *found}):
            numbers, (count, total) = appended[hour], found.get(hour, (0, 0.0))
            expected = sum(map(value_of, numbers))
            is_whole = count == len(numbers) and abs(total - expected) < 0.01
            if not is_whole and (hour not in doubtful or count > len(numbers) or total > expected + 0.01):
                sums.wrong.append(f"hour {hour}: {count} rows, sum {total:.1f}, not {len(numbers)}, {expected:.1f}")
        raw = sum(_rows(lake) for lake in self._lakes())
        sums.rows_deleted = sum(count for count, _ in found.values()) - raw
        return sums

    def _lakes(self) -> list[Path]:
        return [self._lake, *self._moved]

    def _found(self) -> dict[int, tuple[int, float]]:
        """Number and sum of the rows of each hour, in all lakes together."""
        found = dict[int, tuple[int, float]]()
        for lake in self._lakes():
            history = History(Lake(lake), own_figures())
            start = datetime.fromtimestamp(self._start_s, UTC)
            steps = history.steps(start - timedelta(hours=1), datetime.now(UTC), ["count", "value"])
            for counts, means in zip(steps.sums["count"], steps.sums["value"], strict=True):
                for place in np.flatnonzero(counts > 0):
                    hour = int((steps.start.timestamp() - self._start_s) // 3600 + place)
                    count, total = found.get(hour, (0, 0.0))
                    found[hour] = (count + int(counts[place]), total + float(counts[place] * means[place]))
        return found


def _rows(lake: Path) -> int:
    if not LakePaths(lake).parquet("cpu") and not any(LakePaths(lake).segments()):
        return 0
    with Lake(lake).connect(["cpu"]) as connection:
        return int(connection.execute("SELECT count(*) FROM cpu").fetchall()[0][0])
