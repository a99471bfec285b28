"""A connection by libpq that gives up a server which does not answer: psycopg itself would wait without end."""

import select
import time
from typing import Any, Final

import psycopg
from psycopg.rows import DictRow
from psycopg.waiting import Ready, Wait

_ANSWER_S: Final = 3.0  # longer than a statement's own limit, so that the server ends it in its own way first


class Silent(psycopg.OperationalError):
    """The server took a request and did not answer in time."""


class Impatient(psycopg.Connection[DictRow]):
    """Gives up after three seconds without an answer."""

    def wait(self, gen: Any, interval: float = 0.0, timeout: float | None = None) -> Any:  # noqa: ANN401, ARG002 - psycopg's
        """Run one exchange with the server.

        Raises:
            Silent: No answer in time; the connection is then closed.
        """
        deadline = time.monotonic() + _ANSWER_S
        try:
            wanted = next(gen)
            while True:
                if not (ready := _ready(self.pgconn.socket, wanted, deadline - time.monotonic())):
                    self.pgconn.finish()
                    raise Silent(f"no answer for {_ANSWER_S:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


def _ready(socket: int, wanted: Wait, seconds: float) -> int:
    poll = select.poll()
    poll.register(socket, (wanted & Wait.R and select.POLLIN) | (wanted & Wait.W and select.POLLOUT))
    events = poll.poll(max(0.0, seconds) * 1000)
    if not events:
        return 0
    happened = events[0][1]
    ended = happened & (select.POLLERR | select.POLLHUP)
    readable = wanted & Wait.R and (happened & select.POLLIN or ended)
    writable = wanted & Wait.W and (happened & select.POLLOUT or ended)
    return (Ready.R if readable else 0) | (Ready.W if writable else 0)
