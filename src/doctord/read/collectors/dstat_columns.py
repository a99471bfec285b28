"""The groups of dstat's columns where the line that names the groups is not there: a column's neighbours tell.

`used` and `free` are memory beside `buff` and `cach`, and swap alone. A group that comes twice, as the columns of
several disks or of both `-d` and `-r` do, could be either's: it has no name.
"""

from collections.abc import Sequence
from typing import Final

AMBIGUOUS: Final = ""
CPU: Final = "total cpu usage"
MEMORY: Final = "memory usage"
# As dstat (0.6 to 0.7) and dool name the columns of their own plugins; of two that begin alike the longer one first.
LAYOUTS: Final = (
    (CPU, ("usr", "sys", "idl", "wai", "hiq", "siq")),
    (CPU, ("usr", "sys", "idl", "wai", "stl")),
    (CPU, ("usr", "sys", "idl", "wai")),
    (MEMORY, ("memused", "buff", "cach", "free")),
    (MEMORY, ("used", "buff", "cach", "free")),
    (MEMORY, ("used", "free", "buff", "cach")),
    (MEMORY, ("used", "free", "cach", "avai")),
    ("swap", ("used", "free")),
    ("dsk/total", ("read", "writ")),
    ("net/total", ("recv", "send")),
    ("paging", ("in", "out")),
    ("system", ("int", "csw")),
    ("procs", ("run", "blk", "new")),
    ("load avg", ("1m", "5m", "15m")),
    ("tcp sockets", ("lis", "act", "syn", "tim", "clo")),
    ("system", ("time",)),
    ("epoch", ("epoch",)),
)


def groups_of(columns: Sequence[str]) -> list[str]:
    """The group of each column, AMBIGUOUS where it could be one of several; empty where these are not dstat's columns.

    >>> groups_of(["usr", "sys", "idl", "wai", "stl", "used", "free"])[-2:]
    ['swap', 'swap']
    """
    found = list[tuple[str, int]]()
    at = 0
    while at < len(columns):
        fitting = ((g, len(names)) for g, names in LAYOUTS if tuple(columns[at : at + len(names)]) == names)
        group, width = next(fitting, (AMBIGUOUS, 0))
        if not width:
            return []
        found.append((group, width))
        at += width
    names = [group for group, _ in found]
    if CPU not in names:
        return []
    return [group if names.count(group) == 1 or group == "system" else AMBIGUOUS
            for group, width in found for _ in range(width)]  # fmt: skip
