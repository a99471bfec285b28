"""A stand-in for an Oracle server: answers the statements of the collector from counters, and raises on any other."""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import oracledb

from doctord.collect.oracle.driver import OracleDriver

CLASSES = {
    "db file sequential read": "User I/O",
    "db file scattered read": "User I/O",
    "direct path read": "User I/O",
    "log file sync": "Commit",
    "log file parallel write": "System I/O",
    "pmon timer": "Idle",
    "SQL*Net message from client": "Idle",
}
EVENTS = "SELECT /* doctord */ name, wait_class FROM v$event_name"
INSTANCES = r"inst_id IN \(:\d+(?:, :\d+)*\)"
TOTALS = re.compile(
    r"SELECT /\* doctord \*/ inst_id, event, sum\(total_waits\), sum\(time_waited_micro\) FROM gv\$system_event"
    rf"( WHERE {INSTANCES})? GROUP BY inst_id, event"
)
HISTOGRAM = re.compile(
    r"SELECT /\* doctord \*/ inst_id, event, (?P<edge>wait_time_(micro|milli)), sum\(wait_count\) FROM (?P<view>\S+)"
    r" WHERE (event IN \((?P<events>:\d+(, :\d+)*)\)( AND )?)?"
    rf"({INSTANCES}( AND )?)?"
    r"(?P<all>event NOT IN \(SELECT name FROM v\$event_name WHERE wait_class = 'Idle'\))?"
    r" GROUP BY inst_id, event, (?P=edge)"
)


def error(code: str, text: str = "scott at db.example:1521 with hunter2") -> oracledb.DatabaseError:
    """An error as the driver raises it; the text has what must not come out."""
    number = int(code[4:]) if code.startswith("ORA-") else 0
    return oracledb.DatabaseError(oracledb._Error(message=f"{code}: {text}", code=number))


@dataclass
class OracleServer:
    """Counters by instance and event; `fail` has what the next statements on a view raise, `revoked` what is hidden."""

    version: str = "19.21.0.0.0"
    waits: dict[tuple[int, str], dict[int, int]] = field(default_factory=dict)
    micros: dict[tuple[int, str], int] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    fail: dict[str, Exception] = field(default_factory=dict)
    password: str = "open sesame"  # noqa: S105 - of nobody
    down: bool = False
    connections: int = 0
    statements: list[str] = field(default_factory=list)

    def wait(self, event: str, edge: int, count: int = 1, *, instance: int = 1, micros: int = 0) -> None:
        """Some waits of an event end, in the bucket of this upper edge (in the unit of the version's view)."""
        buckets = self.waits.setdefault((instance, event), {})
        buckets[edge] = buckets.get(edge, 0) + count
        self.micros[instance, event] = self.micros.get((instance, event), 0) + micros

    def restart(self, instance: int) -> None:
        for key in [key for key in self.waits if key[0] == instance]:
            del self.waits[key], self.micros[key]

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        self.statements.append(sql)
        for view in [view for view in self.fail if view in sql]:
            raise self.fail.pop(view)
        if any(view in sql for view in self.revoked):
            raise error("ORA-00942")
        numbers = [int(number) for number in re.findall(r":(\d+)", sql)]
        assert numbers == list(range(1, len(values) + 1)), "a place for each value, in order"
        if sql == EVENTS:
            return list(CLASSES.items())
        if TOTALS.fullmatch(sql):
            return [
                (instance, event, sum(buckets.values()), self.micros[instance, event])
                for (instance, event), buckets in self.waits.items()
                if not values or instance in values
            ]
        if known := HISTOGRAM.fullmatch(sql):
            return list(self._histogram(known, values))
        raise AssertionError(f"no such statement is known: {sql}")

    def _histogram(self, known: re.Match[str], values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        micro = int(self.version.split(".")[0]) >= 12
        assert known["edge"] == ("wait_time_micro" if micro else "wait_time_milli")
        assert known["view"] == ("gv$event_histogram_micro" if micro else "gv$event_histogram")
        assert bool(known["events"]) != bool(known["all"])
        wanted = (
            values[: known["events"].count(":")] if known["events"] else [e for e in CLASSES if CLASSES[e] != "Idle"]
        )
        instances = [value for value in values if isinstance(value, int)]
        for (instance, event), buckets in self.waits.items():
            if event in wanted and (not instances or instance in instances):
                yield from ((instance, event, edge, count) for edge, count in buckets.items())


class Driver(OracleDriver):
    """The driver, logging in to the stand-in; `silent` keeps a login from ending until it is set."""

    server: OracleServer
    silent: threading.Event | None = None

    def _log_in(self) -> Any:
        if self.silent is not None:
            assert self.silent.wait(20)
        if self.server.down:
            raise error("DPY-6005")
        if self.password != self.server.password:
            raise error("ORA-01017")
        self.server.connections += 1
        return _Connection(self.server)


def driver(server: OracleServer, password: str | None = "open sesame") -> Driver:  # noqa: S107 - of nobody
    made = Driver("db.example:1521/sales", "scott", password)
    made.server = server
    return made


class _Connection:
    call_timeout = 0
    module = ""

    def __init__(self, server: OracleServer) -> None:
        self.server = server
        self.version = server.version

    def cursor(self) -> "_Cursor":
        return _Cursor(self)

    def close(self) -> None:
        self.server.connections -= 1


class _Cursor:
    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []

    def execute(self, sql: str, values: Sequence[Any] | None) -> None:
        assert self._connection.call_timeout > 0, "every call has a limit"
        assert self._connection.module == "doctord"
        if self._connection.server.down:
            raise error("ORA-03113")
        self._rows = self._connection.server.rows(sql, values or ())

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def close(self) -> None:
        self._rows = []
