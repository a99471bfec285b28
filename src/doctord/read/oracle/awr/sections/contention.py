"""What sessions queue for: buffers, enqueues, latches, mutexes, undo, the caches of the shared pool."""

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report
from doctord.read.oracle.awr.section import (
    Section,
    Special,
    Statistics,
    gauge,
    mean_ms,
    mean_s,
    rate,
    spent,
    total,
)
from doctord.read.oracle.dates import moment_near

UNDO = Statistics(
    r"Undo Segment Summary",
    "v$undostat",
    (("Undo TS#", ""),),
    (
        total("undo_blocks", "Num Undo Blocks (K)", by=1000.0),
        total("txn", "Number of Transactions"),
        mean_s("max_query_s", "Max Qry Len (s)"),
        gauge("max_concurrency", "Max Tx Concurcy", "Max Tx Concy"),
    ),
)
STEP_US = 600_000_000

UNDO_ERRORS = tuple(
    Statistics("", "v$undostat", ("Undo TS#",), (total(name, name),)) for name in ("ssolderrcnt", "nospaceerrcnt")
)


def undo_summary(table: ReportTable, report: Report) -> bool:
    """Undo over the interval, errors among it: `STO/ OOS` are snapshots too old and out of space."""
    if not UNDO.fill(table, report):
        return False
    _undo_errors(table, report)
    return True


def _undo_errors(table: ReportTable, report: Report) -> None:
    column = table.find("STO/ OOS", "STO/OOS")
    if column is None:
        return
    names = [name or "" for name in table.texts(table.find("Undo TS#", "") or 0)]
    pairs = [(text or "").split("/") for text in table.texts(column)]
    for at, errors in enumerate(UNDO_ERRORS):
        counts = [pair[at].strip() if len(pair) == 2 else "" for pair in pairs]
        columns = ["Undo TS#", errors.figures[0].name]
        errors.fill(ReportTable.made(table.title, columns, list(zip(names, counts, strict=True))), report)


def undo_stats(table: ReportTable, report: Report) -> bool:
    """Undo in steps of ten minutes, each at its own end: the server's steps, of which the report's time cuts two."""
    at = table.find("End Time")
    blocks = table.find("Num Undo Blocks")
    if at is None or blocks is None:
        return False
    told = [moment_near(text or "", report.whole.ts, report.source) for text in table.texts(at)]
    ends = [None if end is None else min(end, report.whole.ts) for end in told]
    begins = [max((end or 0) - STEP_US, report.whole.begin) for end in told]
    figures = [
        (name, unit, table.numbers(column), divisor)
        for name, unit, column, divisor in (
            ("undo_blocks", "per_s", blocks, STEP_US / 1e6),
            ("txn", "per_s", table.find("Number of Transactions"), STEP_US / 1e6),
            ("max_query_s", "s", table.find("Max Qry Len (s)"), 1.0),
            ("max_concurrency", "count", table.find("Max Tx Concy", "Max Tx Concurcy"), 1.0),
        )
        if column is not None
    ]
    for name, unit, values, divisor in figures:
        keep = [row for row, value in enumerate(values) if value is not None and (ends[row] or 0) > begins[row]]
        report.filled.add(
            "statistic",
            len(keep),
            report.whole.row()
            | {
                "ts": [ends[row] for row in keep],
                "interval_s": [((ends[row] or 0) - begins[row]) / 1e6 for row in keep],
                "component": "oracle",
                "entity": "ten minutes",
                "name": f"v$undostat.{name}",
                "value": [(values[row] or 0.0) / divisor for row in keep],
                "unit": unit,
                "kind": "rate" if unit == "per_s" else "gauge",
            },
        )
    return True


