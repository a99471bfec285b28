"""Logs of PgBouncer 1.5 to 1.24, as it writes them itself; also as journalctl shows them (not by its syslog setting).

Times are in the zone that stands beside them, or in none. What is counted is summed up by the minute of the clock; the
first and the last minute are cut to what the log covers, to no less than a second. `db` is `pgbouncer`.

- `statistic`, of the lines `stats:` as they are, each over the time since the one before (the first over 60 s):
  `pgbouncer.xacts`, `.queries`, `.bytes_in`, `.bytes_out` per second; `.xact_time`, `.query_time` (microseconds each);
  `.wait_time`, microseconds in which clients waited for a server, per second.
- `statistic`, counted: `pgbouncer.logins` of clients (log_connections), `.server_connections` opened,
  `.closings` by side and reason (log_disconnections), `.closed_within_a_second` of clients.
- `log.errors` by severity and message without values. What a client was told (`pooler error`) is an ERROR, though
  PgBouncer logs it as a warning.
- `event`: restart.

Users, databases and addresses are not kept. Lines of levels below LOG (NOISE, DEBUG) are left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.times import zone_of
from doctord.read.zones import UNCLEAR
from doctord.regex import regex

NAME = "PgBouncer's log"
RANK = Rank.NAMED
DB: Final = "pgbouncer"
LOOKED_AT: Final = 40
MINUTE_S: Final = 60.0
STATS_PERIOD_S: Final = 60.0  # stats_period, unless it is set otherwise
LEVELS: Final = "FATAL|ERROR|WARNING|LOG|DEBUG|NOISE"
LINE: Final = regex(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>\S+) pgbouncer\[\d+\]: )?"
    r"(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d):(?P<second>\d\d)(?:\.(?P<part>\d+))?"
    r"(?: (?P<zone>[A-Z]{1,5}|[+-]\d\d(?::?\d\d)?))?"
    rf" \[?\d+\]? (?P<level>{LEVELS}) (?P<rest>.*)$"
)
SOCKET: Final = regex(r"(?P<side>[CS])-0x[0-9a-f]+: \S+ (?P<said>.*)$")
STATS: Final = regex(r"[Ss]tats: (?P<figures>.*)$")
FIGURE: Final = regex(r"\s*(?:(?P<before>[a-z ]*[a-z]) )?(?P<value>\d+) (?P<unit>\S+)\s*$")
CLOSING: Final = regex(r"closing because: (?P<reason>.*?)(?: \(age=(?P<age>\d+)s?\))?$")
POOLER: Final = "pooler error: "
BEGINS: Final = (
    "listening on ",
    "process up: ",
    "kernel file descriptor",
    "File descriptor limits",
    "got SIG",
    "stats: ",
    "Stats: ",
    "C-0x",
    "S-0x",
)
RESTARTS: Final = ("process up: ", "got SIGTERM", "got SIGINT", "server shut down")
LOGGED: Final = ("FATAL", "ERROR", "WARNING")
VALUES: Final = regex(
    r"""'[^']*'|"[^"]*"|\d+(?:\.\d+)*|(?<=no such user: ).*|(?<=no such database: ).*|(?<=\w=).*|(?<=ser )\S+(?=@)"""
)
NO_LINE: Final = "no line of PgBouncer's"
# What stands before a figure, or as its unit, in a line of statistics; the name, the unit, and the factor.
FIGURES: Final = {
    ("", "xacts/s"): ("xacts", "per_s"),
    ("", "queries/s"): ("queries", "per_s"),
    ("", "req/s"): ("queries", "per_s"),
    ("in", "B/s"): ("bytes_in", "bytes_per_s"),
    ("in", "b/s"): ("bytes_in", "bytes_per_s"),
    ("out", "B/s"): ("bytes_out", "bytes_per_s"),
    ("out", "b/s"): ("bytes_out", "bytes_per_s"),
    ("xact", "us"): ("xact_time", "us"),
    ("query", "us"): ("query_time", "us"),
    ("wait time", "us"): ("wait_time", "us_per_s"),
    ("wait", "us"): ("wait_time", "us_per_s"),
}


