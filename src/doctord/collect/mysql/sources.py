"""The tables of MariaDB and MySQL that tell latencies, and how their rows become buckets.

Distributions are there of statements only: MySQL's `events_statements_histogram_*`, and the table of MariaDB's plugin
`query_response_time`. Of files, locks and mutexes the performance schema has counts and sums: means.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from doctord.collect.core.increase import ALL, Buckets, Edges, Total
from doctord.dataset.waits.events import find

QUERY: Final = "query"
OPERATIONS: Final = ("read", "write", "other")
"""What a wait on a file does, as it stands after the event's name."""
_PICO_PER_US: Final = 1e6
_ENDLESS: Final = 2**64 - 1  # the upper edge of MySQL's last bucket

Rows = Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class StatusTable:
    """One table of the server. `covers` is how the names of its subjects begin; `certain` those that it surely has."""

    name: str
    covers: str
    fills: Literal["latency", "wait"]
    sql: str
    parse: Callable[[Rows], Mapping[str, Buckets]]
    parameters: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()

    def read(self, rows: Rows) -> Mapping[str, Buckets]:
        """Buckets by subject; those that never occurred are there, if it is certain that they could."""
        never: dict[str, Buckets] = {subject: {} for subject in self.certain}
        return {**never, **self.parse(rows)}


def query_of(digest: str) -> str:
    """Name of the subject that a statement's digest is."""
    return f"{QUERY} {digest}"


def statements(rows: Rows) -> Mapping[str, Buckets]:
    """Histograms from rows of digest (null for all statements), edges in picoseconds, and count."""
    found: dict[str, dict[Edges, Total]] = {}
    for digest, low, high, count in rows:
        edges = (int(low) / _PICO_PER_US, None if int(high) >= _ENDLESS else int(high) / _PICO_PER_US)
        found.setdefault(query_of(digest) if digest else QUERY, {})[edges] = Total(int(count))
    return found


def response_times(rows: Rows) -> Mapping[str, Buckets]:
    """The histogram from rows of upper edge in seconds (`TOO LONG` for the last), count, and time in seconds."""
    buckets: dict[Edges, Total] = {}
    low_us = 0.0
    for upper, count, waited in rows:
        if upper.strip() == "TOO LONG":
            buckets[low_us, None] = Total(int(count))
        else:
            high_us = round(float(upper) * 1e6, 3)
            buckets[low_us, high_us] = Total(int(count), round(float(waited) * 1e6, 3))
            low_us = high_us
    return {QUERY: buckets}


def files(rows: Rows) -> Mapping[str, Buckets]:
    """Sums from rows of event, then count and picoseconds of reads, of writes, and of the rest (sync, open, ...)."""
    return {
        f"{event} {operation}": _sum(count, picos)
        for event, *figures in rows
        for operation, count, picos in zip(OPERATIONS, figures[::2], figures[1::2], strict=True)
        if count
    }


def waits(rows: Rows) -> Mapping[str, Buckets]:
    """Sums from rows of event, count and picoseconds."""
    return {event: _sum(count, picos) for event, count, picos in rows if count}


def _sum(count: int, picos: int) -> Buckets:
    return {ALL: Total(int(count), int(picos) / _PICO_PER_US)}


def wait_class(event: str) -> str:
    """Class of a wait event, in Oracle's terms."""
    found = find("mysql", event)
    return found.wait_class if found else "Other"


HISTOGRAM: Final = StatusTable(
    "performance_schema.events_statements_histogram_global",
    QUERY,
    "latency",
    "SELECT /* doctord */ NULL AS doctord, bucket_timer_low, bucket_timer_high, count_bucket "
    "FROM performance_schema.events_statements_histogram_global WHERE count_bucket > 0",
    statements,
    certain=(QUERY,),
)
RESPONSE_TIME: Final = StatusTable(
    "information_schema.QUERY_RESPONSE_TIME",
    QUERY,
    "latency",
    "SELECT /* doctord */ time AS doctord, count, total FROM information_schema.QUERY_RESPONSE_TIME",
    response_times,
)
FILES: Final = StatusTable(
    "performance_schema.file_summary_by_event_name",
    "wait/io/file/",
    "wait",
    "SELECT /* doctord */ event_name AS doctord, count_read, sum_timer_read, count_write, sum_timer_write, count_misc, "
    "sum_timer_misc FROM performance_schema.file_summary_by_event_name WHERE count_star > 0",
    files,
)
# Files have a table of their own, with reads and writes apart. A wait on a table holds those on files, locks and
# mutexes under it: counted beside them it would be counted twice.
WAITS: Final = StatusTable(
    "performance_schema.events_waits_summary_global_by_event_name",
    "wait/",
    "wait",
    "SELECT /* doctord */ event_name AS doctord, count_star, sum_timer_wait "
    "FROM performance_schema.events_waits_summary_global_by_event_name WHERE count_star > 0 "
    "AND event_name LIKE 'wait/%' AND event_name NOT LIKE 'wait/io/file/%' AND event_name NOT LIKE 'wait/io/table/%'",
    waits,
)


def by_digest(digests: Sequence[str]) -> StatusTable:
    """The histograms of some statements, by the digests that `statement` and the server's own tables name them by."""
    return StatusTable(
        "performance_schema.events_statements_histogram_by_digest",
        f"{QUERY} ",
        "latency",
        "SELECT /* doctord */ digest AS doctord, bucket_timer_low, bucket_timer_high, SUM(count_bucket) "  # noqa: S608 - places for values, no values
        "FROM performance_schema.events_statements_histogram_by_digest WHERE count_bucket > 0 "
        f"AND digest IN ({', '.join(['%s'] * len(digests))}) "
        "GROUP BY digest, bucket_timer_low, bucket_timer_high",
        statements,
        tuple(digests),
        tuple(map(query_of, digests)),
    )
