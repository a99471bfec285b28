"""Connections whose clients acknowledge nothing of what the server sends, in the server's own network namespace.

What the server has answered and nobody has taken is in no view of it: the session is idle, and the answer lies in the
kernel's queue. /proc/PID/net/tcp (proc_pid_net(5)) tells it of the namespace that the process is in, that of a
container too: how much was sent and is not acknowledged, which timer runs, and how often the oldest of it was sent
again. Asked with the server's own process, which is known where it is reached by its Unix socket.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.control_groups import PROC, text
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.core.socket_owners import readable
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.regex import regex

_TABLES: Final = ("net/tcp", "net/tcp6")
# Both ends, state 01 (established), what waits to be sent, which timer runs (01: it is sent again), and how often.
_CONNECTION: Final = r"^ *\d+: \w+:{port:04X} (\w+):\w{{4}} 01 (\w{{8}}):\w{{8}} (\w\w):\w{{8}} (\w{{8}})"
_SENT_AGAIN: Final = "01"
# RFC 6298 doubles the time each time, from 0.2 s at the least: the third is 1.4 s after the first sending.
_UNANSWERED: Final = 3
_MOST_TOLD: Final = 8


class Connection(NamedTuple):
    """One connection to the server: its client's address, what is not acknowledged, and how often that was sent."""

    client: str
    waiting_bytes: int
    sent_again: int


class Unacknowledged:
    """Fills `statistic` where clients acknowledge nothing, for each address of theirs, most connections first.

    `tcp.unacknowledged` is the number of their connections of which the oldest segment was sent again three times and
    more, `tcp.unacknowledged_bytes` what lies in these connections' queues; `tcp.acknowledged` the number of others.
    An address that was told is told again with 0 when it is well, so that the last value is that of now.
    """

    name = "connections whose clients acknowledge nothing"

    def __init__(self, proc: Path = PROC) -> None:
        """Due at the start, and every ten seconds; the folder may be a recorded tree."""
        self.cadence = Cadence(10.0, EARLY)
        self._proc = proc
        self._told = set[str]()

    def read(self, link: Link) -> list[Batch]:
        """The connections of this moment; nothing where the server's process is not known."""
        pid = link.server_pid()
        if pid is None or link.connection is None:
            return []
        return self.told(link.db, self._proc / str(pid), link.connection.info.port)

    def told(self, db: str, process: Path, port: int) -> list[Batch]:
        """The rows of a server by its process and its port."""
        found = list(_connections(process, port))
        stuck = [one for one in found if one.sent_again >= _UNANSWERED]
        figures, others = Figures(db), Counter(one.client for one in found if one.sent_again < _UNANSWERED)
        counts = Counter(one.client for one in stuck)
        most = {client for client, _ in counts.most_common(_MOST_TOLD)}
        for client in sorted(most | self._told):
            waiting = sum(one.waiting_bytes for one in stuck if one.client == client)
            figures.gauge("tcp.unacknowledged", counts[client], entity=client)
            figures.gauge("tcp.unacknowledged_bytes", waiting, "bytes", client)
            figures.gauge("tcp.acknowledged", others[client], entity=client)
        self._told = most
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""


def _connections(process: Path, port: int) -> Iterator[Connection]:
    line = regex(_CONNECTION.format(port=port))
    for table in _TABLES:
        for row in text(process / table).splitlines():
            if found := line.match(row):
                client, waiting, timer, again = found.groups()
                yield Connection(readable(client), int(waiting, 16), int(again, 16) if timer == _SENT_AGAIN else 0)
