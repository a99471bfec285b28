"""The collectors of MariaDB's and MySQL's sessions, settings, counters, latencies and error log; see `DATABASE`.

The sessions of other users, and transactions, are seen with PROCESS alone; what is not seen without it is said.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Database, Latency, Unreached, Wanted
from doctord.collect.core.notices import Notices
from doctord.collect.mysql.discover import Server, servers
from doctord.errors import UserError

if TYPE_CHECKING:
    from doctord.collect.mysql.driver import MySQLDriver


def collectors(addresses: Sequence[str]) -> list[Collector]:
    """Those of each server at these addresses: `mysql://USER@HOST:PORT`.

    Raises:
        UserError: One of the addresses is none, or the driver is not installed.
    """
    return [one for address in addresses for one in _asking(_driver(_plain(address)), Notices())]


def latency(wanted: Wanted) -> Latency:
    """Latencies of the server at an address.

    Raises:
        UserError: It is no such address, or an instance is named; or the driver is not installed.
    """
    from doctord.collect.mysql.driver import MySQLDriver  # noqa: PLC0415 - when there is a server
    from doctord.collect.mysql.latency import MySQLLatency  # noqa: PLC0415 - as above

    if wanted.instance:
        raise UserError("a server of MariaDB or MySQL has no instances", "leave out --instance")
    driver = MySQLDriver.from_address(_plain(wanted.dsn or ""), ask=True)
    return MySQLLatency(driver, subjects=[wanted.subject] if wanted.subject else [], period_s=wanted.period_s)


class Search:
    """Finds the servers of this host, and on every further call those that have come since."""

    def __init__(self) -> None:
        """Nothing is looked for yet."""
        self._known: set[Server] = set()

    def collectors(self) -> list[Collector]:
        """Collectors of the servers that were not known yet."""
        found, notices = [server for server in servers() if server not in self._known], Notices()
        self._known.update(found)
        return [one for server in found for one in _here(server, notices)]


def _here(server: Server, notices: Notices) -> list[Collector]:
    """The collectors of a server on this host; one that says why, where it cannot be asked."""
    subject = f"MariaDB or MySQL, process {server.pid}"
    if server.socket is None:
        notices.not_measured(None, subject, "its socket is not known", "name it with --dsn mysql://USER@HOST:PORT")
        return [Unreached("mysql", notices)]
    try:
        return _asking(_driver(f"mysql://{server.socket}"), notices)
    except UserError as refusal:
        notices.not_measured(None, subject, str(refusal), refusal.hint)
        return [Unreached("mysql", notices)]


def _driver(address: str) -> "MySQLDriver":
    from doctord.collect.mysql.driver import PASSWORD, MySQLDriver  # noqa: PLC0415 - when there is a server

    if address.startswith("mysql:///"):
        return MySQLDriver(address.removeprefix("mysql://"), password=os.environ.get(PASSWORD))
    return MySQLDriver.from_address(address)


def _asking(driver: "MySQLDriver", notices: Notices) -> list[Collector]:
    from doctord.collect.mysql.error_log import MySQLErrorLog  # noqa: PLC0415 - as above
    from doctord.collect.mysql.replicas import MySQLReplicas  # noqa: PLC0415 - as above
    from doctord.collect.mysql.sessions import MySQLSessions  # noqa: PLC0415 - as above
    from doctord.collect.mysql.settings import MySQLSettings  # noqa: PLC0415 - as above
    from doctord.collect.mysql.statements import MySQLStatements  # noqa: PLC0415 - as above

    kinds = (MySQLSessions, MySQLStatements, MySQLSettings, MySQLReplicas, MySQLErrorLog)
    return [kind(driver, notices) for kind in kinds]


def _plain(address: str) -> str:
    return f"mysql://{address.partition('://')[2]}"


DATABASE: Final = Database(
    name="mysql",
    schemes=("mysql", "mariadb"),
    collectors=collectors,
    search=Search,
    latency=latency,
)
