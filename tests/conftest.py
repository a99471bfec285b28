"""Fixtures for all tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from servers import PostgresServer, running_postgres


@pytest.fixture
def postgres_server() -> Iterator[Callable[..., PostgresServer]]:
    """Starts private PostgreSQL servers: `postgres_server(version, settings)`; they end with the test.

    A test that shares a server with others uses `servers.running_postgres` in a fixture of wider scope.
    """
    with ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(running_postgres(*args, **kwargs))
