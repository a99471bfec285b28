"""Histograms of wait events.

A report gives shares of all waits in per cent, rounded to a tenth, and the number of waits to three digits or so:
counts are worked out of both, and are that exact. `.0` is less than 0.05 %, but something: it counts as one.

Up to 12.1 one table holds all buckets below 1 s, the first edges being milliseconds; others go further. Later a first
table has a last bucket for the whole rest, which other tables tell apart. A bucket that another table splits is left
out, event by event.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from math import inf
from typing import NamedTuple

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report
from doctord.regex import regex

TITLE = regex(r"Wait Event Histogram", re.IGNORECASE)
ROUNDED = "counts of histograms are worked out of percentages: good for two or three digits"
CUT = regex(r"\d+\.\d*")
EDGE = regex(r"(<=?|>=?)\s*(\d+(?:/\d+)?)\s*(us|ms|s|m|h)$")
# Units are powers of two of microseconds in reports that go down to these (12c on), else of milliseconds.
UNITS_US = {"us": 1.0, "ms": 1024.0, "s": 1024.0**2, "m": 64 * 1024.0**2, "h": 4096 * 1024.0**2}
UNITS_OF_MS = {"us": 1.0, "ms": 1000.0, "s": 1024_000.0, "m": 64 * 1024_000.0, "h": 4096 * 1024_000.0}

Bucket = tuple[float, float]


class Buckets(NamedTuple):
    """A table of a histogram: events, waits, and the columns that are buckets."""

    table: ReportTable
    events: list[str]
    totals: list[float | None]
    edges: dict[Bucket, int]
    rows: dict[str, int]


def is_histogram(table: ReportTable) -> bool:
    """Whether a table holds (part of) histograms of wait events."""
    return bool(TITLE.match(table.title))


def fill(tables: list[ReportTable], report: Report) -> None:
    """Add rows of `latency` from all tables of one report's histograms."""
    is_fine = any(name.endswith("us") for table in tables for name in table.names)
    known = _waits(report)
    held = [buckets for table in tables if (buckets := _buckets(table, known, is_fine=is_fine)) is not None]
    if not held:
        return
    # Only the first table counts all waits; the others those of their own range.
    totals = dict[str, float]()
    for buckets in held:
        for event, total in zip(buckets.events, buckets.totals, strict=True):
            if total is None:
                report.source.skip(buckets.table.line, f"a histogram without a number of waits: {event!r}")
            else:
                totals.setdefault(event, total)
    alike = dict[tuple[bool, ...], list[str]]()
    for event in totals:
        alike.setdefault(tuple(event in buckets.rows for buckets in held), []).append(event)
    added = [_add(report, held, present, events, totals) for present, events in alike.items()]
    if sum(added):
        report.source.note(ROUNDED)


def _add(
    report: Report, held: list[Buckets], present: tuple[bool, ...], events: list[str], totals: dict[str, float]
) -> int:
    """Add rows for events that are in the same tables; how many."""
    added, waits = 0, [totals[event] for event in events]
    own = [
        buckets.table.only([buckets.rows[event] for event in events]) if is_in else buckets.table
        for buckets, is_in in zip(held, present, strict=True)
    ]
    for at, bucket in _kept([tuple(buckets.edges) for buckets in held], present):
        low, high = bucket
        row = report.whole.row() | {
            "subject": events,
            "gt_us": low,
            "le_us": None if high == inf else high,
            "count": own[at].counts(held[at].edges[bucket], waits),
        }
        added += report.filled.add_known("latency", len(events), row, "count")
    return added


def _buckets(table: ReportTable, known: dict[object, float], *, is_fine: bool) -> Buckets | None:
    event = table.find("Event")
    total, edges = _columns(table.names, is_fine=is_fine)
    if event is None or total is None or not edges:
        return None
    events = [name or "" for name in table.texts(event)]
    cells = zip(events, table.texts(total), table.numbers(total), strict=True)
    totals = [_whole(known.get(name), cell or "", number) for name, cell, number in cells]
    return Buckets(table, events, totals, edges, {event: row for row, event in enumerate(events)})


def _whole(waits: float | None, cell: str, number: float | None) -> float | None:
    """A number of waits. Text cuts `521.6K` off to `521.6`: how many thousands it is, the table of waits tells."""
    if number is None or not CUT.fullmatch(cell):
        return number
    return min((number * each for each in (1e3, 1e6, 1e9)), key=lambda each: abs(each - (waits or 0.0)))


def _waits(report: Report) -> dict[object, float]:
    """Waits of each event over the interval, of foreground and background together."""
    known = dict[object, float]()
    events, rates = (report.filled.column("wait", name) for name in ("event", "waits_per_s"))
    for event, rate in zip(events, rates, strict=True):
        if isinstance(rate, float):
            known[event] = known.get(event, 0.0) + rate * report.whole.seconds
    return known


@lru_cache(maxsize=256)
def _columns(names: tuple[str, ...], *, is_fine: bool) -> tuple[int | None, dict[Bucket, int]]:
    """The column with all waits (`Total Waits`, `Waits 64ms to 2s`, `Waits`), and those of buckets."""
    total = next((at for at, name in enumerate(names) if "Waits" in name and not EDGE.search(name)), None)
    return total, dict(_edges(names, UNITS_US if is_fine else UNITS_OF_MS))


def _edges(names: tuple[str, ...], units: dict[str, float]) -> Iterator[tuple[Bucket, int]]:
    """Lower and upper edges of the columns that have some in their names, microseconds."""
    low = 0.0
    for column, name in enumerate(names):
        found = EDGE.search(name)
        if found is None:
            continue
        above, _, below = found[2].partition("/")
        high = inf if found[1].startswith(">") else int(above) / int(below or 1) * units[found[3]]
        if high > low:
            yield (low, high), column
        low = high


def _kept(edges: list[tuple[Bucket, ...]], present: tuple[bool, ...]) -> list[tuple[int, Bucket]]:
    """Buckets that do not overlap, of tables that an event is in: the narrowest first, a wide one is their sum."""
    all_of_them = [(bucket, at) for at, buckets in enumerate(edges) if present[at] for bucket in buckets]
    taken = list[tuple[int, Bucket]]()
    for (low, high), at in sorted(all_of_them, key=lambda each: (each[0][1] - each[0][0], -each[0][0])):
        if not any(low < end and begin < high for _, (begin, end) in taken):
            taken.append((at, (low, high)))
    return sorted(taken, key=lambda each: each[1])
