"""What is read from each tablespace: of a real server, and the rule by which a time is that of one tablespace."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, cast

import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.objects import tablespaces
from doctord.collect.postgres.statistics.objects.relations import Relations
from doctord.collect.postgres.statistics.objects.tablespaces import Tablespaces
from postgres_samples import figures, link_to
from servers import PostgresServer

DEFAULT, OLD = 1663, 16999
HEAP, INDEX = "pg_statio_user_tables.heap_blks_read", "pg_statio_user_indexes.idx_blks_read"


class _Link:
    """A database that tells of its tablespaces, and how long all its reads took."""

    db, database = "postgresql:5432", "shop"

    def __init__(self) -> None:
        self.blocks, self.ms = 0, 0.0

    def query(self, _: str) -> list[dict[str, Any]]:
        common = {"blks_read": self.blocks, "blk_read_time": self.ms}
        named = {DEFAULT: "pg_default", OLD: "old"}
        return [{**common, "oid": oid, "name": name, "is_default": oid == DEFAULT} for oid, name in named.items()]


def read_twice(
    monkeypatch: pytest.MonkeyPatch, heap: int, index: int, old: int, ms: float
) -> dict[str, dict[str, float]]:
    """Figures by tablespace after ten seconds in which so many blocks were read, in so many milliseconds."""
    link, collected = _Link(), Tablespaces()
    for second, part in ((0.0, 0), (10.0, 1)):
        monkeypatch.setattr(tablespaces.time, "monotonic", lambda second=second: second)
        tables = [
            {"relid": 1, "reltablespace": 0, HEAP: heap * part, "toast_blks_read": 10 * part},
            {"relid": 2, "reltablespace": OLD, HEAP: old * part, "toast_blks_read": 0},
        ]
        indexes = [{"relid": 3, "reltablespace": DEFAULT, INDEX: index * part}]
        link.blocks, link.ms = (heap + 10 + index + old) * part, ms * part
        collected.begin()
        collected.add(cast("Link", link), tables, indexes)
        batches = collected.batches(cast("Link", link))
        assert bool(batches) is bool(part)
    return {name: figures(batches, name) for name in ("pg_default", "old")}


def test_tables_their_toast_and_indexes_count_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_twice(monkeypatch, heap=970, index=20, old=10, ms=2000.0)
    assert read["pg_default"] == {
        "tablespace_io.blks_read": pytest.approx(100.0), "tablespace_io.read_ms": pytest.approx(2000 / 1010)
    }  # fmt: skip
    assert read["old"] == {"tablespace_io.blks_read": pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("old", "ms"),
    [
        (200, 2000.0),  # of two tablespaces: nobody knows whose time it is
        (10, 0.0),  # track_io_timing is off
    ],
)
def test_a_time_that_is_not_one_tablespaces_is_not_told(monkeypatch: pytest.MonkeyPatch, old: int, ms: float) -> None:
    read = read_twice(monkeypatch, heap=970, index=20, old=old, ms=ms)
    assert all("tablespace_io.read_ms" not in told for told in read.values())
    assert read["old"]["tablespace_io.blks_read"] == pytest.approx(old / 10)


@pytest.mark.server
def test_reads_of_a_real_tablespace(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"shared_buffers": "128kB", "track_io_timing": "on"})
    folder = server.folder / "old"
    folder.mkdir()
    owner = server.folder.stat()
    os.chown(folder, owner.st_uid, owner.st_gid)
    server.execute(
        f"CREATE TABLESPACE old LOCATION '{folder}'",
        "CREATE TABLE heap TABLESPACE old AS SELECT n, repeat('x', 500) AS t FROM generate_series(1, 40000) AS n",
    )
    with closing(link_to(server.dsn())) as link, closing(Relations()) as relations:
        link.open()
        relations.read(link)

        deadline, read = time.monotonic() + 30, dict[str, float]()
        while "tablespace_io.read_ms" not in read and time.monotonic() < deadline:
            server.execute(*["SELECT count(*) FROM heap"] * 5)  # much beside what a login reads of the catalogues
            read = figures(relations.read(link), "old")
    assert read["tablespace_io.blks_read"] > 1
    assert 0 < read["tablespace_io.read_ms"] < 1000
