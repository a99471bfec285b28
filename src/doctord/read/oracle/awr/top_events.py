"""Lists of top events cut out of Statspack and AWR reports: `Top 5 Timed Events`, `Top 5 Wait Events`.

`wait`: without the report's head nobody knows how long the interval was. Seconds and waits are therefore given per
second of all the time that the list takes for the whole (its column of per cent says how much that is): 0.43 in
`average_active_sessions` is 43 % of the time. `interval_s` is null, the moment that of the file. What the list leaves
out of the whole is one row more, so that shares stay those that are printed. All rows are of kind foreground,
as the list does not tell. A note says so.
"""

import re
from collections.abc import Iterator, Sequence

from doctord._native import Batch, ReportTable, text_tables
from doctord.dataset.rows import micros, rows
from doctord.errors import UserError
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.oracle.awr.report import InstanceRows
from doctord.read.oracle.awr.sections.waits import CPU, Waits, taken
from doctord.read.oracle.awr.text_report import KNOWN, title
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Top events of an Oracle report"
RANK = Rank.NAMED
TITLE = regex(r"^[ \t]*(?:Top \d+ (?:Timed|Wait|Timed Foreground) Events|Top \d+ Foreground Events by)", re.MULTILINE)
WHOLE_REPORT = regex(r"WORKLOAD REPOSITORY|STATSPACK (?:report|statistics)|Begin Snap:|<t", re.IGNORECASE)
SHARE = regex(r"%\s*(?:Total|DB|Call|of DB)", re.IGNORECASE)
NOT_LISTED = "events that the list leaves out"
NO_INTERVAL = "no interval is told: waits are per second of all the time that the list is about, not of the clock"


def sniff(head: str) -> bool:
    """Whether a file that begins so holds such a list, and no report around it."""
    return bool(TITLE.search(head)) and "~~~" in head and not WHOLE_REPORT.search(head)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `wait`, shares of the whole.

    Raises:
        UserError: no list in it has events with their time.
    """
    content = source.content()
    tables = [table for table in text_tables(content, KNOWN) if TITLE.match(table.title)]
    found = [
        (table, waits) for table in tables if (waits := taken(InstanceRows(table, {"instance": None}, 1.0))) is not None
    ]
    if not found:
        raise UserError(f"{source.name} holds no list of events with their time", "take the whole report")
    source.note(NO_INTERVAL)
    named = re.search(r"DB: (\S+), Inst", title(content))
    db = f"oracle:{named[1]}" if named else "oracle"
    for (table, waits), moment in zip(found, untimed(source, len(found)), strict=True):
        yield rows(
            "wait", ({"ts": micros(moment), "db": db, "kind": "foreground"} | row for row in _shares(table, waits))
        )


def _shares(table: ReportTable, waits: Waits) -> Iterator[dict[str, object]]:
    whole = _whole(table, waits.seconds)
    for at, name in enumerate(waits.names):
        count, seconds = waits.counts[at], waits.seconds[at]
        is_cpu = name in CPU
        yield {
            "wait_class": "CPU" if is_cpu else waits.classes[at],
            "event": "CPU" if is_cpu else name,
            "waits_per_s": None if count is None else count / whole,
            "avg_wait_ms": waits.means_ms[at],
            "average_active_sessions": None if seconds is None else seconds / whole,
        }
    left = 1 - sum(seconds for seconds in waits.seconds if seconds is not None) / whole
    if left > 0:
        yield {"wait_class": "Other", "event": NOT_LISTED, "average_active_sessions": left}


def _whole(table: ReportTable, seconds: Sequence[float | None]) -> float:
    """Seconds that are 100 %: worked out of the longest, of which per cent are the most exact."""
    column = next((at for at, name in enumerate(table.names) if SHARE.search(name)), None)
    shares = table.numbers(column) if column is not None else [None] * len(table)
    told = [(spent, share) for spent, share in zip(seconds, shares, strict=True) if spent and share]
    longest = max(told, default=None)
    return longest[0] * 100 / longest[1] if longest else sum(spent or 0.0 for spent in seconds) or 1.0
