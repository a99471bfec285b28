"""The line with which sysstat's tools begin: kernel, host, date, machine and number of CPUs."""

from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from doctord.regex import regex

BANNER = regex(r"Linux (?P<kernel>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)(?:\s+_\S+_)?(?:\s+\((?P<cpus>\d+) CPU\))?")
LAYOUTS = ("%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y", "%d/%m/%Y", "%d/%m/%y", "%d.%m.%Y", "%d.%m.%y")


class Banner(NamedTuple):
    """What the first line says; the date is null where its layout is not known."""

    host: str
    day: date | None


def banner_of(line: str) -> Banner | None:
    r"""What a line says if it is such a line.

    >>> banner_of("Linux 6.18.44 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)")
    Banner(host='vm', day=datetime.date(2026, 11, 20))
    """
    found = BANNER.match(line)
    return Banner(found["host"], day_of(found["date"])) if found else None


@lru_cache(maxsize=8)
def day_of(text: str) -> date | None:
    """A date as sysstat prints it; month before day unless that cannot be.

    >>> day_of("2021-11-30"), day_of("30/11/2021"), day_of("soon")
    (datetime.date(2021, 11, 30), datetime.date(2021, 11, 30), None)
    """
    for layout in LAYOUTS:
        try:
            return datetime.strptime(text, layout).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None
