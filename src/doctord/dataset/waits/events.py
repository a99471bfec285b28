"""Which class and kind each vendor's wait events are of: postgresql.csv, oracle.csv and mysql.csv hold the mapping.

They were written from PostgreSQL's "Wait Event Tables" (9.6 to 18), the Oracle Database Reference's "Oracle Wait
Events" and V$EVENT_NAME (10.2 to 23ai, with names of 8i and 9i), and MySQL's and MariaDB's "Performance Schema
Instrumentation" and "General Thread States". No event has the same name as one of another vendor. `%` in the name of
an event stands for any text, as in SQL's LIKE; the longest name that fits counts.
"""

import csv
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

VENDORS: Final = ("mysql", "oracle", "postgresql")
"""Whose mappings there are, as `db` begins: a file each."""


class WaitEvent(NamedTuple):
    """One line of a mapping.

    `background_class` and `background_kind` hold when a background process waits; empty where that is no different.
    `wait_event_type` is PostgreSQL's alone.
    """

    event: str
    wait_class: str
    wait_kind: str
    wait_event_type: str = ""
    background_class: str = ""
    background_kind: str = ""
    meaning: str = ""


@cache
def wait_events(vendor: str) -> tuple[WaitEvent, ...]:
    """All lines of a vendor's mapping."""
    with Path(__file__).with_name(f"{vendor}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(WaitEvent(**line) for line in csv.DictReader(file))


@lru_cache(maxsize=4096)
def find(vendor: str, event: str) -> WaitEvent | None:
    """The line of an event, in its own letters or else in any case; null where none fits.

    >>> find("oracle", "gc cr block 3-way").wait_class, find("mysql", "wait/synch/mutex/sql/LOCK_open").wait_kind
    ('Cluster', 'parse')
    """
    named, patterns = _lines(vendor)
    known = named.get(event) or named.get(event.lower())
    if known or not event.lower().startswith(tuple(patterns)):
        return known
    fit = (line for lines in patterns.values() for line in lines if _fits(line.event, event))
    return max(fit, key=lambda line: len(line.event), default=None)


def kind_of(event: str | None, wait_class: str | None = None) -> str | None:
    """The kind (one of KINDS) of an event of any vendor; null where no mapping has it.

    Args:
        event: As `wait` and `session` hold it.
        wait_class: Its class there, which tells the log writer's write from a session's wait for it.

    >>> kind_of("WALSync", "Commit"), kind_of("WALSync", "System I/O"), kind_of("log file sync"), kind_of("?")
    ('log sync', 'log write', 'log sync', None)
    """
    if event is None:
        return None
    line = next((line for vendor in VENDORS if (line := find(vendor, event))), None)
    if line is None:
        return None
    in_background = wait_class is not None and wait_class == line.background_class
    return line.background_kind if in_background and line.background_kind else line.wait_kind


@cache
def _lines(vendor: str) -> tuple[dict[str, WaitEvent], dict[str, list[WaitEvent]]]:
    """The lines of single events by name, also in small letters, and those of several by what stands before `%`.

    PostgreSQL's `*` is all of a type, which an event's name does not tell. Of two events of one name (SyncRep: the
    wait itself, and the lock on its state) the first counts; both are of one kind.
    """
    named, several = dict[str, WaitEvent](), dict[str, list[WaitEvent]]()
    for line in wait_events(vendor):
        if "%" in line.event:
            several.setdefault(line.event.partition("%")[0].lower(), []).append(line)
        elif line.event != "*":
            named.setdefault(line.event, line)
    for event, line in tuple(named.items()):
        named.setdefault(event.lower(), line)
    return named, several


def _fits(pattern: str, event: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace("%", ".*"), event, re.IGNORECASE) is not None
