"""The line with which every sar begins: system, host, machine and date."""

import re
from datetime import date
from typing import NamedTuple

from doctord.read.source import SourceFile
from doctord.regex import regex

LINUX = regex(r"Linux \S+\s+\((?P<host>.*?)\)\s+(?P<date>[^_]*?)\s*(?:_(?P<machine>[^\s_]\S*)_\s*)?(?:\(\d+ CPU\).*)?$")
SYSTEM_V = regex(r"(?P<system>SunOS|HP-UX|AIX) (?P<host>\S+)(?P<about>.*?)\s(?P<date>[\d/.-]+)\s*$")
COMPONENTS = {"SunOS": "solaris", "HP-UX": "hpux", "AIX": "aix"}
# What tells a country that writes the day first: decimals with a comma, or another word than `Average:`.
DAY_FIRST = regex(r"\d,\d\d(?=\s|$)|^(?!Average)[^\W\d][\w.-]* ?[:：]\s", re.MULTILINE)  # noqa: RUF001 - Chinese has its own colon
HALVES = regex(r"^\d\d:\d\d:\d\d [AP]M\s", re.MULTILINE)


class Banner(NamedTuple):
    """What the line tells; null is what it does not."""

    host: str | None
    component: str
    machine: str | None
    day: date | None


def parse_banner(line: str, source: SourceFile) -> Banner:
    """Read the line; the rest of the file tells in which order an ambiguous date stands."""
    if found := LINUX.match(line):
        return Banner(found["host"], "kernel", found["machine"], parse_date(found["date"], source, on_linux=True))
    if found := SYSTEM_V.match(line):
        machine = found["about"].split()[-1:] or [None]
        day = parse_date(found["date"], source, on_linux=False)
        return Banner(found["host"], COMPONENTS[found["system"]], machine[0], day)
    return Banner(None, "kernel", None, None)


def parse_date(text: str, source: SourceFile, *, on_linux: bool) -> date | None:
    """A date as any locale writes it; null when it is none. An order that is not certain is noted."""
    numbers = re.findall(r"\d+", text)
    if len(numbers) != 3:
        return None
    one, two, three = (int(number) for number in numbers)
    if len(numbers[0]) == 4:
        return _date(one, two, three)
    year = three + (0 if three > 99 else 2000 if three < 70 else 1900)
    if "/" in text and not _day_first(one, two, len(numbers[2]), source, on_linux=on_linux):
        return _date(year, one, two)
    return _date(year, two, one)


def _day_first(one: int, two: int, year_digits: int, source: SourceFile, *, on_linux: bool) -> bool:
    if one > 12 or two > 12:
        return one > 12
    if not on_linux or HALVES.search(source.head):
        return False
    if DAY_FIRST.search(source.head):
        return True
    # The C locale writes 03/28/16; who writes the year in full and counts hours to 24 is not American.
    first = year_digits == 4
    if one != two:
        order = "day and month" if first else "month and day, as in the C locale"
        source.note(f"{one:02}/{two:02} is taken for {order} (--day tells)")
    return first


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