def sniff(head: str) -> bool:
    """Whether a line of PgBouncer's is among the first."""
    found = (LINE.match(line) for line in head.splitlines()[:LOOKED_AT])
    return any(one is not None and one["rest"].startswith(BEGINS) for one in found)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`."""
    told, counts, events = list[dict[str, Any]](), _Counts(), list[dict[str, Any]]()
    last_stats: datetime | None = None
    for number, text in source.lines():
        found = LINE.match(text)
        moment = _moment(found, source) if found else None
        if found is None or moment is None:
            if text.strip():
                source.skip(number, NO_LINE)
            continue
        rest, source.host = found["rest"], found["host"] or source.host
        if stats := STATS.match(rest):
            told += _stats(stats["figures"], moment, last_stats)
            last_stats = moment
        elif rest.startswith(RESTARTS):
            events.append({"ts": micros(moment), "kind": "restart", "subject": DB, "text": rest})
        for name, entity in _counted(found["level"], rest):
            counts.add(moment, name, entity)
        counts.seen(moment)
    for table, made in {"statistic": [*told, *counts.rows()], "event": events}.items():
        if made:
            yield rows(table, [{"host": source.host, "db": DB} | row for row in made])


class _Counts:
    """What was counted, by minute."""

    def __init__(self) -> None:
        self._by_minute: dict[datetime, dict[tuple[str, str | None], int]] = defaultdict(lambda: defaultdict(int))
        self._first: datetime | None = None
        self._last: datetime | None = None

    def seen(self, moment: datetime) -> None:
        """The log has a line of this moment."""
        self._first = min(self._first or moment, moment)
        self._last = max(self._last or moment, moment)
        self._by_minute[moment.replace(second=0, microsecond=0)]

    def add(self, moment: datetime, name: str, entity: str | None) -> None:
        """It happened once more."""
        self._by_minute[moment.replace(second=0, microsecond=0)][name, entity] += 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rates of each minute that the log covers."""
        names = sorted({key for counts in self._by_minute.values() for key in counts}, key=str)
        for minute in sorted(self._by_minute):
            begin = max(minute, self._first or minute)
            end = min(minute + timedelta(seconds=MINUTE_S), self._last or minute)
            length_s = max((end - begin).total_seconds(), 1.0)
            for name, entity in names:
                count = self._by_minute[minute].get((name, entity), 0)
                if count or entity is None:
                    yield {"ts": micros(max(end, begin)), "interval_s": length_s, "component": DB, "entity": entity,
                           "name": name, "value": count / length_s, "unit": "per_s", "kind": "rate"}  # fmt: skip


def _moment(found: "re.Match[str]", source: SourceFile) -> datetime | None:
    name = found["zone"] or ""
    zone = zone_of(f"{name}00" if re.fullmatch(r"[+-]\d\d", name) else name)
    minute = _minute(found["when"], zone or source.zone)
    if minute is None or int(found["second"]) > 60:
        return None
    if zone is None and source.zone is None:
        source.note(UNCLEAR.format(name) if name else ZONE_ASSUMED)
    part = float(f"0.{found['part'] or 0}")
    return minute + timedelta(seconds=min(int(found["second"]), 59) + part)


@lru_cache(maxsize=64)
def _minute(text: str, zone: tzinfo | None) -> datetime | None:
    try:
        local = datetime.strptime(text, "%Y-%m-%d %H:%M")  # noqa: DTZ007 - zoned next
        return local.replace(tzinfo=zone or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _stats(figures: str, moment: datetime, before: datetime | None) -> Iterator[dict[str, Any]]:
    gone_s = (moment - before).total_seconds() if before else STATS_PERIOD_S
    length_s = gone_s if gone_s > 0 else STATS_PERIOD_S
    for found in filter(None, map(FIGURE.match, figures.replace("μs", "us").split(","))):
        if place := FIGURES.get((found["before"] or "", found["unit"])):
            name, unit = place
            kind = "rate" if unit.endswith("per_s") else "gauge"
            yield {"ts": micros(moment), "interval_s": length_s, "component": DB, "name": f"pgbouncer.{name}",
                   "value": float(found["value"]), "unit": unit, "kind": kind}  # fmt: skip


def _counted(level: str, rest: str) -> Iterator[tuple[str, str | None]]:
    """Names and entities of what a line counts."""
    socket = SOCKET.match(rest)
    said = socket["said"] if socket else rest
    if level in LOGGED:
        severity = "ERROR" if said.startswith(POOLER) else level
        yield "log.errors", f"{severity} {VALUES.sub('?', said)}"
    elif socket is None or level != "LOG":
        return
    elif said.startswith("login attempt"):
        yield "pgbouncer.logins", None
    elif said.startswith("new connection to server"):
        yield "pgbouncer.server_connections", None
    elif closing := CLOSING.match(said):
        side = "client" if socket["side"] == "C" else "server"
        yield "pgbouncer.closings", f"{side}: {VALUES.sub('?', closing['reason'])}"
        if side == "client" and closing["age"] == "0":
            yield "pgbouncer.closed_within_a_second", None
