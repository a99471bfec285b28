"""Histograms of wait events in reports of AWR (HTML or text) and Statspack: one interval, from snapshot to snapshot.

A report gives shares of all waits in per cent, rounded to a tenth, and the number of waits to three digits or so:
counts are worked out of both, and are that exact. `.0` is less than 0.05 %, but something: it counts as one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from math import inf

from doctord._native import Batch
from doctord.chart.rows import micros, rows
from doctord.errors import Refusal
from doctord.read.latency.awr_tables import Table, html_tables, text_tables
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import Source

NAME = "AWR and Statspack reports"
ROUNDED = "counts are worked out of percentages: good for two or three digits"
NO_INTERVAL = "does not say from when to when it is"
BEGINS = re.compile(r"WORKLOAD REPOSITORY|STATSPACK (?:report|statistics)|AWR (?:RAC )?Report for DB", re.IGNORECASE)
TITLE = re.compile(r"Wait Event Histogram", re.IGNORECASE)
MOMENT = r"(\d\d?-[A-Za-z]{3}-\d\d(?:\d\d)? \d\d:\d\d(?::\d\d)?)"
SNAPSHOTS = (
    re.compile(rf"Begin Snap:\s+\d+\s+{MOMENT}.*?End Snap:\s+\d+\s+{MOMENT}", re.DOTALL),
    re.compile(rf"Begin Snap Time.*?{MOMENT}\s+{MOMENT}\s+{MOMENT}", re.DOTALL),
)
DATABASE = re.compile(r"DB(?:/Inst)?: (\w+)")
EDGE = re.compile(r"(<=?|>=?)\s*(\d+(?:/\d+)?)\s*(us|ms|s|m|h)$")
COUNT = re.compile(r"([\d,]*\.?\d+)([KMGT]?)$")
SHARE = re.compile(r"([\d,]*\.?\d+)(?:\((\d+)\))?$")
# Units are powers of two of microseconds in reports that go down to these (12c on), else of milliseconds.
UNITS_US = {"us": 1.0, "ms": 1024.0, "s": 1024.0**2, "m": 64 * 1024.0**2, "h": 4096 * 1024.0**2}
UNITS_OF_MS = {"us": 1.0, "ms": 1000.0, "s": 1024_000.0, "m": 64 * 1024_000.0, "h": 4096 * 1024_000.0}
THOUSANDS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}


@dataclass
class Event:
    """What the tables of a report say of one event: waits, and shares in per cent or counts by bucket."""

    total: float = 0.0
    shares: dict[tuple[float, float], tuple[float, int | None]] = field(default_factory=dict)

    def counts(self) -> Iterator[tuple[float, float, int]]:
        """Buckets without overlap, the narrowest first: a wide one is the rest of a table, and told by another."""
        taken = list[tuple[float, float]]()
        for low, high in sorted(self.shares, key=lambda edges: (edges[1] - edges[0], -edges[0])):
            if any(low < end and begin < high for begin, end in taken):
                continue
            taken.append((low, high))
            share, count = self.shares[low, high]
            yield low, high, max(round(share * self.total / 100), 1) if count is None else count


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report."""
    return bool(BEGINS.search(head))


def read(source: Source) -> Iterator[Batch]:
    """Rows of `latency` by event.

    Raises:
        Refusal: the report has no histograms, or does not say when it was.
    """
    text = "\n".join(line for _, line in source.lines())
    is_html = "<html" in source.head[:4096].lower()
    tables = list(html_tables(text, TITLE) if is_html else text_tables(text, TITLE))
    if not any(table.rows for table in tables):
        raise Refusal(f"{source.name} has no histograms of wait events", "reports of Oracle 11g and later have them")
    interval = _interval(re.sub(r"<[^>]*>|&nbsp;|&#160;", " ", text) if is_html else text, source)
    if interval is None:
        raise Refusal(f"{source.name} {NO_INTERVAL}", "its lines Begin Snap and End Snap say it: take the whole report")
    begin, end, db = interval
    events = dict[str, Event]()
    units = UNITS_US if any(name.endswith("us") for table in tables for name in table.names) else UNITS_OF_MS
    for table in tables:
        _take(table, units, events, source)
    at = {"ts": micros(end), "interval_s": (end - begin).total_seconds(), "db": db}
    source.note(ROUNDED)
    yield rows(
        "latency",
        (
            at | {"subject": name, "gt_us": low, "le_us": None if high == inf else high, "count": count}
            for name, event in events.items()
            for low, high, count in event.counts()
            if count
        ),
    )


def _take(table: Table, units: dict[str, float], events: dict[str, Event], source: Source) -> None:
    """A table: event, number of waits, then a column for each bucket, named by its upper edge."""
    edges = _edges(table.names[2:], units)
    for row in table.rows:
        total = COUNT.match(row[1]) if len(row) == len(table.names) else None
        if len(edges) != len(row) - 2 or total is None:
            source.note(f"not an event and its waits: {' '.join(row)[:60]!r}")
            continue
        # Only the first table counts all waits; the others those of their own range.
        event = events.setdefault(row[0], Event(float(total[1].replace(",", "")) * THOUSANDS[total[2]]))
        for bucket, value in zip(edges, row[2:], strict=True):
            if share := SHARE.match(value):
                event.shares[bucket] = (float(share[1].replace(",", "")), int(share[2]) if share[2] else None)
            else:
                event.shares[bucket] = (0.0, 0)  # an empty cell: truly none


def _edges(names: list[str], units: dict[str, float]) -> list[tuple[float, float]]:
    """Lower and upper edges of the columns, microseconds; none when the names are no edges."""
    bounds = [0.0]
    for name in names:
        found = EDGE.match(name)
        if found is None:
            return []
        above, _, below = found[2].partition("/")
        bounds.append(inf if found[1].startswith(">") else int(above) / int(below or 1) * units[found[3]])
    return list(pairwise(bounds))


def _interval(text: str, source: Source) -> tuple[datetime, datetime, str] | None:
    found = next((found for pattern in SNAPSHOTS if (found := pattern.search(text))), None)
    if found is None:
        return None
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    try:
        begin, end = (_moment(moment, source) for moment in found.groups()[-2:])
    except ValueError:
        return None
    name = DATABASE.search(text)
    return begin, end, f"oracle:{name[1]}" if name else "oracle"


def _moment(text: str, source: Source) -> datetime:
    year = "%y" if len(text.split(maxsplit=1)[0].rpartition("-")[2]) == 2 else "%Y"
    seconds = ":%S" if text.count(":") == 2 else ""
    return datetime.strptime(text, f"%d-%b-{year} %H:%M{seconds}").replace(tzinfo=source.zone or UTC)
