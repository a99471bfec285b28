"""Tables as sysstat's mpstat and pidstat print them: a time before each line, and `Average:` before the last ones."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime

from doctord.read.clock import Clock
from doctord.read.source import SourceFile
from doctord.read.tools.banner import banner_of
from doctord.read.tools.headed_tables import NO_FIGURES, HeadedRow
from doctord.read.tools.report import Line, Report
from doctord.read.tools.times import TIME, seconds_of, time_in
from doctord.regex import regex

TIMED = regex(rf"\s*(?:(?P<epoch>\d{{10}})|{TIME})\s+(?P<rest>\S.*)$")
DAY_S = 86400
AVERAGE = regex(r"[^\s\d]\S* ?:\s")


def timed_rows(
    lines: Iterable[Line], source: SourceFile, day: date | None, first_names: frozenset[str]
) -> Iterator[HeadedRow]:
    """The lines of figures; all of one time belong to one report. A heading begins with one of these names.

    The time before a heading is when the interval began: it is the time of its lines where they cover the time since
    boot. With -h a heading begins with `# Time` and tells no time.
    """
    clock, names, begun_s = Clock(source, day), list[str](), None
    report = Report(0)
    for number, line in lines:
        if banner := banner_of(line):
            source.host = banner.host
            clock = Clock(source, banner.day or day)
            continue
        heading = line.lstrip().removeprefix("#")
        found = TIMED.match(line)
        if line.lstrip().startswith("#"):
            names, begun_s = heading.split()[1:], None
        elif found is None:
            if line.strip() and not AVERAGE.match(line):
                source.skip(number, NO_FIGURES)
        elif (words := found["rest"].split())[0] in first_names:
            names, begun_s = words, seconds_of(found)
        elif (at := _moment(found, clock, source)) is None or not names:
            source.skip(number, NO_FIGURES)
        else:
            if at != report.at:
                passed_s = None if begun_s is None else ((seconds_of(found) or 0) - begun_s) % DAY_S
                report = Report(number, at=at, since_boot=passed_s == 0, interval_s=passed_s or None)
            yield HeadedRow(number, names[0], names, found["rest"].split(maxsplit=len(names) - 1), report)


def _moment(found: "re.Match[str]", clock: Clock, source: SourceFile) -> datetime | None:
    if found["epoch"]:
        return datetime.fromtimestamp(int(found["epoch"]), UTC)
    return time_in(clock, found, source)
