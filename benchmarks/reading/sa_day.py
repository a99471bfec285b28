"""A day of sadc's records, made of a short recording.

    .venv/bin/python benchmarks/reading/sa_day.py RECORDING DAY --step 10

sadc takes its time from the clock, so a day cannot be recorded in less. Here the records of a recording are played
over and over with the time going on; counters go on as well, from where they were at the end of the last round, and
readings are repeated. The layout is that of sysstat 11.7.1 to 12.7 (format 0x2175), little-endian, 64 bits.
"""

import argparse
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

MAGIC_BYTES = 76
DAY_S = 86_400
BEGIN_S = 1_795_132_800  # 2026-11-20 00:00:00 UTC
STATISTICS = 1  # record_type of figures
RESTART_BYTES, COMMENT_BYTES = 4, 64
# Memory, kernel tables, queues, sockets, sensors, huge pages, devices, file systems: readings, which do not add up.
READINGS = frozenset({7, 8, 9, 16, 24, 30, 31, 32, 33, 34, 36, 37})
BATCH = 4096

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Activity:
    """How one kind of figures lies in a record."""

    number: int
    items: int
    parts: int
    is_counted: bool
    size: int
    longs: int
    ints: int


@dataclass(frozen=True)
class Recording:
    """What stands before the records; records of equal length, one a row; where their numbers are that count on."""

    begin: bytes
    records: Bytes
    longs: npt.NDArray[np.intp]
    ints: npt.NDArray[np.intp]


def read(path: Path) -> Recording:
    """Take a recording apart; records of another length than most (a device came or went) are left out."""
    content = path.read_bytes()
    header_bytes = struct.unpack_from("<I", content, 8)[0]
    count, activity_bytes, record_bytes = (
        struct.unpack_from("<I", content, MAGIC_BYTES + at)[0] for at in (20, 52, 56)
    )
    begin = MAGIC_BYTES + header_bytes
    activities = []
    for number in range(count):
        fields = struct.unpack_from("<9I", content, begin + number * activity_bytes)
        activities.append(
            Activity(fields[0], fields[2], fields[3], bool(fields[4]), fields[5], fields[6] + fields[7], fields[8])
        )
    begin += count * activity_bytes
    found = list(_records(content, begin, record_bytes, activities))
    usual = max({len(record) for record, _, _ in found}, key=[len(record) for record, _, _ in found].count)
    same = [record for record, _, _ in found if len(record) == usual]
    _, longs, ints = next(known for known in found if len(known[0]) == usual)
    rows = np.frombuffer(b"".join(same), np.uint8).reshape(len(same), usual)
    return Recording(content[:begin], rows, np.array([0, 8, *longs]), np.array(ints))


def _records(
    content: bytes, at: int, header_bytes: int, activities: list[Activity]
) -> Iterator[tuple[bytes, list[int], list[int]]]:
    """Each record of figures, and where in it there are counters of 8 and of 4 bytes."""
    while at < len(content):
        kind = content[at + 20]
        end = at + header_bytes
        longs: list[int] = []
        ints: list[int] = []
        if kind != STATISTICS:
            at = end + (RESTART_BYTES if kind == STATISTICS + 1 else COMMENT_BYTES)
            continue
        for activity in activities:
            items = activity.items
            if activity.is_counted:
                items = struct.unpack_from("<I", content, end)[0]
                end += 4
            for _ in range(items * activity.parts):
                if activity.number not in READINGS:
                    longs += [end - at + 8 * place for place in range(activity.longs)]
                    ints += [end - at + 8 * activity.longs + 4 * place for place in range(activity.ints)]
                end += activity.size
        yield content[at:end], longs, ints
        at = end


def write(recording: Recording, path: Path, step_s: int, length_s: int = DAY_S) -> None:
    """Write a day of it, or less, with a record every so many seconds."""
    rows = recording.records
    rounds = len(rows) - 1
    with path.open("wb") as day:
        day.write(recording.begin)
        for first in range(0, length_s // step_s, BATCH):
            numbers = np.arange(first, min(first + BATCH, length_s // step_s))
            batch = rows[numbers % rounds].copy()
            for places, kind in ((recording.longs, np.uint64), (recording.ints, np.uint32)):
                _go_on(batch, rows, places, np.dtype(kind), numbers // rounds)
            _put(batch, 0, (np.uint64(1_000_000) + (numbers * step_s * 100).astype(np.uint64)))
            _put(batch, 8, (BEGIN_S + numbers * step_s).astype(np.uint64))
            day.write(batch.tobytes())


def _go_on(
    batch: Bytes,
    rows: Bytes,
    places: npt.NDArray[np.intp],
    kind: "np.dtype[np.unsignedinteger]",
    turns: npt.NDArray[np.intp],
) -> None:
    """Add what a round counts, as often as there were rounds; counters that fell in the recording stay as they are."""
    where = places[:, None] + np.arange(kind.itemsize)
    known = np.ascontiguousarray(rows[:, where]).view(kind)[..., 0]
    counts = (np.diff(known.astype(np.int64), axis=0) >= 0).all(axis=0)
    gain = np.where(counts, known[-1] - known[0], 0).astype(kind)
    values = np.ascontiguousarray(batch[:, where]).view(kind)[..., 0] + turns[:, None].astype(kind) * gain
    batch[:, where] = np.ascontiguousarray(values[..., None]).view(np.uint8)


def _put(batch: Bytes, place: int, values: npt.NDArray[np.uint64]) -> None:
    batch[:, place : place + 8] = values[:, None].view(np.uint8)


def main() -> None:
    """Make a day."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recording", type=Path, help="a file of sadc -S ALL 1 60")
    parser.add_argument("day", type=Path, help="the file to write")
    parser.add_argument("--step", type=int, default=10, help="seconds between records")
    arguments = parser.parse_args()
    write(read(arguments.recording), arguments.day, arguments.step)


if __name__ == "__main__":
    main()
