"""vxstat, `vxdmpadm iostat show` and odmstat of Veritas: reads and writes of volumes, disks, paths and ODM's files.

Tables: `disk`, a device for each line: of vxstat `GROUP/NAME`, of odmstat the file. Blocks are 512 bytes (of HP-UX
1024, which the text does not tell). A report counts what was done since the one before; the first covers the time since
boot or reset. vxstat -i prints the moment of each; the others tell none, so that of their counts no rate is known
unless `--every` tells, but the mean times are. Where bytes stand in place of blocks (`-u`), only sizes differ.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "vxstat, vxdmpadm iostat, odmstat"
RANK = Rank.NAMED
LOOKED_AT: Final = 20
TITLES: Final = regex(r"\s*OPERATIONS\s+(?:FILE )?(?P<size>BLOCKS|BYTES|KBYTES)\s+AVG TIME ?\(ms\)\s*$")
NAMES: Final = regex(
    r"\s*(?:TYP\s+NAME|PATHNAME|DMPNODENAME|CTLR\w*|ENCLOSURE|FILE ?NAME|NAME)\b.*\bN?READS?\b", re.IGNORECASE
)
GROUP: Final = regex(r"(?:DG|Disk group:?)\s+(\S+)\s*$")
BANNER: Final = regex(r"\s*cpu usage = |\s*$")
FIGURES: Final = 6
SIZES: Final = {"BLOCKS": 512.0, "BYTES": 1.0, "KBYTES": 1024.0}
NO_LINE: Final = "no line of volumes, disks, paths or files"


def sniff(head: str) -> bool:
    """Whether the titles of its three pairs of columns are among the first lines."""
    return any(TITLES.match(line) for line in head.splitlines()[:LOOKED_AT])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `disk`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """A report begins with its moment or its titles, where the one before has lines already."""
    report, group, unit = Report(0, day=day, since_boot=True), "", SIZES["BLOCKS"]
    for number_of_line, text in lines:
        moment, titles = moment_in(text, source), TITLES.match(text)
        if moment or titles:
            if report:
                yield report
                report = Report(number_of_line, day=day)
            report.at = moment or report.at
            unit = SIZES[titles["size"].upper()] if titles else unit
        elif found := GROUP.match(text):
            group = found[1]
        elif not BANNER.match(text) and not NAMES.match(text) and not _take(report, text, group, unit):
            source.skip(number_of_line, NO_LINE)
    if report:
        yield report


def _take(report: Report, text: str, group: str, unit: float) -> bool:
    """Put a line into the report; false if it is none."""
    words = text.split()
    figures = [value for word in words[-FIGURES:] if (value := number(word)) is not None]
    if len(words) <= FIGURES or len(figures) != FIGURES:
        return False
    reads, writes, read_size, write_size, read_ms, write_ms = figures
    device = f"{group}/{words[-FIGURES - 1]}" if group else words[-FIGURES - 1]
    times = {"read_ms": read_ms if reads else None, "write_ms": write_ms if writes else None}
    report.row("disk", times, device=device)
    counts = {"reads_per_s": reads, "writes_per_s": writes, "read_bytes_per_s": read_size * unit,
              "write_bytes_per_s": write_size * unit}  # fmt: skip
    for column, count in counts.items():
        report.counted("disk", column, count, device=device)
    return True
