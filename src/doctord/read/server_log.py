"""Logs of database servers: the native crate sums them up by the minute."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from doctord._native import Batch, ServerLog
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.read.clock import untimed
from doctord.read.source import SourceFile
from doctord.read.zones import placing

THREADS = 2
TABLES_FILLED = ("statistic", "statement", "latency", "wait", "event", "setting")
BYTE_ORDER_MARK = "\ufeff".encode()
# Of a log without times only sums are told, named in_all.*: nobody knows how long it took to gather them.
UNTIMED: Final = {
    "kind": "not measured",
    "subject": "when the log's lines were written, and how often a minute",
    "text": "no line of the log has a time: what is in it is counted as a whole",
    "hint": "PostgreSQL: log_line_prefix = '%m [%p] %q%u@%d '; or have the time put before each line: docker logs -t, "
    "kubectl logs --timestamps, journalctl -o short-iso",
}
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
    untimed_us = micros(untimed(source, 1)[0]) if log.is_untimed else None
    yield from log.rows(component, db, source.host, layouts, placed, untimed_us)
    if untimed_us is not None:
        yield rows("event", [UNTIMED | {"ts": untimed_us, "host": source.host, "db": db}])
    for line, reason in log.skipped:
        source.skip(line, reason)
    source.skipped_lines += log.skipped_lines - len(log.skipped)
    if log.is_cut:
        source.note(CUT)
