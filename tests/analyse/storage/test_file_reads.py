"""Reads of data files and tablespaces: which of the figures stand for a place, and what the others take."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.analyse.storage.file_reads import file_reads, others
from doctord.dataset.dataset import Dataset

ROW = {"ts": datetime(2026, 11, 20, 12, 0, tzinfo=UTC), "interval_s": 60.0, "host": "h"}


def told(
    *figures: tuple[str, str, float], db: str = "oracle:PROD", instance: str | None = None
) -> list[dict[str, Any]]:
    """Rows of `statistic`: entity, name, value."""
    return [
        {**ROW, "db": db, "instance": instance, "entity": entity, "name": name, "value": value}
        for entity, name, value in figures
    ]


FILE = told(("/u01/a.dbf", "file_io.reads", 10.0), ("/u01/a.dbf", "file_io.read_ms", 4.0))
TABLESPACE = told(("USERS", "tablespace_io.reads", 10.0), ("USERS", "tablespace_io.read_ms", 4.0))


def test_files_stand_before_tablespaces_of_the_same_server() -> None:
    other = told(("OLD", "tablespace_io.reads", 1.0), ("OLD", "tablespace_io.read_ms", 9.0), db="oracle:OTHER")
    found = file_reads(Dataset.from_rows(statistic=FILE + TABLESPACE + other))
    assert [(one.kind, one.name, one.told_by) for one in found] == [
        ("data file", "/u01/a.dbf", "file_io.read_ms"),
        ("tablespace", "OLD", "tablespace_io.read_ms"),
    ]


def test_instances_of_a_cluster_are_added_up() -> None:
    second = told(("/u01/a.dbf", "file_io.reads", 30.0), ("/u01/a.dbf", "file_io.read_ms", 8.0), instance="2")
    (place,) = file_reads(Dataset.from_rows(statistic=FILE + second))
    assert (place.per_s, place.read_ms, place.sessions) == (40.0, pytest.approx(7.0), pytest.approx(0.28))


def test_others_are_of_the_same_server_and_read() -> None:
    more = told(("/u01/b.dbf", "file_io.reads", 5.0), ("/u01/b.dbf", "file_io.read_ms", 2.0))
    places = file_reads(Dataset.from_rows(statistic=FILE + more))
    rest = others(places[0], places)
    assert rest is not None
    assert (rest.per_s, rest.read_ms) == (5.0, pytest.approx(2.0))
    assert others(places[0], places[:1]) is None


def test_a_file_lies_on_what_its_deepest_folder_lies_on() -> None:
    ways = {"/u01": "sda", "/u01/fast": "nvme0n1", "/u": "sdz"}
    settings = [{**ROW, "name": f"path.{folder}.devices", "value": device} for folder, device in ways.items()]
    fast = told(("/u01/fast/a.dbf", "file_io.reads", 10.0), ("/u01/fast/a.dbf", "file_io.read_ms", 4.0))
    found = file_reads(Dataset.from_rows(statistic=FILE + fast, setting=settings))
    assert {one.name: one.devices for one in found} == {"/u01/a.dbf": ("sda",), "/u01/fast/a.dbf": ("nvme0n1",)}


def test_a_name_that_two_servers_have_lies_on_nothing_known() -> None:
    settings = [
        {**ROW, "name": f"path.{folder}.{part}", "value": value}
        for folder, device in (("/a", "sda"), ("/b", "sdb"))
        for part, value in (("holds", "data"), ("devices", device))
    ]
    disk = [{**ROW, "device": device, "reads_per_s": 9.0, "read_ms": 30.0} for device in ("sda", "sdb")]
    blocks = told(("pg_default", "tablespace_io.blks_read", 10.0), db="postgresql:5432")
    assert file_reads(Dataset.from_rows(statistic=blocks, setting=settings, disk=disk)) == []
    alone = file_reads(Dataset.from_rows(statistic=blocks, setting=settings[:2], disk=disk))
    assert [(one.read_ms, one.told_by, one.devices) for one in alone] == [(30.0, "disk", ("sda",))]
