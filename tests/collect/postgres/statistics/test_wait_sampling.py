"""pg_wait_sampling, where the machine has it (Debian: postgresql-15-pg-wait-sampling)."""

import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from doctord.collect.postgres.statistics.wait_sampling import WaitSampling
from postgres_samples import figures, link_to
from servers import PACKAGED, PostgresServer, running_postgres

pytestmark = pytest.mark.server
CONTROL = Path(f"/usr/share/postgresql/{PACKAGED}/extension/pg_wait_sampling.control")


@pytest.mark.skipif(not CONTROL.exists(), reason=f"{CONTROL} is not installed")
def test_waits_are_milliseconds_per_second() -> None:
    with (
        running_postgres(PACKAGED, {"shared_preload_libraries": "pg_wait_sampling"}) as server,
        closing(link_to(server.dsn("postgres"))) as link,
    ):
        server.execute("CREATE EXTENSION pg_wait_sampling")
        _until_collecting(server)
        link.open()
        part = WaitSampling()
        part.read(link)
        began = time.monotonic()
        server.execute("SELECT pg_sleep(1)")
        (batch,) = part.read(link)
        slept_s = figures([batch], "Timeout PgSleep")["pg_wait_sampling_profile.wait_time"] / 1000
        # Not a thousand times as much, nor as little; on a busy machine its worker looks less often than it says.
        assert 0.1 < slept_s * (time.monotonic() - began) < 1.5


def _until_collecting(server: PostgresServer) -> None:
    """Its background worker begins some time after the server, on a busy machine seconds later."""
    for _ in range(600):
        try:
            server.execute("SELECT count(*) FROM pg_wait_sampling_profile")
        except psycopg.errors.InternalError_:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the collector of pg_wait_sampling did not begin")


def test_without_the_extension_nothing_is_said() -> None:
    with running_postgres(PACKAGED) as server, closing(link_to(server.dsn("postgres"))) as link:
        link.open()
        part = WaitSampling()
        assert part.read(link) == part.read(link) == []
