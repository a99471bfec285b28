"""Hours of a recorder in shortened time on a bad disk: slow syncs, full disks, kills, folders that vanish, at random.

Afterwards every row must be in the lake once, or be told as a gap; but for what a kill may cost, which is what was
appended after the last good sync began, and for what lies in the folders that were moved away.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from doctord.lake.place import LakePaths
from doctord.lake.query import Lake

Result = TypeVar("Result")

_HERE = Path(__file__).parent
_SLACK_US = 20_000  # between a row's own time and its being appended


def bad_disk(folder: Path) -> Path:
    """The library to be preloaded, compiled; a FileNotFoundError without a C compiler."""
    library = folder / "bad_disk.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, _HERE / "bad_disk.c", "-ldl"]
        subprocess.run(command, check=True)
    return library


@dataclass
class Outcome:
    """What became of the rows of a run."""

    rows: int = 0
    crossings: int = 0
    kills: int = 0
    full_disks: int = 0
    vanished: int = 0
    in_lake: int = 0
    in_moved: int = 0
    in_gaps: int = 0
    after_last_sync: int = 0
    doubled: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        """Whether a row is gone without a word, or there twice."""
        return bool(self.lost or self.doubled)


class Hours:
    """One run: a recorder that is started again after each kill, and what befalls it."""

    recorder = "hurried_recorder.py"
    moved_away = (".", "open", "sealed")

    def __init__(
        self, folder: Path, seed: int, *, slowest_ms: int = 1000, sync_s: float = 0.05, rotate_s: float = 0.25
    ) -> None:
        """Prepare a run in an empty folder."""
        self._lake, self._folder = folder / "lake", folder
        self._full = folder / "full"
        self._chance = random.Random(seed)  # noqa: S311 - a simulation
        self._arguments = [str(sync_s), str(rotate_s)]
        self._environment = os.environ | {
            "LD_PRELOAD": str(bad_disk(folder)),
            "BAD_DISK_MS": str(slowest_ms),
            "BAD_DISK_FULL": str(self._full),
        }
        self._appended: dict[int, int] = {}  # time of each row
        self._excused: list[tuple[int, int]] = []  # times between which a kill may have cost rows
        self._synced = 0
        self._moved: list[Path] = []
        self.outcome = Outcome()

    def run(self, seconds: float) -> Outcome:
        """Record for so long, and look for every row."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._record(min(self._chance.uniform(0.2, 8), max(0.5, end - time.monotonic())), is_last=False)
        self._record(1.0, is_last=True)
        return self._judged()

    def _record(self, seconds: float, *, is_last: bool) -> None:
        """One life of the recorder: so many seconds from its first row on."""
        self._full.unlink(missing_ok=True)
        first = max(self._appended, default=-1) + 1000
        script = [sys.executable, _HERE / self.recorder, self._lake, str(first), *self._arguments]
        with subprocess.Popen(
            script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment
        ) as child:
            is_recording = threading.Event()
            listener = threading.Thread(target=self._listen, args=(child, is_recording))
            listener.start()
            is_killed = True  # where something fails here
            try:
                is_recording.wait(120)
                self._befall(time.monotonic() + seconds, is_last=is_last)
                self._full.unlink(missing_ok=True) if is_last else None
                is_killed = not is_last and self._chance.random() < 0.7
            finally:
                child.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
            child.wait(120)
            listener.join()
        is_dirty = is_killed or self._full.exists()  # a disk that is full at the end leaves nobody to tell the gap
        if is_dirty:
            self.outcome.kills += is_killed
            self._excused.append((self._synced, time.time_ns() // 1000))

    def _listen(self, child: "subprocess.Popen[bytes]", is_recording: threading.Event) -> None:
        assert child.stdout
        for line in child.stdout:
            match line.split():
                case [b"a", number, ts]:
                    self._appended[int(number)] = int(ts)
                    is_recording.set()
                case [b"s", ts]:
                    self._synced = int(ts)
        is_recording.set()  # nothing more will come

    def _befall(self, end: float, *, is_last: bool) -> None:
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, self._chance.uniform(0.2, 2)))
            deed = self._chance.random()
            if is_last:
                continue
            if self._full.exists():
                self._full.unlink()
            elif deed < 0.25:
                self._full.touch()
                self.outcome.full_disks += 1
            elif deed < 0.35:
                self._move_away(self._lake / self._chance.choice(self.moved_away))
            else:
                self._befall_more()

    def _befall_more(self) -> None:
        """What else happens now and then."""

    def _move_away(self, victim: Path) -> None:
        target = self._folder / f"moved_{self.outcome.vanished}" / victim.relative_to(self._folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            victim.rename(target)
        except FileNotFoundError:
            target.parent.rmdir()
            return
        self.outcome.vanished += 1
        lake = target.parent if victim != self._lake else target
        if (lake / "open").is_dir() or (lake / "sealed").is_dir():  # else it was just being made
            self._moved.append(lake)

    def _judged(self) -> Outcome:
        outcome = self.outcome
        outcome.rows = len(self._appended)
        found = _numbers(self._lake)
        moved = Counter[int]()
        for lake in self._moved:
            moved += _numbers(lake)
        gaps = self._gaps()
        outcome.crossings = sum(len(_stems(lake)) for lake in (self._lake, *self._moved))
        outcome.doubled = [number for number, count in found.items() if count > 1]
        for number, ts in self._appended.items():
            if number in found:
                outcome.in_lake += 1
            elif number in moved:
                outcome.in_moved += 1
            elif is_told(ts, gaps):
                outcome.in_gaps += 1
            elif self._is_excused(ts):
                outcome.after_last_sync += 1
            else:
                outcome.lost.append(number)
        return outcome

    def _gaps(self) -> list[tuple[int, int]]:
        """Begin and end, in microseconds, of what was told as a gap."""
        return [gap for lake in (self._lake, *self._moved) for gap in _gaps(lake)]

    def _is_excused(self, ts: int) -> bool:
        return any(begin - _SLACK_US <= ts <= end for begin, end in self._excused)


def side_by_side(folder: Path, seeds: Iterable[int], run: Callable[[Path, int], Result]) -> list[Result]:
    """What came of a run for each seed, in a folder each, at the same time: they mostly wait for their disks."""
    folders = {seed: folder / str(seed) for seed in seeds}
    for place in folders.values():
        place.mkdir()
    with ThreadPoolExecutor(len(folders)) as threads:
        return list(threads.map(run, folders.values(), folders))


def is_told(ts: int, gaps: list[tuple[int, int]]) -> bool:
    """Whether a moment lies in a gap."""
    return any(begin - _SLACK_US <= ts <= end + _SLACK_US for begin, end in gaps)


def _stems(lake: Path) -> set[str]:
    place = LakePaths(lake)
    return {path.stem for path in (*place.parquet("statistic"), *place.segments())}


def _numbers(lake: Path) -> Counter[int]:
    with Lake(lake).connect(["statistic"]) as connection:
        return Counter(int(value) for (value,) in connection.execute("SELECT value FROM statistic").fetchall())


def _gaps(lake: Path) -> list[tuple[int, int]]:
    query = "SELECT epoch_us(ts), interval_s FROM event WHERE kind = 'gap'"
    with Lake(lake).connect(["event"]) as connection:
        return [(ts - round(seconds * 1e6), ts) for ts, seconds in connection.execute(query).fetchall()]
