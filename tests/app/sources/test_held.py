"""A file with rows of several hosts is parted by them; no row is lost, and a cluster stays whole."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.app.read import each_read
from doctord.app.sources.held import Held
from doctord.dataset.dataset import Dataset
from doctord.read.gather import FileRead
from doctord.read.source import ReadOptions
from reading import SAMPLES

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ROW = {"ts": NOON, "interval_s": 60.0}


def held(**tables: list[dict[str, Any]]) -> Held:
    rows = {name: [ROW | row for row in of] for name, of in tables.items()}
    return Held(FileRead("all", "any", dict(Dataset.from_rows(**rows).tables)))


def parts(one: Held) -> dict[str, dict[str, int]]:
    """Rows of each table by the hosts of the part."""
    return {
        ",".join(sorted(part.hosts)) or "-": {name: table.num_rows for name, table in part.file.tables.items()}
        for part in one.by_host()
    }


def test_rows_of_two_hosts_are_two_parts() -> None:
    found = parts(held(cpu=[{"host": "a"}, {"host": "b"}, {"host": "a"}], disk=[{"host": "b", "device": "sda"}]))
    assert found == {"a": {"cpu": 2}, "b": {"cpu": 1, "disk": 1}}


def test_rows_of_one_host_or_of_none_stay_whole() -> None:
    for hosts in (["a", "a", None], [None, None]):
        one = held(cpu=[{"host": host} for host in hosts])
        assert one.by_host() == [one]


def test_rows_without_a_host_go_with_their_database_or_stand_alone() -> None:
    waits = [(host, db) for db in ("mysql:3306", "mysql:3307") for host in ("a", None)]
    found = parts(
        held(
            wait=[{"host": host, "db": db, "event": "CPU"} for host, db in [*waits, ("b", "mysql:3307")]],
            memory=[{"host": None}],
        )
    )
    assert found == {"a": {"wait": 3}, "b": {"wait": 1}, "-": {"wait": 1, "memory": 1}}, "3307 is of both"


@pytest.mark.parametrize("db", ["oracle:SHOP", "postgresql:5432"])
def test_who_shares_a_database_of_oracle_is_a_cluster(db: str) -> None:
    waits = [{"host": host, "db": db, "event": "CPU"} for host in ("a", "b", None)]
    found = parts(held(wait=waits, cpu=[{"host": "a"}, {"host": "c"}]))
    if db.startswith("oracle"):
        assert found == {"a,b": {"wait": 3, "cpu": 1}, "c": {"cpu": 1}}
    else:  # a port is none
        assert found == {"a": {"wait": 1, "cpu": 1}, "b": {"wait": 1}, "c": {"cpu": 1}, "-": {"wait": 1}}


def test_a_database_that_names_no_host_is_of_all_hosts_of_its_file() -> None:
    one = held(wait=[{"db": "oracle:SHOP", "event": "CPU"}], memory=[{"host": "a"}, {"host": "b"}])
    assert len(one.by_host()) == 1


@pytest.mark.parametrize(
    ("sample", "hosts"),
    [
        ("many_hosts.pdsh.txt", {"db1", "db2"}),
        ("many_hosts.ansible.txt", {"web1", "web2"}),
        ("table_file.parquet", {"backup", "steady", "-"}),
        ("awr.rac.html", {"left,right"}),
        ("awr_miner.out", {"db1,db2"}),
    ],
)
def test_files_of_several_hosts_lose_no_row(sample: str, hosts: set[str]) -> None:
    (file,) = each_read([SAMPLES / sample], ReadOptions())
    found = parts(Held(file))
    assert set(found) == hosts
    rows = Counter[str]()
    for tables in found.values():
        rows.update(tables)
    assert rows == {name: table.num_rows for name, table in file.tables.items()}
