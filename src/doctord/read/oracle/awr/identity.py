"""Whom a report is about, and when: the tables at its head.

A report of one instance has `DB Name`, `Instance`, `Host Name` in one table or three, and the lines `Begin Snap:` and
`End Snap:`; one of a cluster lists its instances by `I#`; one that compares has two `Snapshot Set`s. The title of the
document helps where the head is cut off.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report, Span
from doctord.read.oracle.awr.section import picked
from doctord.read.oracle.dates import moment_within
from doctord.read.source import SourceFile
from doctord.regex import regex

TITLE = regex(r"\bDB:\s*([\w$#]+)(?:,\s*Inst:\s*([\w$#]+))?")
MINUTES = regex(r"([\d,. ]*\d)\s*\(?mins?\)?", re.IGNORECASE)
# What the head says of the database in words: column, and the setting it becomes.
FACTS = {
    "Release": "version",
    "Edition": "edition",
    "RAC": "rac",
    "Cluster": "rac",
    "CDB": "cdb",
    "Role": "role",
    "Unique Name": "unique_name",
    "DB Id": "dbid",
    "Startup Time": "startup_time",
    "Platform": "platform",
    "Database Id": "dbid",
    "Database Unique Name": "unique_name",
    "Database Role": "role",
    "Database Edition": "edition",
    "Database RAC": "rac",
    "Database CDB": "cdb",
}
HEAD = (*FACTS, "DB Name", "Snapshot Set", "Snap Id", "Container Name", "Host Name", "Database Name")


def is_head(table: ReportTable) -> bool:
    """Whether a table is one of those at the head."""
    return _is_head(table.names) or bool(_snap_rows(table)) or table.summary.endswith("database counts")


@lru_cache(maxsize=4096)
def _is_head(names: tuple[str, ...]) -> bool:
    return ReportTable.made("", names, ()).find(*HEAD) is not None


def parted(tables: Iterable[ReportTable]) -> tuple[list[ReportTable], list[ReportTable]]:
    """The tables at the head, and all others."""
    parts: tuple[list[ReportTable], list[ReportTable]] = ([], [])
    for table in tables:
        parts[0 if is_head(table) else 1].append(table)
    return parts


def begins(table: ReportTable) -> bool:
    """Whether a table is the first of a report: one file may hold several."""
    return table.find("DB Id", "Database Id") is not None and table.find("Snapshot Set") is None


def value(tables: Sequence[ReportTable], *names: str) -> str | None:
    """The first value of the first column of that name."""
    for table in tables:
        column = table.find(*names)
        if column is not None and len(table):
            return table.texts(column)[0]
    return None


def reports(title: str, heads: Sequence[ReportTable], source: SourceFile) -> Iterator[Report]:
    """The report that a head speaks of: one, or two for periods that are compared; none when it does not say when."""
    named = TITLE.search(title)
    if any(table.find("Snapshot Set") is not None for table in heads):
        yield from _compared(heads, source)
        return
    name = value(heads, "DB Name", "Database Name") or (named[1] if named else None)
    db = f"oracle:{name}" if name else "oracle"
    cluster = next((table for table in heads if table.find("I#") is not None), None)
    report = _cluster(cluster, db, source) if cluster else _single(heads, db, named[2] if named else None, source)
    if report is not None:
        _facts(report, heads)
        yield report


def _single(heads: Sequence[ReportTable], db: str, instance: str | None, source: SourceFile) -> Report | None:
    lines = dict[str, str]()
    for table in heads:
        lines |= _snap_rows(table)
    begin, end = (moment_within(lines.get(key, ""), source) for key in ("begin", "end"))
    if begin is None or end is None or end <= begin:
        return None
    host = value(heads, "Host Name", "Host")
    source.host = source.host or host
    whole = Span(
        end,
        _seconds(begin, end, _minutes(lines.get("elapsed"))),
        db,
        value(heads, "Instance", "Instance Name") or instance,
        source.host,
        _minutes(lines.get("db time")),
    )
    return Report(source, whole)


def _snap_rows(table: ReportTable) -> dict[str, str]:
    """`Begin Snap:`, `End Snap:`, `Elapsed:` and `DB Time:` with all that stands behind them."""
    if not 0 < len(table) < 12 or len(table.names) > 16:
        return {}
    width = max(len(table.names), 1)
    first = table.texts(0)
    if not any(text and text.lower().startswith(("begin snap", "end snap")) for text in first):
        return {}
    rows = zip(*(table.texts(column) for column in range(width)), strict=True)
    keys = (("begin", "begin snap"), ("end", "end snap"), ("elapsed", "elapsed"), ("db time", "db time"))
    return {
        key: "  ".join(cell for cell in row[1:] if cell)
        for row in rows
        for key, begins in keys
        if (row[0] or "").lower().startswith(begins)
    }


def _minutes(text: str | None) -> float | None:
    """Minutes as seconds: `4,319.92 (mins)`."""
    found = MINUTES.search(text or "")
    if found is None:
        return None
    cells = ReportTable.made("", [], [[found[1]]], comma=bool(re.search(r",\d\d$", found[1])))
    number = cells.numbers(0)[0]
    return None if number is None else number * 60


def _seconds(begin: int, end: int, elapsed: float | None) -> float:
    """Length of the interval. What the report says counts where its moments have no seconds, or clocks were moved."""
    between = (end - begin) / 1e6
    if elapsed and (abs(elapsed - between) > 60 or (begin % 60_000_000 == 0 and end % 60_000_000 == 0)):
        return elapsed
    return between


def _cluster(table: ReportTable, db: str, source: SourceFile) -> Report | None:
    """The instances of a cluster; all together end when the last does."""
    found = {name: _cells(table, *columns) for name, columns in CLUSTER.items()}
    spans = dict[str, Span]()
    for at, number in enumerate(found["number"]):
        begin, end = (moment_within(found[key][at] or "", source) for key in ("begin", "end"))
        if number is None or begin is None or end is None or end <= begin:
            continue
        elapsed, db_time = (_minutes(f"{found[key][at]} min") for key in ("elapsed", "db_time"))
        seconds = _seconds(begin, end, elapsed)
        spans[number] = Span(end, seconds, db, found["instance"][at] or number, found["host"][at], db_time)
    if not spans:
        return None
    hosts = {span.host for span in spans.values()}
    whole = Span(
        max(span.ts for span in spans.values()),
        max(span.seconds for span in spans.values()),
        db,
        None,
        hosts.pop() if len(hosts) == 1 else None,
        sum(span.db_time_s or 0.0 for span in spans.values()) or None,
    )
    return Report(source, whole, spans)


CLUSTER = {
    "number": ("I#",),
    "instance": ("Instance",),
    "host": ("Host",),
    "begin": ("Begin Snap Time",),
    "end": ("End Snap Time",),
    "elapsed": ("Elapsed Time(min)", "Elapsed Time (min)"),
    "db_time": ("DB time(min)", "DB time (min)"),
}


def _cells(table: ReportTable, *names: str) -> list[str | None]:
    column = table.find(*names)
    return table.texts(column) if column is not None else [None] * len(table)


def _compared(heads: Sequence[ReportTable], source: SourceFile) -> Iterator[Report]:
    """Both periods, the first first."""
    sets = [table for table in heads if table.find("Snapshot Set") is not None]
    whom = next((table for table in sets if table.find("DB Name") is not None), sets[0])
    when = next((table for table in sets if table.find("Begin Snap Time") is not None), sets[0])
    hosts = _cells(whom, "Host", "Host Name")
    names, instances = _cells(whom, "DB Name"), _cells(whom, "Instance")
    begins, ends = _cells(when, "Begin Snap Time"), _cells(when, "End Snap Time")
    elapsed, db_time = _cells(when, "Elapsed Time (min)"), _cells(when, "DB time (min)")
    for at in range(min(2, len(when))):
        begin, end = moment_within(begins[at] or "", source), moment_within(ends[at] or "", source)
        if begin is None or end is None or end <= begin:
            continue
        row = min(at, len(whom) - 1)
        db = f"oracle:{names[row]}" if names[row] else "oracle"
        seconds = _seconds(begin, end, _minutes(f"{elapsed[at]} min"))
        span = Span(end, seconds, db, instances[row], hosts[row], _minutes(f"{db_time[at]} min"))
        yield Report(source, span)


def _facts(report: Report, heads: Sequence[ReportTable]) -> None:
    """What the head says in words, as settings of the component `oracle`; a start within the interval as an event."""
    found = dict[str, str]()
    for printed, name in FACTS.items():
        text = value(heads, printed)
        if text and name not in found:
            found[name] = text
    row = report.whole.row() | {"interval_s": None, "component": "oracle", "source": "head of the report"}
    row |= {"name": [f"report.{name}" for name in found], "value": list(found.values())}
    report.filled.add("setting", len(found), row)
    started = moment_within(found.get("startup_time", ""), report.source)
    if started is not None and report.whole.begin <= started <= report.whole.ts:
        text = f"instance {report.whole.instance} was started"
        row = report.whole.row() | {"ts": started, "kind": "restart", "subject": report.whole.instance, "text": text}
        report.filled.add("event", 1, row)
    sessions = [table for table in heads if table.find("Sessions") is not None and _snap_rows(table)]
    for table in sessions:
        _sessions(report, table)


def _sessions(report: Report, table: ReportTable) -> None:
    last = [at for at, text in enumerate(table.texts(0)) if (text or "").lower().startswith("end snap")]
    for name, *others in (("Sessions",), ("Cursors/Session", "Curs/Sess"), ("Instances",)):
        column = table.find(name, *others)
        values = picked(table.numbers(column), last) if column is not None else []
        if isinstance(values, list) and values and values[0] is not None:
            row = report.whole.row() | {
                "interval_s": None,
                "component": "oracle",
                "name": f"snapshot.{name.lower()}",
                "value": values,
                "unit": "count",
                "kind": "gauge",
            }
            report.filled.add("statistic", 1, row)
