"""OSWatcher archives (OSWbb, ExaWatcher; Linux, Solaris, AIX): a file for a tool and hour, a stamp above each output.

Tables: those of the tools between the stamps: iostat, vmstat, mpstat, prstat, top and the like as their own readers
have them; `network` and `statistic` (component `kernel`, `netstat.COUNTER`) of netstat, as rates between two stamps;
/proc/meminfo, /proc/slabinfo, and the number of processes by state from ps. Left out and noted: ifconfig,
traceroutes, arp and other texts that hold no figures of load.

OSWatcher starts iostat, vmstat and mpstat with a second between their reports; each start begins with a report since
boot, which is left out. Stamps: `zzz ***Thu Mar 1 10:00:00 CET 2012`, `zzz ***Thu 01 Mar 2012 10:00:00 AM CET`, `zzz
***2012-03-01T10:00:00+0100`, `zzz <03/01/2012 10:00:00>`. The zone is that of --zone, else the stamp's where its
abbreviation is known, else UTC. The host is that of the first line, else of the file's name
(`HOST_iostat_12.03.01.1000.dat`).
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from doctord._native import Batch
from doctord.read.collectors.oswatcher_stamps import is_stamp, stamped
from doctord.read.format import Rank
from doctord.read.linux import meminfo, slabinfo
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line
from doctord.read.tools.tool import Tool, block, tool_of
from doctord.read.unix import ps, top
from doctord.read.unix.netstat import Rates
from doctord.read.unix.netstat_counts import is_netstat
from doctord.regex import regex

NAME = "OSWatcher"
RANK = Rank.ARCHIVE
BETWEEN_REPORTS_S: Final = 1.0
WITHOUT_INTERVAL: Final[tuple[Tool, ...]] = (meminfo, slabinfo, top, ps)
BANNER: Final = regex(r"(?:Linux|SunOS|Solaris|AIX|HP-UX)\s+OSW\S*\s+v?\S+\s+(\S+)")
FILE_NAME: Final = regex(r"([\w.-]+?)_(?:\w*stat|top\w*|ps\w*|meminfo|slabinfo|cpuinfo)_[\d._]+(?:dat)?")


def sniff(head: str) -> bool:
    """Whether a stamp of OSWatcher is in its beginning."""
    return any(is_stamp(line) for line in head.splitlines())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of what was printed under each stamp."""
    interfaces, user_zone = Rates(source), source.options.zone
    for stamp, lines in _under_stamps(source):
        if not stamp[0]:
            source.host = _host(lines, source)
        elif (moment := stamped(stamp[1], source)) is None:
            source.skip(stamp[0], "a stamp that tells no moment")
        else:
            # Times of day under the stamp are of the zone that the stamp tells.
            source.options = replace(source.options, zone=moment.tzinfo)
            yield from _printed(lines, moment, interfaces, source)
            source.options = replace(source.options, zone=user_zone)
    yield from interfaces.rest()


def _printed(lines: list[Line], moment: datetime, interfaces: Rates, source: SourceFile) -> Iterator[Batch]:
    """The rows of what a tool printed at a moment."""
    texts = [line for _, line in lines]
    text = "\n".join(texts)
    if tool := tool_of(text):
        yield from block(tool, lines, source, moment, None if tool in WITHOUT_INTERVAL else BETWEEN_REPORTS_S)
    elif is_netstat(texts):
        yield from interfaces.take(texts, moment)
    elif begin := text.strip().partition("\n")[0]:
        source.note(f"not read: texts that begin like {begin.split()[0]!r}")


def _under_stamps(source: SourceFile) -> Iterator[tuple[Line, list[Line]]]:
    """Each stamp with the lines under it; what stands before the first one comes with an empty stamp."""
    stamp: Line = (0, "")
    held: list[Line] = []
    for line, text in source.lines():
        if is_stamp(text):
            yield stamp, held
            stamp, held = (line, text), []
        else:
            held.append((line, text))
    yield stamp, held


def _host(lines: list[Line], source: SourceFile) -> str | None:
    """Whose archive it is: its first line says so, or its name."""
    banner = next((found for _, line in lines if (found := BANNER.match(line))), None)
    name = FILE_NAME.match(source.name.rpartition("/")[2])
    return banner[1] if banner else source.host or (name[1] if name else None)
