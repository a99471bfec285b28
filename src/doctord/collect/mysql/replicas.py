"""What a MariaDB or MySQL server tells of its own replication: whether it receives and applies, and how late it is.

SHOW REPLICA STATUS has a row for each channel (MariaDB: connection), and none where nothing is replicated. Errors are
kept by their number: their texts hold values.
"""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.rates import Counters
from doctord.collect.mysql.driver import is_mariadb
from doctord.collect.mysql.refusals import Refusals
from doctord.dataset import mysql_names
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
from doctord.regex import regex

_EVERY_S: Final = 5.0
_SERVER: Final = "SELECT /* doctord */ @@port AS doctord, @@version"
_NUMBERS: Final = regex(r"(\d+)\.(\d+)\.(\d+)")
_RENAMED: Final = (8, 0, 22)  # since then MySQL says replica and source, and warns of the old words
_GRANTS: Final = {
    True: "GRANT REPLICA MONITOR ON *.* TO the user that doctord logs in as",  # MariaDB 10.5.9 and later
    False: "GRANT REPLICATION CLIENT ON *.* TO the user that doctord logs in as",
}
_RUNNING: Final = {
    "receiver_running": "replica_io_running",
    "applier_running": "replica_sql_running",
}
_NUMBERED: Final = {
    "seconds_behind_source": ("seconds_behind_source", "s"),
    "sql_delay": ("sql_delay", "s"),
    "relay_log_space": ("relay_log_space", "bytes"),
    "last_io_errno": ("last_io_errno", None),
    "last_sql_errno": ("last_sql_errno", None),
}
_READ: Final = ("source_log_file", "read_source_log_pos")
_EXECUTED: Final = ("relay_source_log_file", "exec_source_log_pos")
Channel = Mapping[str, Any]


class MySQLReplicas(LinkedCollector[Link]):
    """Fills `statistic` for a server that replicates, every five seconds; the entity is the source, or the channel.

    On a connection of its own: while replication is being stopped, the status may not come back.
    """

    def __init__(self, driver: Driver, notices: Notices) -> None:
        """Nothing is connected yet; `driver` is a `MySQLDriver`."""
        super().__init__(f"replication of {driver.db}", Link(driver, notices), _EVERY_S)
        self._db = driver.db
        self._sql = ""
        self._is_mariadb = False
        self._positions = Counters[tuple[str, str, str]]()
        self._refused = Refusals()

    def _sample(self) -> list[Batch]:
        """Readings of this moment, and how far it came since the last call; none where nothing is replicated."""
        try:
            if self._link.open() or not self._sql:
                self._begin()
            return [] if self._sql in self._refused else self._figures(_channels(self._link, self._sql))
        except Away:
            return []
        except UserError as refusal:
            self._refused.add(self._sql)
            self._notices.not_measured(self._db, "replication", str(refusal), _GRANTS[self._is_mariadb])
            return []

    def _begin(self) -> None:
        [(port, version)] = self._link.query(_SERVER)
        self._db = f"mysql:{port}" if int(port) else self._link.db
        self._is_mariadb = is_mariadb(str(version))
        self._sql = _statement(str(version))
        self._positions = Counters()
        self._refused.forget()

    def _figures(self, channels: list[Channel]) -> list[Batch]:
        about = {"ts": now_us(), "host": os.uname().nodename, "component": mysql_names.COMPONENT, "db": self._db}
        found = [
            about | {"entity": entity_of(channel), "kind": "gauge"} | row
            for channel in channels
            for row in gauges(channel)
        ]
        increase = self._positions.step(time.monotonic(), dict(_positions(channels)))
        for (entity, name, _), per_s in increase.per_s.items() if increase else ():
            rate = {"kind": "rate", "unit": "bytes_per_s", "interval_s": increase.interval_s if increase else None}
            found.append(about | rate | {"entity": entity, "name": mysql_names.REPLICA + name, "value": per_s})
        return [rows("statistic", found)] if found else []


def _statement(version: str) -> str:
    if is_mariadb(version):
        return "SHOW /* doctord */ ALL SLAVES STATUS"
    numbers = _NUMBERS.match(version)
    is_renamed = numbers is None or tuple(map(int, numbers.groups())) >= _RENAMED
    return f"SHOW /* doctord */ {'REPLICA' if is_renamed else 'SLAVE'} STATUS"


def _channels(link: Link, sql: str) -> list[Channel]:
    """The rows by column, in small letters and in the words that MySQL has today, whatever the server calls them."""

    def ask(connection: Any) -> list[Channel]:  # noqa: ANN401 - a DB-API connection
        with connection.cursor() as cursor:
            cursor.execute(sql)
            names = [_today(str(column[0])) for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    return link.ask(ask)


def _today(column: str) -> str:
    return column.lower().replace("master", "source").replace("slave", "replica")


def entity_of(channel: Channel) -> str:
    """The source's address, and the channel's name before it where it has one.

    >>> entity_of({"channel_name": "", "source_host": "db1", "source_port": 3306})
    'db1:3306'
    >>> entity_of({"connection_name": "shop", "source_host": "db1", "source_port": 3306})
    'shop (db1:3306)'
    """
    name = channel.get("channel_name") or channel.get("connection_name") or ""
    address = f"{channel.get('source_host') or ''}:{channel.get('source_port') or ''}"
    return f"{name} ({address})" if name else address


def gauges(channel: Channel) -> Iterator[dict[str, Any]]:
    """Readings of a channel: whether it receives and applies, how late it is, and its last errors' numbers.

    How much was received and is not applied is known while both are in the same file of the source's log.
    """
    for name, column in _RUNNING.items():
        if channel.get(column) is not None:
            yield {"name": mysql_names.REPLICA + name, "value": float(channel[column] == "Yes"), "unit": "boolean"}
    for name, (column, unit) in _NUMBERED.items():
        if channel.get(column) is not None:
            yield {"name": mysql_names.REPLICA + name, "value": float(channel[column]), "unit": unit}
    (in_file, read), (of_file, executed) = ((channel.get(file), channel.get(at)) for file, at in (_READ, _EXECUTED))
    if in_file and in_file == of_file and read is not None and executed is not None:
        ahead = max(float(read) - float(executed), 0.0)
        yield {"name": mysql_names.REPLICA + "not_applied_bytes", "value": ahead, "unit": "bytes"}


def _positions(channels: list[Channel]) -> Iterator[tuple[tuple[str, str, str], float]]:
    """How far each channel has come: positions in one file of the source's log can be told from each other."""
    for channel in channels:
        for file, position in (_READ, _EXECUTED):
            if channel.get(file) and channel.get(position) is not None:
                yield (entity_of(channel), position, str(channel[file])), float(channel[position])
