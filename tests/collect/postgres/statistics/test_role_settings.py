"""Settings of roles and databases, of real servers."""

from contextlib import closing

import pytest

from doctord.collect.postgres.statistics.role_settings import RoleSettings
from postgres_samples import SECRET, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

MADE = (
    "CREATE ROLE portal LOGIN",
    'CREATE ROLE "Night batch" LOGIN',
    "ALTER ROLE portal SET work_mem = 64",
    "ALTER ROLE portal SET enable_seqscan = false",
    "ALTER ROLE portal SET timezone = 'UTC'",
    f"ALTER ROLE portal SET application_name = '{SECRET}'",
    f"ALTER ROLE portal SET app.token = '{SECRET}'",
    "ALTER ROLE portal IN DATABASE postgres SET statement_timeout = '30s'",
    "ALTER ROLE \"Night batch\" SET work_mem = '1GB'",
    "ALTER DATABASE postgres SET random_page_cost = 1.1",
    "ALTER ROLE ALL SET plan_cache_mode = 'FORCE_GENERIC_PLAN'",
)
UNDONE = (
    "ALTER DATABASE postgres RESET ALL",
    "ALTER ROLE ALL RESET ALL",
    "DROP ROLE portal",
    'DROP ROLE "Night batch"',
)


def test_what_is_set_for_roles_and_databases(server: PostgresServer) -> None:
    with closing(link_to(server.dsn("stranger"))) as link:
        link.open()
        settings = RoleSettings()
        assert [(row["name"], row["value"]) for row in rows_of("setting", settings.read(link))] == [("reading", "0")]
        link.notices.batches()
        server.execute(*MADE)
        try:
            told = rows_of("setting", settings.read(link))
            events = {row["subject"]: row["text"] for row in rows_of("event", link.notices.batches())}
            again = settings.read(link)
            server.execute("ALTER ROLE portal RESET work_mem")
            gone = rows_of("setting", settings.read(link))
        finally:
            server.execute(*UNDONE)
    assert {row["component"] for row in told} == {"pg_db_role_setting"}
    assert {row["name"]: (row["value"], row["unit"], row["source"]) for row in told} == {
        "portal * work_mem": ("64", "kB", "user"),
        "portal * enable_seqscan": ("off", None, "user"),
        "portal * TimeZone": ("UTC", None, "user"),
        "portal * application_name": ("(set, not shown)", None, "user"),
        "portal * app.token": ("(set, not shown)", None, "user"),
        "portal postgres statement_timeout": ("30000", "ms", "database user"),
        '"Night batch" * work_mem': ("1048576", "kB", "user"),
        "* postgres random_page_cost": ("1.1", None, "database"),
        "* * plan_cache_mode": ("force_generic_plan", None, "database"),
    }
    assert events["portal * work_mem"] == "was not set, is 64"
    assert SECRET not in f"{told}{events}"
    assert again == []
    assert [(row["name"], row["value"]) for row in gone] == [("portal * work_mem", None)]
