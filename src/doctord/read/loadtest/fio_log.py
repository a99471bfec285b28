"""Latency logs of fio 3 (`write_lat_log`): milliseconds since the start, nanoseconds, direction, block size, offset.

fio writes logs of bandwidth and of operations in the same form: only the name tells them apart.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.single_waits import CLOCK_FROM_1970, Waits
from doctord.read.source import SourceFile

NAME = "fio's latency logs"
RANK = Rank.NAMED
LINE = re.compile(r"(\d+), (\d+), ([0-3]), (\d+)(?:, (?:\d+|0x[0-9a-f]+))*\s*$")
DIRECTIONS = ("read", "write", "trim", "sync")
OTHER_LOG = re.compile(r"_(bw|iops)\.")
SINCE_1970_MS = 10**12  # log_unix_epoch: times are of the wall clock


def sniff(head: str) -> bool:
    """Whether the first lines are of such a log."""
    lines = head.splitlines()[:3]
    return bool(lines) and all(LINE.match(line) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `latency` by direction, in columns of a second.

    Raises:
        UserError: its name says that it is a log of something else.
    """
    if other := OTHER_LOG.search(PurePath(source.name).name):
        raise UserError(
            f"{source.name}: a log of {other[1]}, not of latencies", "write_lat_log of fio writes NAME_lat.1.log"
        )
    waits = Waits(source)
    for number, line in source.lines():
        if found := LINE.match(line):
            ended_ms = int(found[1])
            if ended_ms < SINCE_1970_MS:
                source.note(CLOCK_FROM_1970)
            yield from waits.add(number, ended_ms * 1e3, int(found[2]) / 1e3, f"fio {DIRECTIONS[int(found[3])]}")
        elif line.strip():
            source.skip(number, "not a line of a latency log")
    yield from waits.flush()
