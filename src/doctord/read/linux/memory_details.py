"""Where Linux' memory is: smaps and smaps_rollup of a process, numastat, /proc/buddyinfo.

`statistic`, component `kernel`, readings: `smaps.Rss`, `smaps.AnonHugePages` and the like in bytes, summed over the
maps of a process; `numastat.numa_miss` and the like, counted since boot, the entity being the node;
`buddyinfo.free_bytes`, the entity being node, zone and the size of the free pieces.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.regex import regex

NAME = "smaps, numastat, /proc/buddyinfo"
RANK = Rank.NAMED
MAP: Final = regex(r"[0-9a-f]{6,16}-[0-9a-f]{6,16} [r-][w-][x-][ps] ")
OF_MAP: Final = regex(r"([A-Z]\w+):\s+(\d+) kB$")
WORDS: Final = regex(r"(?:VmFlags|THPeligible|ProtectionKey):")
NODES: Final = regex(r"node\d+(?:\s+node\d+)*$")
OF_NODES: Final = regex(r"([a-z]+_[a-z_]+|interleave_hit)\s+(\d+(?:\s+\d+)*)$")
BUDDY: Final = regex(r"Node (\d+), zone\s+(\w+)((?:\s+\d+)+)$")
PAGE_BYTES: Final = 4096
NOT_SUMMED: Final = ("Size", "KernelPageSize", "MMUPageSize")  # of address space, and of a page
NO_LINE: Final = "no line of smaps, numastat or buddyinfo"


def sniff(head: str) -> bool:
    """Whether a map, numastat's nodes or a zone's free pieces begin it."""
    lines = [line.strip() for line in head.splitlines() if line.strip()][:2]
    first, second = (*lines, "", "")[:2]
    is_map = bool(MAP.match(f"{first} ")) and bool(OF_MAP.match(second))
    return is_map or (bool(NODES.match(first)) and bool(OF_NODES.match(second))) or bool(BUDDY.match(first))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """All of it as one report."""
    report, nodes, sums = Report(0, day=day), list[str](), dict[str, float]()
    for number, text in lines:
        line = text.strip()
        if NODES.match(line):
            nodes = line.split()
        elif found := OF_NODES.match(line):
            for node, value in zip(nodes, found[2].split(), strict=False):
                report.statistic("kernel", f"numastat.{found[1]}", float(value), "pages", entity=node)
        elif found := BUDDY.match(line):
            for order, count in enumerate(found[3].split()):
                size = PAGE_BYTES << order
                name = f"node {found[1]} {found[2]} {size >> 10} KiB"
                report.statistic("kernel", "buddyinfo.free_bytes", float(count) * size, "bytes", entity=name)
        elif found := OF_MAP.match(line):
            sums[found[1]] = sums.get(found[1], 0.0) + float(found[2]) * 1024
        elif line and not MAP.match(f"{line} ") and not WORDS.match(line):
            source.skip(number, NO_LINE)
    for name, value in sums.items():
        if name not in NOT_SUMMED:
            report.statistic("kernel", f"smaps.{name}", value, "bytes")
    if report:
        yield report
