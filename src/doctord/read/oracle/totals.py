"""What is worked out when all sections of a report are read: statements, CPU among the waits, what is unaccounted."""

from doctord.read.oracle import sections_sql
from doctord.read.oracle.report import Report, Span, Values

DB_TIME, DB_CPU = "v$sys_time_model.DB time", "v$sys_time_model.DB CPU"
BACKGROUND_CPU = "v$sys_time_model.background cpu time"


def finish(report: Report) -> None:
    """Add the rows that need more than one section."""
    sections_sql.finish(report, lambda instance: _span(report, instance))
    model = {name: _rate(report, name) for name in (DB_TIME, DB_CPU, BACKGROUND_CPU)}
    for name, kind in ((DB_CPU, "foreground"), (BACKGROUND_CPU, "background")):
        if (spent := model[name]) is not None:
            row = report.whole.row() | {"event": "CPU", "wait_class": "CPU", "kind": kind, "waited_s_per_s": spent}
            report.filled.add("wait", 1, row)
    db_time, cpu = model[DB_TIME], model[DB_CPU]
    waited = _waited(report)
    if db_time is not None and cpu is not None and waited is not None:
        row = report.whole.row() | {
            "component": "oracle",
            "name": "reconcile.unaccounted",
            "value": db_time - cpu - waited,
            "unit": "s_per_s",
            "kind": "rate",
        }
        report.filled.add("statistic", 1, row)
    _once(report)


def _once(report: Report) -> None:
    """Leave out statistics that are there already, and those of a whole cluster that are there by instance."""
    held = report.filled.held.get("statistic")
    if held is None:
        return
    keys = list(zip(held["name"], held["entity"], held["ts"], strict=True))
    told = (
        {key[:2] for key, instance in zip(keys, held["instance"], strict=True) if instance} if report.spans else set()
    )
    seen = set[tuple[object, ...]]()
    keep = list[int]()
    for at, (key, instance) in enumerate(zip(keys, held["instance"], strict=True)):
        full = (*key, instance)
        if full not in seen and (instance or key[:2] not in told):
            seen.add(full)
            keep.append(at)
    for name, values in held.items():
        held[name] = [values[at] for at in keep]


def _span(report: Report, instance: str | None) -> Span:
    return next((span for span in report.spans.values() if span.instance == instance), report.whole)


def _rate(report: Report, name: str) -> float | None:
    """A statistic of the whole: of a cluster, the sum over its instances. The first that was given counts."""
    held = report.filled.held.get("statistic", {})
    values = dict[object, float]()
    rows = zip(held.get("name", []), held.get("instance", []), held.get("ts", []), held.get("value", []), strict=True)
    ends = {span.ts for span in report.spans.values()} | {report.whole.ts}
    for known, instance, ts, value in rows:
        if known == name and ts in ends and isinstance(value, float):
            values.setdefault(instance, value)
    if report.spans and len(values) > 1:
        values.pop(None, None)
    return sum(values.values()) if values else None


def _waited(report: Report) -> float | None:
    """Seconds per second that foreground processes waited for anything but work; null where they are not told."""
    held: dict[str, list[Values]] = report.filled.held.get("wait", {})
    rows = zip(
        held.get("ts", []),
        held.get("kind", []),
        held.get("wait_class", []),
        held.get("waited_s_per_s", []),
        strict=True,
    )
    seconds = [
        waited
        for ts, kind, name, waited in rows
        if ts == report.whole.ts and kind == "foreground" and name not in {"Idle", "CPU"} and isinstance(waited, float)
    ]
    return sum(seconds) if seconds else None
