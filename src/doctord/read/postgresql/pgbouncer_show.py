r"""PgBouncer's SHOW POOLS and SHOW STATS as psql prints them: an aligned table, whatever stands above it.

It yields `statistic` of `pgbouncer`, the entity being the database and, of a pool, the user:

- of SHOW POOLS, of the moment: `pgbouncer.cl_active`, `.cl_waiting`, `.sv_active`, `.sv_idle` and their like (clients
  and servers), `.maxwait`, seconds that the first client in the queue has waited.
- of SHOW STATS, means per second of PgBouncer's last period (stats_period), as in its log: `pgbouncer.xacts`,
  `.queries`, `.bytes_in`, `.bytes_out`, `.wait_time` (microseconds that clients waited), and `.xact_time`,
  `.query_time` (microseconds each). Totals since its start are left out.

Neither tells when it was: the file's last change is taken.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.postgresql.psql_table import FOOTER, RULER, aligned
from doctord.read.source import SourceFile

NAME = "PgBouncer's SHOW POOLS and SHOW STATS"
RANK = Rank.NAMED
DB: Final = "pgbouncer"
LOOKED_AT: Final = 40
POOLS: Final = frozenset({"database", "user", "cl_active", "cl_waiting", "sv_active"})
STATS: Final = frozenset({"database", "avg_xact_time", "avg_wait_time"})
# Columns of means, and how the log calls them, with the kind and the unit that they have there.
MEANS: Final = {
    "avg_xact_count": ("xacts", "rate", "per_s"),
    "avg_query_count": ("queries", "rate", "per_s"),
    "avg_recv": ("bytes_in", "rate", "bytes_per_s"),
    "avg_sent": ("bytes_out", "rate", "bytes_per_s"),
    "avg_xact_time": ("xact_time", "gauge", "us"),
    "avg_query_time": ("query_time", "gauge", "us"),
    "avg_wait_time": ("wait_time", "rate", "us_per_s"),
}


def sniff(head: str) -> bool:
    """Whether one of these tables is among its first lines."""
    lines = head.splitlines()[:LOOKED_AT]
    return any(_columns(above) and RULER.fullmatch(below.strip()) for above, below in pairwise(lines))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`.

    What is no row of a table is left out: a prompt, a banner, an empty line.
    """
    about = {"ts": micros(last_written(source)), "host": source.host, "component": DB, "db": DB}
    found = [about | row for table in _tables(source) for row in table]
    if found:
        yield rows("statistic", found)


def _columns(line: str) -> frozenset[str] | None:
    """The columns of a heading; null where it is none of these tables."""
    names = frozenset(cell.strip() for cell in line.split("|"))
    return names if names >= POOLS or names >= STATS else None


def _tables(source: SourceFile) -> Iterator[list[dict[str, Any]]]:
    header, body, ruler = "", list[tuple[int, str]](), ""
    for number_, line in source.lines():
        if _columns(line):
            yield _rows(source, header, ruler, body)
            header, ruler, body = line, "", []
        elif header and not ruler and RULER.fullmatch(line.strip()):
            ruler = line
        elif ruler and "|" in line and not FOOTER.fullmatch(line.strip()):
            body.append((number_, line))
    yield _rows(source, header, ruler, body)


def _rows(source: SourceFile, header: str, ruler: str, body: list[tuple[int, str]]) -> list[dict[str, Any]]:
    if not ruler:
        return []
    return [row for _, cells in aligned(source, header, ruler, body) for row in _told(cells)]


def _told(cells: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The figures of one pool, or of one database."""
    entity = " ".join(cells[name] for name in ("database", "user") if name in cells)
    figures = {name: value for name, cell in cells.items() if (value := number(cell)) is not None}
    for name, value in figures.items():
        if name in MEANS:
            own, kind, unit = MEANS[name]
            yield _figure(own, value, kind, unit) | {"entity": entity}
        elif name.startswith(("cl_", "sv_")):
            yield _figure(name, value, "gauge", "connections") | {"entity": entity}
    if "maxwait" in figures:
        waited_s = figures["maxwait"] + figures.get("maxwait_us", 0.0) / 1e6
        yield _figure("maxwait", waited_s, "gauge", "s") | {"entity": entity}


def _figure(name: str, value: float, kind: str, unit: str) -> dict[str, Any]:
    return {"name": f"pgbouncer.{name}", "value": value, "kind": kind, "unit": unit}
