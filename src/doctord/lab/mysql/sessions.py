"""Sessions that a fault needs beside the load: those that stay, and those that have asked and wait."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from doctord.lab.mysql.server import PrivateMySQL


@contextmanager
def sessions_asking(server: PrivateMySQL, statement: str, *, count: int = 1) -> Iterator[None]:
    """So many sessions of app have sent a statement, and wait for its answer until the context ends."""
    with ExitStack() as stack:
        for _ in range(count):
            session = stack.enter_context(closing(server.connect("app")))
            thread = threading.Thread(target=_asks, args=(session, statement), daemon=True)
            thread.start()
            stack.callback(_killed, server, _number(session), thread)
        yield


def _number(session: Any) -> int:  # noqa: ANN401 - of PyMySQL
    number: int = session.thread_id()
    return number


def _asks(session: Any, statement: str) -> None:  # noqa: ANN401 - of PyMySQL
    with suppress(Exception):  # it is killed in the end
        session.cursor().execute(statement)


def _killed(server: PrivateMySQL, number: int, thread: threading.Thread) -> None:
    with suppress(Exception):  # it has ended by itself, or the server has
        server.execute(f"KILL {number}")
    thread.join(5)
