"""What of a server's latencies can be read: found once for each connection.

What is off is told with the statement that turns it on, which is never run by us.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from doctord.collect.core.link import Link
from doctord.collect.mysql import sources as tables
from doctord.collect.mysql.driver import is_mariadb
from doctord.collect.mysql.sources import QUERY, StatusTable
from doctord.errors import UserError

_VARIABLES: Final = (
    "SHOW /* doctord */ GLOBAL VARIABLES "
    "WHERE variable_name IN ('version', 'performance_schema', 'query_response_time_stats')"
)
_INSTRUMENTS: Final = (
    "SELECT /* doctord */ name, enabled = 'YES' AND timed = 'YES' FROM performance_schema.setup_instruments "
    "WHERE name LIKE 'wait/%' OR name LIKE 'statement/sql/%'"
)
_GLOBAL: Final = (
    "SELECT /* doctord */ enabled = 'YES' FROM performance_schema.setup_consumers WHERE name = 'global_instrumentation'"
)
_TURN_ON_GLOBAL: Final = (
    "UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name = 'global_instrumentation'"
)
_TURN_ON: Final = "UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name LIKE '{}%'"
_START_WITH: Final = "performance_schema = ON under [mysqld] in my.cnf, and a restart"
_STATS_ON: Final = "SET GLOBAL query_response_time_stats = ON"
_GROUPS: Final = ("wait/io/file/", "wait/io/socket/", "wait/lock/", "wait/synch/")


@dataclass(frozen=True, slots=True)
class Off:
    """What the server could offer and does not: how the names of the subjects begin, why, and what turns it on."""

    covers: str
    why: str
    hint: str


@dataclass(frozen=True, slots=True)
class Offer:
    """The tables to read, what is off, and the names of the subjects that there can be."""

    sources: tuple[StatusTable, ...]
    off: tuple[Off, ...]
    subjects: frozenset[str]


def offer(link: Link, wanted: Sequence[str]) -> Offer:
    """What a server has of the subjects wanted; of all, except single statements, if none is named.

    Raises:
        Away: The connection broke.
    """
    variables = {str(name): str(value) for name, value in link.query(_VARIABLES)}
    depends = "wait/" if is_mariadb(variables["version"]) else ""  # MySQL has the times of statements there, too
    instruments: Mapping[str, bool] = {}
    off: list[Off] = []
    if variables.get("performance_schema") == "ON":
        try:
            instruments = {str(name): bool(on) for name, on in link.query(_INSTRUMENTS)}
            off += _not_timed(link, instruments, depends)
        except UserError as refusal:
            off.append(Off(depends, str(refusal), refusal.hint))
    else:
        off.append(Off(depends, "the performance schema is off", _START_WITH))
    sources, refused = _readable(link, _candidates(variables, instruments, wanted))
    off += [*_no_query_times(variables, sources), *refused]
    told = tuple(one for one in off if not wanted or any(name.startswith(one.covers) for name in wanted))
    return Offer(tuple(sources), told, frozenset(_names(sources, instruments)))


def _candidates(
    variables: Mapping[str, str], instruments: Mapping[str, bool], wanted: Sequence[str]
) -> Iterator[StatusTable]:
    """The tables that this server should have, as far as they have what is wanted; of digests only those wanted."""
    has_histograms = bool(instruments) and not is_mariadb(variables["version"])
    if digests := [name.removeprefix(f"{QUERY} ") for name in wanted if name.startswith(f"{QUERY} ")]:
        yield tables.by_digest(digests)
    if QUERY in wanted or not wanted:
        if has_histograms:
            yield tables.HISTOGRAM
        elif variables.get("query_response_time_stats") == "ON":
            yield tables.RESPONSE_TIME
    if not instruments:
        return
    left = [name for name in wanted if not name.startswith(QUERY)]
    for source in (tables.FILES, tables.WAITS):
        mine = tuple(name for name in left if name.startswith(source.covers))
        left = [name for name in left if name not in mine]
        if mine or not wanted:
            yield replace(source, certain=mine)


def _readable(link: Link, candidates: Iterator[StatusTable]) -> tuple[list[StatusTable], list[Off]]:
    sources, refused = [], []
    for source in candidates:
        try:
            link.query(source.sql, source.parameters)
        except UserError as refusal:
            refused.append(Off(source.covers, str(refusal), refusal.hint))
        else:
            sources.append(source)
    return sources, refused


def _not_timed(link: Link, instruments: Mapping[str, bool], depends: str) -> Iterator[Off]:
    if link.query(_GLOBAL) == [(0,)]:
        yield Off(depends, "the consumer global_instrumentation is off", _TURN_ON_GLOBAL)
    on = [name for name, timed in instruments.items() if timed]
    for group in _GROUPS:
        if not any(name.startswith(group) for name in on):
            yield Off(group, "its instruments are off", _TURN_ON.format(group))
    if QUERY.startswith(depends) and not any(name.startswith("statement/") for name in on):
        yield Off(QUERY, "the instruments of statements are off", _TURN_ON.format("statement/"))


def _no_query_times(variables: Mapping[str, str], sources: Sequence[StatusTable]) -> Iterator[Off]:
    if any(source.covers == QUERY for source in sources):
        return
    stats = variables.get("query_response_time_stats")
    if stats == "OFF":
        yield Off(QUERY, "query_response_time_stats is off", _STATS_ON)
    elif stats is None and is_mariadb(variables["version"]):
        yield Off(QUERY, "no times of queries are kept", f"INSTALL SONAME 'query_response_time'; {_STATS_ON}")


def _names(sources: Sequence[StatusTable], instruments: Mapping[str, bool]) -> Iterator[str]:
    for source in sources:
        yield from (QUERY,) if source.covers == QUERY else source.certain if source.fills == "latency" else ()
    for name in instruments:
        if name.startswith(tables.FILES.covers):
            yield from (f"{name} {operation}" for operation in tables.OPERATIONS)
        elif name.startswith("wait/") and not name.startswith("wait/io/table/"):
            yield name
