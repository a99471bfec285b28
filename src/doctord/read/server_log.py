"""Logs of database servers: the native crate sums them up by the minute."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from doctord._native import Batch, ServerLog
from doctord.dataset.tables import TABLES
from doctord.read.source import SourceFile
from doctord.read.zones import placing

THREADS = 2
TABLES_FILLED = ("statistic", "statement", "latency", "wait", "event", "setting")
BYTE_ORDER_MARK = "\ufeff".encode()
CUT = "it ends within a line, which is left out: the server may still be writing it"


def summed_up(
    source: SourceFile, form: str, component: str, db: str, without: Callable[[bytes], bytes] = bytes
) -> Iterator[Batch]:
    """The rows of a log in one of the forms that the native crate knows; what was skipped is told to the source.

    `without` takes out of each piece what is none of the log's messages, and leaves its line ends.
    """
    latest = source.modified or datetime.now(UTC)
    log = ServerLog(form, source.head.encode(), threads=THREADS, latest=(latest.year, latest.month))
    first = True
    for chunk in source.chunks():
        log.add(without(chunk.removeprefix(BYTE_ORDER_MARK) if first else chunk))
        first = False
    layouts = {name: TABLES[name].layout for name in TABLES_FILLED}
    place = placing(source)
    placed = {(zone, local_us): place(zone, local_us) for zone, local_us in sorted(log.quarters())}
    yield from log.rows(component, db, source.host, layouts, placed)
    for line, reason in log.skipped:
        source.skip(line, reason)
    source.skipped_lines += log.skipped_lines - len(log.skipped)
    if log.is_cut:
        source.note(CUT)
