"""Wait events, foreground and background, and wait classes."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import INSTANCE_COLUMNS, InstanceRows, Report, Values, filled_down, place
from doctord.read.oracle.awr.section import (
    Redundant,
    Section,
    Special,
    Statistics,
    add_figure,
    bare_unit,
    gauge,
    mean_ms,
    picked,
    spent,
    total,
)
from doctord.read.oracle.wait_classes import class_of

EVENT = ("Event", "Wait Event", "Event Name")
CLASS = ("Wait Class", "Class")
WAITS = ("Waits", "Event Waits", "Total Waits", "# Waits", "#Waits")
WAITS_PER_S = ("# Waits/sec (Elapsed Time)", "#Waits/sec (Elapsed Time)")
TIME = (
    "Total Wait Time (s)",
    "Wait Time Total(s)",
    "Total Wait Time (sec)",
    "Total Wait Time (cs)",
    "Wait Time (cs)",
    "Time (cs)",
    "Time(s)",
    "Time (s)",
    "Wait Time (s)",
    "Total Time (s)",
    "Total(s)",
)
MEAN = (
    "Avg wait (ms)",
    "Avg wait",
    "Wait Time Avg Wait",
    "Avg Time(ms)",
    "Avg Wait Time (ms)",
    "Avg Wait Time",
    "wait (ms)",
)
TIMEOUTS = ("%Time -outs", "% Time -outs", "Event %Timeouts", "%Timeouts", "%Tim out", "%Time outs")
WHOLE_CLUSTER = "*"
# Lines among the events that are no events: they are in the time model.
CPU = {"DB CPU": "foreground", "CPU time": "foreground", "background cpu time": "background", "CPU": "foreground"}


class Waits(NamedTuple):
    """The columns of a table of events: each a value for each row."""

    names: list[str]
    classes: list[str]
    counts: list[float | None]
    seconds: list[float | None]
    means_ms: list[float | None]
    timeouts_pct: list[float | None]


def waits(table: ReportTable, report: Report, kind: str | None) -> bool:
    """Rows of `wait` for the events that no table before told."""
    placed = place(table, report)
    found = taken(placed)
    if found is None:
        return False
    instances = placed.row["instance"]
    keep = list[int]()
    for at, name in enumerate(found.names):
        key = (instances[at] if isinstance(instances, list) else instances, name, kind)
        was_there = found.counts[at] is not None or found.seconds[at] is not None
        if name and was_there and name not in CPU and key not in report.events:
            report.events.add(key)
            keep.append(at)
    add_waits(report, placed, found, keep, kind)
    if kind == "background":
        numbers = zip(found.names, found.counts, found.seconds, strict=True)
        report.background |= {name: (count or 0.0, seconds or 0.0) for name, count, seconds in numbers}
    return True


def add_waits(report: Report, placed: InstanceRows, found: Waits, keep: list[int], kind: str | None) -> None:
    """Add rows of `wait` of the events at the places to keep: waits and timeouts a second, mean ms, sessions in it."""
    rates = placed.per_second(found.counts)
    timeouts = [
        None if share is None or each is None else share * each / 100
        for share, each in zip(found.timeouts_pct, rates, strict=True)
    ]
    row: dict[str, Values] = {name: picked(value, keep) for name, value in placed.row.items()}
    row |= {
        "kind": kind,
        "event": [found.names[at] for at in keep],
        "wait_class": [found.classes[at] for at in keep],
        "waits_per_s": picked(rates, keep),
        "avg_wait_ms": picked(found.means_ms, keep),
        "average_active_sessions": picked(placed.per_second(found.seconds), keep),
        "timeouts_per_s": picked(timeouts, keep),
    }
    report.filled.add("wait", len(keep), row)


def taken(placed: InstanceRows) -> Waits | None:
    """The columns of a table of events; null where it is none."""
    table = placed.table
    event, time = table.find(*EVENT), table.find(*TIME)
    if event is None or time is None:
        return None
    names = [name or "" for name in table.texts(event)]
    known = table.find(*CLASS)
    printed = table.texts(known) if known is not None else [None] * len(names)
    classes = [shown or class_of(name) for name, shown in zip(names, printed, strict=True)]
    counts = _counts(placed)
    seconds, means = _sharpened(table, time, counts)
    return Waits(names, classes, counts, seconds, means, _timeouts_pct(table, counts))


def _timeouts_pct(table: ReportTable, counts: Sequence[float | None]) -> list[float | None]:
    """Waits that timed out, per cent; before 10g their number is printed."""
    share, number = table.find(*TIMEOUTS), table.find("Timeouts")
    if share is not None or number is None:
        return table.numbers(share) if share is not None else [None] * len(table)
    return [
        None if each is None or not count else each / count * 100
        for each, count in zip(table.numbers(number), counts, strict=True)
    ]


def _counts(placed: InstanceRows) -> list[float | None]:
    table = placed.table
    column = table.find(*WAITS)
    if column is not None:
        return table.numbers(column)
    column = table.find(*WAITS_PER_S)
    if column is None:
        return [None] * len(table)
    seconds = placed.seconds if isinstance(placed.seconds, list) else [placed.seconds] * len(table)
    rates = table.numbers(column)
    return [None if each is None else each * length for each, length in zip(rates, seconds, strict=True)]


def _sharpened(
    table: ReportTable, time: int, counts: Sequence[float | None]
) -> tuple[list[float | None], list[float | None]]:
    """Total seconds and mean milliseconds, each worked out of the other where that is more exact.

    Both are rounded: a total of `0` s over many waits of `353.90us` says less than the mean does, and a mean of
    `9` ms less than 4,568 s over 520,207 waits.
    """
    seconds = table.times(time, bare=bare_unit(table.names[time], "s"), to="s")
    column = table.find(*MEAN)
    if column is None:
        means: list[float | None] = [
            spent_s / count * 1000 if spent_s is not None and count else None
            for spent_s, count in zip(seconds, counts, strict=True)
        ]
        return seconds, means
    means = table.times(column, bare=bare_unit(table.names[column], "ms"), to="ms")
    if table.find(*WAITS) is None:
        return seconds, means  # counts are worked out of rates, which are rounded more than both
    cells = table.texts(column)
    total_step_ms = 10.0 if any("." in (cell or "") for cell in table.texts(time)) else 1000.0
    mean_step_ms = 0.01 if any("." in (cell or "") for cell in cells) else 1.0
    for at, (spent_s, count, mean) in enumerate(zip(seconds, counts, means, strict=True)):
        if spent_s is None or not count or mean is None:
            continue
        step = mean / 10_000 if (cells[at] or "")[-1:] == "s" else mean_step_ms
        if count * step > total_step_ms:
            means[at] = spent_s / count * 1000
        else:
            seconds[at] = count * mean / 1000
    return seconds, means


def older_waits(table: ReportTable, report: Report) -> bool:
    """Before 11g `Wait Events` holds those of background processes as well: these are taken off.

    The reports of 11g and later for a cluster say that they do the same for older data. Where there is no section for
    background processes, as in reports that compare, both stay together (kind null).
    """
    placed = place(table, report)
    found = taken(placed)
    if found is None or not report.background:
        return waits(table, report, None)
    keep = list[int]()
    for at, name in enumerate(found.names):
        count, seconds = report.background.get(name, (0.0, 0.0))
        left, spent_s = (found.counts[at] or 0.0) - count, max((found.seconds[at] or 0.0) - seconds, 0.0)
        if left > 0 and name not in CPU:
            keep.append(at)
            if count:
                found.counts[at], found.seconds[at], found.means_ms[at] = left, spent_s, spent_s / left * 1000
    report.events |= {(report.whole.instance, found.names[at], "foreground") for at in keep}
    add_waits(report, placed, found, keep, "foreground")
    return True


def top_events(table: ReportTable, report: Report) -> bool:
    """The top events: of a cluster by instance, as statistics; and as waits what no full table holds."""
    told = TOP_BY_INSTANCE.fill(table, report) if report.spans else False
    if any(kind == "foreground" or kind is None for _, _, kind in report.events):
        return True
    kind = "foreground" if "foreground" in f"{table.title} {table.summary}".lower() else None
    taken_here = _of_cluster(table, report, kind) if report.spans else waits(table, report, kind)
    report.has_top_events_only |= taken_here
    return told or taken_here


def _of_cluster(table: ReportTable, report: Report, kind: str | None) -> bool:
    """The top events of a cluster as a whole: rows of instance `*`."""
    column = table.find(*INSTANCE_COLUMNS)
    if column is None:
        return False
    of_all = [at for at, instance in enumerate(filled_down(table.texts(column))) if instance == WHOLE_CLUSTER]
    placed = InstanceRows(table.only(of_all), report.whole.row(), report.whole.seconds)
    found = taken(placed) if of_all else None
    if found is None:
        return False
    keep = [at for at, name in enumerate(found.names) if name and name not in CPU]
    report.events |= {(None, found.names[at], kind) for at in keep}
    add_waits(report, placed, found, keep, kind)
    return bool(keep)


def _class_columns(table: ReportTable, report: Report) -> bool:
    """Wait classes of a cluster, a column for each: `User I/O(s)`."""
    placed = place(table, report)
    found = False
    for printed, name in CLASS_COLUMNS.items():
        column = placed.table.find(f"{printed}(s)", f"{printed} (s)", printed)
        if column is not None:
            values = placed.per_second(placed.table.numbers(column))
            view = "v$system_wait_class.time_waited"
            found |= add_figure(report, placed, values, name=view, unit="s_per_s", entities=name)
    return found


CLASS_COLUMNS = {
    "User I/O": "User I/O",
    "Sys I/O": "System I/O",
    "Other": "Other",
    "Applic": "Application",
    "Commit": "Commit",
    "Network": "Network",
    "Concurcy": "Concurrency",
    "Config": "Configuration",
    "Cluster": "Cluster",
    "Admin": "Administrative",
    "Scheduler": "Scheduler",
}
TOP_BY_INSTANCE = Statistics(
    "",
    "top_timed_events",
    (EVENT,),
    (total("waits", *WAITS), spent("time_waited", *TIME), mean_ms("avg_wait_ms", *MEAN)),
)

SECTIONS: tuple[Section, ...] = (
    Special(r"Foreground Wait Events|Foreground Wait Event Information", partial(waits, kind="foreground")),
    Special(r"Background Wait Events|Background Wait Event Information", partial(waits, kind="background")),
    Redundant(r"Wait Events \(fg and bg\)"),
    Special(r"Wait Events(?! Stat)", older_waits),
    Redundant(r"Foreground Wait Classes -"),
    Special(
        r"Foreground Wait Classes\b", _class_columns, (("v$system_wait_class.time_waited", "s_per_s", "Wait Class"),)
    ),
    Statistics(
        r"(Foreground )?Wait Class(es)?\b|wait class statistics",
        "v$system_wait_class",
        ("Wait Class",),
        (
            spent("time_waited", *TIME),
            total("waits", *WAITS),
        ),
    ),
    Redundant(r"Top Timed Background Events"),
    Special(
        r"Top \d+ (Timed |Foreground |Wait )*Events|Top Timed (Foreground )?Events",
        top_events,
        tuple(TOP_BY_INSTANCE.given()),
    ),
    Statistics(
        r"Top \d+ Channel Waits",
        "v$channel_waits",
        ("Channel",),
        (total("waits", "Waits"), spent("time_waited", "Total Wait Time (s)"), mean_ms("avg_wait_ms", "Avg Wait")),
    ),
    Statistics(
        r"Service Wait Class",
        "v$service_wait_class",
        ("Service Name", "Wait Class"),
        (total("waits", "Total Waits"), spent("time_waited", "Total Wait Time (s)")),
    ),
    Statistics(
        r"top ADDM findings|ADDM findings",
        "addm",
        ("Finding Name", "Task Name"),
        (
            gauge("avg_active_sessions", "Avg active sessions of the task"),
            gauge("active_sessions_pct", "Percent active sessions of finding", unit="pct"),
        ),
    ),
)
