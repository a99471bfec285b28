"""sar's text, of Linux (sysstat 5 to 12.7), Solaris, HP-UX and AIX.

Tables: `cpu`, `memory`, `disk`, `network` and `filesystem` with what has a column there, whichever switch printed it:
the figures of one moment stand in one row. All others are `statistic` rows named `sar.COLUMN`, without `/s` (component
`kernel`, `solaris`, `hpux`, `aix`; entity: device, interface, `CPU3`, interrupt), in sar's own unit. `event`: restarts
and comments.

Switches: all of Linux' `-A` (also `--human`, `--pretty`, `-z`), and those of System V. Clocks of 12 and 24 hours,
decimals with a comma, dates of any locale. Times go on to the next day where they begin again. The first interval
counts from the time of the heading.

Left out: averages (`Average:` in any language), descriptions of USB devices, mean sizes of requests (they follow from
bytes and requests), shares of 0 of single interrupts on single CPUs, CPUs that are switched off (all shares 0).
`kbmemused` has two meanings (up to sysstat 11.7.3 and since): `total_bytes` is given where the printed share tells
which. System V's `runq-sz` is averaged over the time in which there was a queue: `run_queue` is its product with
`%runocc`, threads that run not counted. Its `avque` counts all outstanding requests, so it is `queue`.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.activities import free_memory
from doctord.read.sysstat.banner import parse_banner
from doctord.read.sysstat.scan import Header, day_number, scan
from doctord.read.sysstat.vocabulary import VOCABULARY
from doctord.regex import regex

NAME = "sar's text"
RANK = Rank.NAMED
STAMP = regex(r"\d\d?(?:[:.時时]|시 )\d\d(?:[:.分]|분 )\d\d[秒초]?(?:\s?[AaPp][Mm])?\s+(?P<rest>\S.*)")
BANNER = regex(r"(?:Linux \S+\s+\(|SunOS |HP-UX |AIX )")
# Lines of `sar -u` alone, as others keep them in their logs: six shares of all CPUs, which make a hundred.
OF_ALL_CPUS = regex(r"(?P<stamp>\d\d?:\d\d:\d\d(?: [AP]M)?)\s+all(?P<shares>(?:\s+\d+[.,]\d\d){6})\s*$")
HEADING_OF_CPUS = "{}     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
LEAST_LINES, WHOLE_PCT, ROUNDED_PCT = 3, 100.0, 0.1
NO_HEADING = "no heading: six shares of all CPUs that make a hundred are taken to be those of sar -u"
PAGE_BYTES = {"sun4": 8192, "i86p": 4096}  # by the beginning of what Solaris calls the machine


def sniff(head: str) -> bool:
    """Whether the first heading with a time is one of sar, and not of mpstat or pidstat."""
    if "\0" in head:
        return False
    if _has_no_heading(head):
        return True
    for line in head.splitlines()[:200]:
        found = STAMP.match(line)
        if (
            found is None
            and line.strip()
            and not BANNER.match(line)
            and not line.startswith((" ", "System", "Average"))
        ):
            return False
        if found and not re.search("restart", line, re.IGNORECASE) and not found["rest"].startswith("COM "):
            return _is_heading(found["rest"].split())
    return False


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the report."""
    pieces: Iterator[bytes] = iter(source.chunks())
    if _has_no_heading(source.head) and (first := OF_ALL_CPUS.match(source.head.splitlines()[0])):
        source.note(NO_HEADING)
        pieces = chain([HEADING_OF_CPUS.format(first["stamp"]).encode()], pieces)
    yield from scan("text", source, pieces, partial(_header, source))


def _has_no_heading(head: str) -> bool:
    """Whether its first lines are those of `sar -u`, one after the other, without what says so."""
    lines = [found for line in head.splitlines()[:LEAST_LINES] if (found := OF_ALL_CPUS.match(line))]
    sums = [sum(float(share.replace(",", ".")) for share in found["shares"].split()) for found in lines]
    return len(lines) == LEAST_LINES and all(abs(total - WHOLE_PCT) <= ROUNDED_PCT for total in sums)


def _header(source: SourceFile, line: str) -> Header:
    banner = parse_banner(line, source)
    page_bytes = PAGE_BYTES.get((banner.machine or "")[:4])
    return Header(
        host=banner.host or source.host,
        component=banner.component,
        day=day_number(source.day or banner.day),
        activities=[free_memory(page_bytes)] if page_bytes else [],
    )


def _is_heading(columns: list[str]) -> bool:
    # pidstat names processes, mpstat %irq before %steal; both begin as sar does.
    others = {"PID", "TGID", "NODE"} & set(columns) or re.search("%irq.*%steal", " ".join(columns))
    return not others and VOCABULARY.activity(columns) is not None
