"""Statements that fail for want of room: the place by the message and by the file systems that were seen."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.causes.service.test_failing import failing, found
from diagnose.hosts import DB, START
from doctord.dataset.dataset import Dataset
from doctord.diagnose.causes.service.no_room import SHARED_MEMORY
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

EXTEND = 'ERROR 53100 could not extend file "base/?": No space left on device'
CREATE = 'ERROR 53100 could not create file "base/?": No space left on device'
TABLESPACE = 'ERROR 53100 could not extend file "pg_tblspc/?": No space left on device'
WAL = 'ERROR 53100 could not write to file "pg_wal/?": No space left on device'
QUOTA = 'ERROR XX000 could not extend file "base/?": Disk quota exceeded'
SHARED = 'ERROR 53100 could not resize shared memory segment "?" to ? bytes: No space left on device'
TEMP = "ERROR 53400 temporary file size exceeds temp_file_limit (?kB)"
MIB = 2**20
ALL_OF_IT = {"size_bytes": 2**34, "used_bytes": 2**34, "available_bytes": 0, "inodes_used_pct": 3.0}
NO_INODES = {"size_bytes": 2**34, "used_bytes": 2**32, "available_bytes": 2**33, "inodes_used_pct": 100.0}
SHM = {"mount": f"{SHARED_MEMORY} of {DB}", "device": "shm", "size_bytes": 64 * MIB, "used_bytes": 8 * MIB,
       "inodes_used_pct": 0.0}  # fmt: skip
LIES = {"/srv/pg": ("data", "/srv"), "/wal": ("WAL", "/wal"), "/fast": ("tablespace fast", "/fast")}


def without_room(error: str, *filesystems: dict[str, Any], per_s: float = 5.0, **more: Any) -> dict[str, Finding]:
    """What is said of a server whose data, log and a tablespace lie on file systems of their own."""
    dataset = failing({error: per_s}, filesystems=[{}, *filesystems], **more)
    rows = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    end = {"ts": START + timedelta(seconds=20), "host": "host", "component": "kernel", "db": DB}
    places = [
        end | {"name": f"path.{folder}.{part}", "value": value}
        for folder, told in LIES.items()
        for part, value in zip(("holds", "mount"), told, strict=True)
    ]
    return found(Dataset.from_rows(**{**rows, "setting": [*rows.get("setting", []), *places]}))


def at(mount: str, kind: dict[str, Any]) -> dict[str, Any]:
    return kind | {"mount": mount, "device": f"/dev{mount}"}


@pytest.mark.parametrize(
    ("error", "full", "place"),
    [(EXTEND, "/srv", "room on /srv"), (TABLESPACE, "/fast", "room on /fast"), (WAL, "/wal", "room on /wal"),
     (EXTEND, "/wal", "room on disk"), (TABLESPACE, "/srv", "room on disk")],
)  # fmt: skip
def test_the_place_is_that_of_the_messages_file(error: str, full: str, place: str) -> None:
    finding = without_room(error, at(full, ALL_OF_IT))["disk_full"]
    assert said(finding.title) == f"Statements of {DB} fail for want of {place}: 100 times"
    assert finding.severity == "critical"
    assert bool(finding.not_measured) is (place == "room on disk")


def test_of_two_that_are_full_the_messages_one_is_told() -> None:
    finding = without_room(WAL, at("/srv", ALL_OF_IT), at("/wal", ALL_OF_IT))["disk_full"]
    assert "room on /wal" in said(finding.title)


def test_inodes_are_told_as_inodes() -> None:
    told = without_room(CREATE, at("/srv", NO_INODES))
    finding = told["disk_full"]
    assert said(finding.title) == f"Statements of {DB} fail for want of inodes on /srv: 100 times"
    assert "/srv: 100.0 % of the inodes used" in [said(item.figure) for item in finding.for_]
    assert said(finding.remedy[0]).startswith("df -i /srv shows the inodes")
    assert told["filesystem_full"].explained_by == "disk_full"


def test_a_quota_is_no_full_disk() -> None:
    finding = without_room(QUOTA)["disk_full"]
    assert said(finding.title) == f"Statements of {DB} fail for want of room within a disk quota: 100 times"
    assert not finding.not_measured


def test_shared_memory_is_no_disk() -> None:
    """The disks have room, and /dev/shm of the server's container has as little as Docker gives."""
    hashes = {"work_mem": "65536", "hash_mem_multiplier": "2", "max_parallel_workers_per_gather": "2"}
    worker = {"kind": "parallel worker", "statement_id": "77", "samples": 4}
    told = without_room(SHARED, SHM, settings=hashes, sessions=[worker])
    finding = told["shared_memory_full"]
    assert said(finding.title) == f"Parallel queries of {DB} find no room in shared memory (/dev/shm): 100 times"
    assert finding.severity == "critical"
    figures = [said(item.figure) for item in finding.for_]
    assert f"{SHARED_MEMORY} of {DB} is 64.0 MiB large" in figures
    assert "384 MiB for one parallel hash" in figures
    assert "parallel workers run statement 77" in figures
    assert any("--shm-size" in said(step) for step in finding.remedy)
    assert "disk_full" not in told


def test_shared_memory_of_unknown_size_is_held_against_nothing() -> None:
    settings = {"work_mem": "65536", "hash_mem_multiplier": "2", "max_parallel_workers_per_gather": "2"}
    finding = without_room(SHARED, settings=settings)["shared_memory_full"]
    (told,) = [item for item in finding.for_ if "parallel hash" in said(item.figure)]
    assert (said(told.figure), said(told.threshold)) == ("384 MiB for one parallel hash", "")


@pytest.mark.parametrize(("kind", "place"), [("sysv", "kernel.shmall"), ("mmap", "pg_dynshmem")])
def test_segments_may_lie_elsewhere(kind: str, place: str) -> None:
    finding = without_room(SHARED, settings={"dynamic_shared_memory_type": kind})["shared_memory_full"]
    assert place in said(finding.title)


@pytest.mark.parametrize(("per_s", "severity"), [(20.0, "warning"), (3.0, None)])
def test_a_limit_of_temporary_files_by_its_part(per_s: float, severity: str | None) -> None:
    finding = without_room(TEMP, per_s=per_s, settings={"temp_file_limit": "1048576"}).get("temp_file_limit_reached")
    assert (finding.severity if finding and finding.severity != "note" else None) == severity
    if severity and finding:
        assert "1.0 GiB for each process" in [said(item.figure) for item in finding.for_]
    assert "disk_full" not in without_room(TEMP, per_s=per_s)
