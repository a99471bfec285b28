"""Limits of roles and databases, and wrong lines of the configuration's files, of real servers."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.access.configuration_files import ConfigurationFiles
from doctord.collect.postgres.statistics.access.login_limits import LoginLimits
from doctord.collect.postgres.statistics.objects.schema import Schema
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

MADE = (
    "CREATE ROLE portal LOGIN CONNECTION LIMIT 3 VALID UNTIL '2020-01-01'",
    "CREATE ROLE readers",
    "CREATE DATABASE closed ALLOW_CONNECTIONS false CONNECTION LIMIT 7",
)
UNDONE = ("DROP ROLE portal", "DROP ROLE readers", "DROP DATABASE closed")


@contextmanager
def opened(dsn: str) -> Iterator[Link]:
    with closing(link_to(dsn)) as link:
        link.open()
        yield link


def told(batches: list[Batch]) -> dict[tuple[str, str | None], float]:
    return {(row["name"], row["entity"]): row["value"] for row in rows_of("statistic", batches)}


def test_limits_of_roles_and_databases_are_told_to_anybody(server: PostgresServer) -> None:
    server.execute(*MADE)
    try:
        with opened(server.dsn("stranger")) as link:
            found = told(LoginLimits().read(link))
    finally:
        server.execute(*UNDONE)
    assert found.pop(("pg_roles.password_valid_s", "portal")) < 0
    assert found == {
        ("pg_roles.connection_limit", "portal"): 3,
        ("pg_roles.connections", "portal"): 0,
        ("pg_roles.no_login", "readers"): 1,
        ("pg_database.no_connections", "closed"): 1,
        ("pg_database.connection_limit", "closed"): 7,
        ("pg_database.connections", "closed"): 0,
    }


def test_a_wrong_line_is_told_without_its_value(server: PostgresServer) -> None:
    files = [server.datadir / "postgresql.conf", server.datadir / "pg_hba.conf"]
    before = [file.read_text() for file in files]
    try:
        files[0].write_text(f"{before[0]}\nworkmem = 'hunter2'\n")
        files[1].write_text(f"{before[1]}\nhost all all 10.0.0.0/33 trust\n")
        with opened(server.dsn()) as link:
            found = told(ConfigurationFiles().read(link))
    finally:
        for file, text in zip(files, before, strict=True):
            file.write_text(text)
    assert found[("pg_file_settings.errors", None)] == found[("pg_hba_file_rules.errors", None)] == 1
    [wrong] = [entity for name, entity in found if name == "pg_file_settings.errors" and entity]
    assert wrong.startswith("postgresql.conf line ")
    assert wrong.endswith(": workmem: unrecognized configuration parameter")
    assert "hunter2" not in str(found)


def test_who_may_not_read_the_files_is_told_so_once(server: PostgresServer) -> None:
    with opened(server.dsn("doctord")) as link:
        files = ConfigurationFiles()
        assert not files.read(link) + files.read(link)
        [event] = rows_of("event", link.notices.batches())
    assert (event["kind"], event["subject"]) == ("not measured", "files of the configuration")
    assert event["hint"].startswith("GRANT SELECT ON pg_file_settings")


def test_a_sequence_behind_its_column(server: PostgresServer) -> None:
    server.execute(
        "CREATE TABLE restored (id serial PRIMARY KEY, name text)",
        "INSERT INTO restored SELECT i, i FROM generate_series(1, 1000) AS i",
        "ANALYZE restored",
    )
    try:
        with opened(server.dsn()) as link:
            behind = told(Schema().read(link))
            server.execute("SELECT setval('restored_id_seq', 1000)")
            mended = told(Schema().read(link))
    finally:
        server.execute("DROP TABLE restored")
    [(name, entity)] = [one for one in behind if one[0] == "pg_sequences.behind"]
    assert (entity or "").endswith(".public.restored_id_seq of restored_pkey")
    assert behind[name, entity] == 1000
    assert "pg_sequences.behind" not in {name for name, _ in mended}
