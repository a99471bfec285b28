"""df of Linux, Solaris and AIX: `df -k`, `-h`, `-P`, `-T`, `-i`; a long name of a device stands on a line of its own.

Table: `filesystem`: used as df counts it, and the size that users can have, which is used and available together: what
is reserved for root is in neither, as in df's own percentage. Of `-i` the share of inodes. Sizes with a letter (`-h`)
are as exact as they are printed.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.report import Line, Report, placed
from doctord.read.tools.times import moment_in
from doctord.regex import regex

NAME = "df"
RANK = Rank.NAMED
HEADING: Final = regex(r"Filesystem\s+(.*?)\s+(?:Mounted on|Mounted)\s*$")
BLOCKS: Final = regex(r"(\d+)([KMG]?)B?-blocks$")
# What stands in a column, by its heading in small letters.
COLUMNS: Final = {
    "used": "used", "available": "available", "avail": "available", "free": "available", "inodes": "inodes",
    "iused": "inodes_used", "iuse%": "inodes_pct", "%iused": "inodes_pct", "type": "type",
}  # fmt: skip
SIZE: Final = regex(r"(\d+(?:\.\d+)?)([KMGTPE]?)i?B?$")
SCALES: Final = {letter: 1024.0**power for power, letter in enumerate(["", *"KMGTPE"])}
NO_FIGURES: Final = "no line of df"


def sniff(head: str) -> bool:
    """Whether the heading of df is among its first lines."""
    return any(HEADING.match(line.strip()) for line in head.splitlines()[:20])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `filesystem`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """What stands under each heading, or moment."""
    report, names, unit, device = Report(0, day=day), list[str](), 1024.0, ""
    for number, text in lines:
        line = text.strip()
        if found := HEADING.match(line):
            names, unit = _names(found[1])
        elif at := moment_in(line, source):
            if report:
                yield report
            report = Report(number, at=at)
        elif line and len(words := [*([device] if device else []), *line.split()]) == 1:
            device = line
        elif line:
            device = ""
            if not names or not _take(report, names, unit, words):
                source.skip(number, NO_FIGURES)
    if report:
        yield report


def _names(heading: str) -> tuple[list[str], float]:
    """The columns between device and mount point, and the bytes in one of their numbers without a letter."""
    words, unit = heading.split(), 1024.0
    for word in words:
        if found := BLOCKS.match(word):
            unit = float(found[1]) * SCALES[found[2]]
    return [COLUMNS.get(word.lower(), "") for word in words], unit


def _take(report: Report, names: list[str], unit: float, words: list[str]) -> bool:
    """Put a line into its report; false where it is none of df."""
    if len(words) < len(names) + 2:
        return False
    told = dict(zip(names, words[1:], strict=False))
    mount = " ".join(words[len(names) + 1 :])
    used, left = (_bytes(told.get(name, ""), unit) for name in ("used", "available"))
    share = told.get("inodes_pct", "").removesuffix("%")
    if used is None and left is not None:
        used = _used_of_whole(words, names, left, unit)
    sizes = {} if used is None or left is None else {"used_bytes": used, "size_bytes": used + left}
    inodes = {"inodes_used_pct": float(share)} if share.isdecimal() else {}
    if not mount.startswith("/") or not (sizes or inodes):
        return mount.startswith("/") and "-" in told.values()
    report.row("filesystem", sizes | inodes, mount=mount, device=words[0])
    return True


def _used_of_whole(words: list[str], names: list[str], left: float, unit: float) -> float | None:
    """AIX prints the whole and what is free."""
    whole = _bytes(words[1], unit) if names[:1] == [""] else None
    return None if whole is None else whole - left


def _bytes(text: str, unit: float) -> float | None:
    found = SIZE.match(text)
    if found is None:
        return None
    return float(found[1]) * (SCALES[found[2]] if found[2] else unit)
