"""The collector of MariaDB's and MySQL's settings and counters: `collectors` is the way in.

No right is needed but that to log in; what more is seen with PROCESS is said where it is missing.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doctord._native import Batch
from doctord.collect.core.collector import Collector
from doctord.collect.core.notices import Notices
from doctord.collect.mysql.discover import Server, servers
from doctord.errors import Refusal

if TYPE_CHECKING:
    from doctord.collect.mysql.driver import MySQLDriver

SCHEMES: Final = ("mysql://", "mariadb://")


def collectors(addresses: Sequence[str] | None = None) -> list[Collector]:
    """One for each server: of those addresses (`mysql://USER@HOST:PORT`), else of those that run on this host.

    Raises:
        Refusal: One of the addresses is none, or the driver is not installed.
    """
    if addresses is not None:
        return [_asking(_driver(f"mysql://{address.partition('://')[2]}"), Notices()) for address in addresses]
    found, notices = servers(), Notices()
    return [_here(server, notices) for server in found]


def _here(server: Server, notices: Notices) -> Collector:
    """The collector of a server on this host; one that says why, where it cannot be asked."""
    subject = f"MariaDB or MySQL, process {server.pid}"
    if server.socket is None:
        notices.unseen(None, subject, "its socket is not known", "name it with --dsn mysql://USER@HOST:PORT")
        return _Unreached(notices)
    try:
        return _asking(_driver(f"mysql://{server.socket}"), notices)
    except Refusal as refusal:
        notices.unseen(None, subject, str(refusal), refusal.hint)
        return _Unreached(notices)


def _driver(address: str) -> "MySQLDriver":
    from doctord.collect.mysql.driver import PASSWORD, MySQLDriver  # noqa: PLC0415 - when there is a server

    if address.startswith("mysql:///"):
        return MySQLDriver(address.removeprefix("mysql://"), password=os.environ.get(PASSWORD))
    return MySQLDriver.from_address(address)


def _asking(driver: "MySQLDriver", notices: Notices) -> Collector:
    from doctord.collect.mysql.settings import MySQLSettings  # noqa: PLC0415 - as above

    return MySQLSettings(driver, notices)


class _Unreached:
    """Says that there was a server that could not be asked."""

    name = "mysql"
    period_s = 60.0

    def __init__(self, notices: Notices) -> None:
        self._notices = notices

    def sample(self) -> list[Batch]:
        """What was noted while looking for servers."""
        return self._notices.batches()

    def close(self) -> None:
        """There is nothing to let go of."""
