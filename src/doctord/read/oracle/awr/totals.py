"""What is worked out when all sections of a report are read: statements, CPU among the waits, what is unaccounted."""

from doctord.read.oracle.awr.report import Report, Span
from doctord.read.oracle.awr.sections import sql
from doctord.read.oracle.wait_classes import NOT_LISTED

DB_TIME, DB_CPU = "v$sys_time_model.DB time", "v$sys_time_model.DB CPU"
CLASSES = "v$system_wait_class.time_waited"
SESSION_CPU = "v$sysstat.CPU used by this session"  # hundredths of a second; before 10g there is no time model
BACKGROUND_CPU = "v$sys_time_model.background cpu time"


def finish(report: Report) -> None:
    """Add the rows that need more than one section."""
    sql.finish(report, lambda instance: _span(report, instance))
    model = _rates(report, {DB_TIME, DB_CPU, BACKGROUND_CPU, SESSION_CPU})
    if DB_TIME not in model and DB_CPU not in model and SESSION_CPU in model:
        model[DB_CPU] = model[SESSION_CPU] / 100
    for name, kind in ((DB_CPU, "foreground"), (BACKGROUND_CPU, "background")):
        if name in model:
            row = report.whole.row() | {"event": "CPU", "wait_class": "CPU", "kind": kind}
            report.filled.add("wait", 1, row | {"average_active_sessions": model[name]})
    waited = _waited(report)
    if report.has_top_events_only and waited is not None and DB_TIME in model:
        rest = _not_listed(report, model[DB_TIME] - model.get(DB_CPU, 0.0), waited)
        row = report.whole.row() | {"event": NOT_LISTED, "wait_class": "Other", "kind": "foreground"}
        report.filled.add("wait", 1, row | {"average_active_sessions": rest})
        waited += rest
    if DB_TIME in model and DB_CPU in model and waited is not None:
        row = report.whole.row() | {
            "component": "oracle",
            "name": "reconcile.unaccounted",
            "value": model[DB_TIME] - model[DB_CPU] - waited,
            "unit": "s_per_s",
            "kind": "rate",
        }
        report.filled.add("statistic", 1, row)
    _once(report)


def _not_listed(report: Report, not_on_cpu: float, waited: float) -> float:
    """Waits that a list of top events leaves out: by the sums of wait classes, or else all that is no CPU."""
    rows = report.filled.where("statistic", "name", {CLASSES})
    told = (report.filled.column("statistic", name, rows) for name in ("entity", "value", "instance"))
    classes = [
        (value, instance)
        for entity, value, instance in zip(*told, strict=True)
        if value is not None and entity not in {"Idle", "DB CPU", "CPU"}
    ]
    by_instance = [value for value, instance in classes if instance] or [value for value, _ in classes]
    return max(0.0, (min(sum(by_instance), not_on_cpu) if classes else not_on_cpu) - waited)


def _once(report: Report) -> None:
    """Leave out statistics that are there already, and those of a whole cluster that are there by instance."""
    names = ("name", "entity", "ts", "instance")
    if not report.spans:
        report.filled.keep_firsts("statistic", *names)
        return
    keys = list(zip(*(report.filled.column("statistic", name) for name in names), strict=True))
    first = dict[tuple[object, ...], int]()
    for at, key in enumerate(keys):
        first.setdefault(key, at)
    told = {(name, entity) for name, entity, _, instance in first if instance}
    report.filled.keep("statistic", [at for key, at in first.items() if key[3] or key[:2] not in told])


def _span(report: Report, instance: str | None) -> Span:
    return next((span for span in report.spans.values() if span.instance == instance), report.whole)


def _rates(report: Report, wanted: set[str]) -> dict[str, float]:
    """Statistics of the whole: of a cluster, sums over its instances. The first that was given of each counts."""
    ends = {span.ts for span in report.spans.values()} | {report.whole.ts}
    values = {name: dict[object, float]() for name in wanted}
    rows = report.filled.where("statistic", "name", wanted)
    told = (report.filled.column("statistic", name, rows) for name in ("name", "value", "ts", "instance"))
    for name, value, ts, instance in zip(*told, strict=True):
        if ts in ends and value is not None:
            values[name].setdefault(instance, value)
    for by_instance in values.values():
        if report.spans and len(by_instance) > 1:
            by_instance.pop(None, None)
    return {name: sum(by_instance.values()) for name, by_instance in values.items() if by_instance}


def _waited(report: Report) -> float | None:
    """Seconds per second that foreground processes waited for anything but work; null where they are not told."""
    told = (report.filled.column("wait", name) for name in ("ts", "kind", "wait_class", "average_active_sessions"))
    seconds = [
        waited
        for ts, kind, name, waited in zip(*told, strict=True)
        if ts == report.whole.ts and kind != "background" and name not in {"Idle", "CPU"} and waited is not None
    ]
    return sum(seconds) if seconds else None
