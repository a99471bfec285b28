"""Sessions that ask and wait."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from doctord.lab.server import PrivateServer


@contextmanager
def sessions_asking(server: PrivateServer, statement: str, *, count: int, program: str) -> Iterator[None]:
    """So many sessions have sent a statement, and nobody takes its answer until the context ends."""
    with ExitStack() as stack:
        for _ in range(count):
            session = stack.enter_context(closing(server.connect(program)))
            session.pgconn.send_query(statement.encode())
            session.pgconn.flush()
        yield
