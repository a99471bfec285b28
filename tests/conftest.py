"""Fixtures for all tests."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from servers import PostgresServer, running_postgres

# The same examples each time: what lands must not depend on luck. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an unprivileged user can look into, which pytest's are not."""
    with TemporaryDirectory(prefix="doctord-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def postgres_server() -> Iterator[Callable[..., PostgresServer]]:
    """Starts private PostgreSQL servers: `postgres_server(version, settings)`; they end with the test.

    A test that shares a server with others uses `servers.running_postgres` in a fixture of wider scope.
    """
    with ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(running_postgres(*args, **kwargs))