SECTIONS: tuple[Section, ...] = (
    Statistics(
        r"Buffer wait Statistics",
        "v$waitstat",
        ("Class",),
        (
            total("waits", "Waits", "# Waits"),
            spent("time", "Total Wait Time (s)", "Tot Wait Time (s)", "Tot Wait Time (cs)"),
            mean_ms("avg_wait_ms", "Avg Time (ms)", "Avg Time (cs)"),
        ),
    ),
    Statistics(
        r"Enqueue Activity",
        "v$enqueue_stat",
        (("Enqueue Type (Request Reason)", "Eq", "Enqueue"),),
        (
            total("requests", "Requests", "Gets"),
            total("succ_gets", "Succ Gets", "Successful Gets"),
            total("failed_gets", "Failed Gets"),
            total("waits", "Waits"),
            spent("wait_time", "Wt Time (s)", "Wait Time", "Wait Time (s)"),
            mean_ms("avg_wait_ms", "Av Wt Time(ms)", "Av Wt Time (ms)", "Avg Wait Time (ms)", "Avg Wt Time (ms)"),
        ),
    ),
    Special(
        r"Undo Segment Summary", undo_summary, tuple(given for each in (UNDO, *UNDO_ERRORS) for given in each.given())
    ),
    Special(r"Undo Segment Stat", undo_stats, tuple((name, unit, "ten minutes") for name, unit, _ in UNDO.given())),
    Statistics(
        r"Latch Sleep Breakdown|Latch Wait Time Breakdown",
        "v$latch",
        (("Latch Name", "Latch"),),
        (
            total("gets", "Get Requests"),
            total("misses", "Misses"),
            total("sleeps", "Sleeps"),
            total("spin_gets", "Spin Gets"),
        ),
        head=("PDB Name",),
    ),
    Statistics(
        r"Latch Activity",
        "v$latch",
        (("Latch Name", "Latch"),),
        (
            total("gets", "Get Requests"),
            gauge("get_miss_pct", "Pct Get Miss", unit="pct"),
            gauge("sleeps_per_miss", "Avg Slps /Miss"),
            spent("wait_time", "Wait Time (s)"),
            total("immediate_gets", "NoWait Requests"),
            gauge("immediate_miss_pct", "Pct NoWait Miss", unit="pct"),
        ),
    ),
    Statistics(
        r"Latch Miss Sources",
        "v$latch_misses",
        ("Latch Name", "Where"),
        (
            total("nwfail_count", "NoWait Misses"),
            total("sleep_count", "Sleeps"),
            total("wtr_slp_count", "Waiter Sleeps"),
        ),
    ),
    Statistics(
        r"(Parent|Child) Latch Statistics",
        "v$latch_children",
        ("Latch Name", "Child Num"),
        (total("gets", "Get Requests"), total("misses", "Misses"), total("sleeps", "Sleeps")),
    ),
    Statistics(
        r"Mutex Sleep( Summary)?$",
        "v$mutex_sleep",
        ("Mutex Type", "Location"),
        (total("sleeps", "Sleeps"), spent("wait_time", "Wait Time (ms)", "Wait Time (s)", bare="ms")),
    ),
    Statistics(
        r"Dictionary Cache Stat(istic)?s( \(RAC\))?$",
        "v$rowcache",
        ("Cache",),
        (
            total("gets", "Get Requests"),
            gauge("get_miss_pct", "Pct Miss", unit="pct"),
            total("scans", "Scan Reqs", "Scan Requests"),
            gauge("scan_miss_pct", "Pct Miss#2", unit="pct"),
            total("modifications", "Mod Reqs"),
            gauge("usage", "Final Usage"),
            total("ges_requests", "GES Requests"),
            total("ges_conflicts", "GES Conflicts"),
            total("ges_releases", "GES Releases"),
        ),
    ),
    Statistics(
        r"Library Cache Activity( \(RAC\))?",
        "v$librarycache",
        ("Namespace",),
        (
            total("get_requests", "Get Requests"),
            gauge("get_miss_pct", "Pct Miss", unit="pct"),
            total("pin_requests", "Pin Requests"),
            gauge("pin_miss_pct", "Pct Miss#2", unit="pct"),
            total("reloads", "Reloads"),
            total("invalidations", "Invali- dations", "Invalidations"),
            total("ges_lock_requests", "GES Lock Requests"),
            total("ges_pin_requests", "GES Pin Requests"),
            total("ges_pin_releases", "GES Pin Releases"),
            total("ges_inval_requests", "GES Inval Requests"),
            total("ges_invalidations", "GES Invali- dations"),
        ),
    ),
    Statistics(
        r"Rollback Segment Stats",
        "v$rollstat",
        ("RBS No",),
        (
            total("gets", "Trans Table Gets"),
            gauge("waits_pct", "Pct Waits", unit="pct"),
            total("writes", "Undo Bytes Written", unit="bytes_per_s"),
            rate("wraps", "Wraps", unit="count"),
        ),
    ),
)
