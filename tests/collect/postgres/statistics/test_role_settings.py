"""What databases and roles have logged otherwise than the server, in a real server of each version."""

from contextlib import closing

import psycopg
import pytest

from doctord.collect.postgres.statistics.role_settings import RoleSettings
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server


def test_what_is_set_is_told_once_and_that_it_is_gone(server: PostgresServer) -> None:
    with closing(link_to(server.dsn("doctord"))) as link, psycopg.connect(server.dsn(), autocommit=True) as admin:
        link.open()
        settings = RoleSettings()

        def told() -> dict[str, str | None]:
            return {row["name"]: row["value"] for row in rows_of("setting", settings.read(link))}

        admin.execute("ALTER DATABASE postgres SET log_min_duration_statement = '0'")
        admin.execute("ALTER ROLE postgres IN DATABASE postgres SET log_statement = 'all'")
        admin.execute("ALTER ROLE postgres IN DATABASE postgres SET work_mem = '8MB'")
        try:
            assert told() == {"postgres * log_min_duration_statement": "0", "postgres postgres log_statement": "all"}
            assert told() == {}
        finally:
            admin.execute("ALTER DATABASE postgres RESET ALL")
            admin.execute("ALTER ROLE postgres IN DATABASE postgres RESET ALL")
        assert told() == {"postgres * log_min_duration_statement": None, "postgres postgres log_statement": None}
