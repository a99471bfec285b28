"""Room on file systems: those that are full or nearly so, and those that stay as they are."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, GIB, HOST, START, host
from doctord.analyse.storage.filesystems import SHARED_MEMORY
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

MIB = 2**20
ARCHIVED = {"pg_stat_archiver.failed_count": 0.0, "pg_stat_archiver.last_archived_s": 9.0}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_filesystem_full() -> None:
    nearly = {"mount": "/var/lib/postgresql", "device": "/dev/vdb", "size_bytes": 100 * GIB, "used_bytes": 97 * GIB}
    finding = found(host(filesystems=[{}, nearly]))["filesystem_full"]
    assert said(finding.title) == "/var/lib/postgresql is nearly full: 3.0 GiB left"
    assert finding.impact.known == "none_yet"
    assert finding.confidence == 0.95
    assert not finding.against
    full = nearly | {"used_bytes": 100 * GIB}
    assert found(host(filesystems=[{}, full]))["filesystem_full"].impact.known == "not_measured"


def test_what_is_reserved_for_root_makes_no_file_system_full() -> None:
    reserved = {"size_bytes": 252 * GIB, "used_bytes": 62 * GIB, "available_bytes": 30 * GIB}
    assert not found(host(filesystems=[reserved]))
    finding = found(host(filesystems=[reserved | {"available_bytes": 2 * GIB}]))["filesystem_full"]
    assert "2.0 GiB left" in said(finding.title)
    assert "96.9 % used" in figures(finding.for_)


def test_a_file_system_that_is_known_by_its_device_alone_is_named_by_it() -> None:
    full = {"mount": None, "device": "/dev/sdb1", "size_bytes": 100 * GIB, "used_bytes": 99 * GIB}
    rest = {"mount": None, "device": "/dev/sdc1"}
    assert "/dev/sdb1 is nearly full" in said(found(host(filesystems=[full, rest]))["filesystem_full"].title)


def test_much_room_left_speaks_against_a_full_filesystem() -> None:
    finding = found(host(filesystems=[{"size_bytes": 4000 * GIB, "used_bytes": 3900 * GIB}]))["filesystem_full"]
    assert "100.0 GiB left" in figures(finding.against)


def test_a_filesystem_mounted_twice_is_told_once() -> None:
    full = {"device": "tmpfs", "size_bytes": 4 * GIB, "used_bytes": 4 * GIB}
    mounts = [
        full | {"mount": "/run"},
        full | {"mount": "/srv/run"},
        full | {"mount": "/scratch", "size_bytes": 4 * GIB + 1},
    ]
    titles = [said(finding.title) for finding in diagnose(host(filesystems=mounts)).findings]
    assert sorted(title.split()[0] for title in titles) == ["/run", "/scratch"]


def test_inodes_run_out_too() -> None:
    assert "99.0 % of the inodes used" in figures(
        found(host(filesystems=[{"inodes_used_pct": 99.0}]))["filesystem_full"].for_
    )


@pytest.mark.parametrize(
    "mount",
    [
        {"device": "/dev/loop3", "size_bytes": 2 * GIB, "used_bytes": 2 * GIB},
        {"size_bytes": GIB // 4, "used_bytes": GIB // 4},
        {"used_bytes": None, "inodes_used_pct": None},
    ],
    ids=["an image that is read only", "tiny", "not measured"],
)
def test_mounts_that_are_no_cause(mount: dict[str, Any]) -> None:
    assert not found(host(filesystems=[mount]))


def lies_on(mount: str, kind: str = "tmpfs", holds: str = "tablespace fast") -> dict[str, list[dict[str, Any]]]:
    """Settings that tell what of a server lies on a mount."""
    parts = {"mount": mount, "filesystem": kind, "holds": holds}
    return {
        "setting": [{"component": "kernel", "name": f"path.{mount}/pg.{part}", "value": parts[part]} for part in parts]
    }


@pytest.mark.parametrize(("left", "severity"), [(0, "critical"), (15 * MIB, "critical"), (16 * MIB, "warning")])
def test_a_small_file_system_in_memory_counts_where_a_server_has_files_on_it(left: int, severity: str) -> None:
    size = 400 * MIB
    memory = {"mount": "/fast", "device": "tmpfs", "size_bytes": size, "used_bytes": size - left}
    assert not found(host(filesystems=[{}, memory]))
    finding = found(host(filesystems=[{}, memory], extra=lies_on("/fast")))["filesystem_full"]
    assert finding.severity == severity
    assert said(finding.title).startswith("/fast is full" if severity == "critical" else "/fast is nearly full")
    assert "tablespace fast is in /fast/pg" in figures(finding.for_)


def test_one_with_room_is_no_cause_however_small() -> None:
    memory = {"mount": "/fast", "device": "tmpfs", "size_bytes": 4 * MIB, "used_bytes": 3 * MIB}
    assert not found(host(filesystems=[{}, memory], extra=lies_on("/fast")))


def test_no_inode_left_is_as_bad_as_no_room() -> None:
    assert found(host(filesystems=[{"inodes_used_pct": 100.0}]))["filesystem_full"].severity == "critical"


def test_a_file_system_without_inodes_is_said_to_have_none() -> None:
    """Bytes are free: who reads "full" looks at them, and finds nothing."""
    finding = found(host(filesystems=[{"inodes_used_pct": 100.0}]))["filesystem_full"]
    assert said(finding.title) == "/ has no inodes left: 100 % used, 190 GiB free"
    assert not finding.against
    assert said(finding.remedy[0]).startswith("df -i / shows the inodes")
    few = found(host(filesystems=[{"inodes_used_pct": 97.0}]))["filesystem_full"]
    assert said(few.title) == "/ has hardly any inodes left: 97 % used, 190 GiB free"
    full = found(host(filesystems=[{"inodes_used_pct": 100.0, "used_bytes": 250 * GIB}]))["filesystem_full"]
    assert said(full.title) == "/ is full: 0 B left"


@pytest.mark.parametrize(("left", "severity"), [(2 << 20, "note"), (0, "critical")])
def test_what_parallel_workers_share_may_be_nearly_full_for_a_moment(left: int, severity: str) -> None:
    """A container's 64 MiB, of which one parallel hash takes most; that it fails is told by its own cause."""
    shared = {"mount": SHARED_MEMORY, "device": "shm", "size_bytes": 64 << 20, "used_bytes": (64 << 20) - left}
    served = lies_on(SHARED_MEMORY, holds="shared memory of parallel workers")
    served["setting"] = [
        row | {"name": row["name"].replace(f"{SHARED_MEMORY}/pg.", f"{SHARED_MEMORY}.")} for row in served["setting"]
    ]
    finding = found(host(filesystems=[{}, shared], extra=served))["filesystem_full"]
    assert finding.severity == severity


def almost_full(
    holds: str | None, figures: dict[str, float] | None = None, left: Sequence[int] = (2, 2, 2, 2)
) -> Dataset:
    """A mount of 2 GiB with a few MiB left, and a server whose data and log lie elsewhere."""
    row = {"host": HOST, "mount": "/full", "device": "/dev/vdc", "size_bytes": 2 * GIB}
    looks = [
        row | {"ts": START + timedelta(seconds=5 * number), "used_bytes": 2 * GIB - mib * MIB}
        for number, mib in enumerate(left)
    ]
    held = {"/data": ("/", "data"), "/log": ("/", "log")} | ({"/full/pg": ("/full", holds)} if holds else {})
    common = {"ts": START, "host": HOST, "component": "kernel", "db": DB}
    paths = [
        common | {"name": f"path.{folder}.{part}", "value": value}
        for folder, (mount, what) in held.items()
        for part, value in (("mount", mount), ("holds", what))
    ]
    rest = host(postgres={(None, name): value for name, value in (figures or {}).items()})
    return Dataset.joined([rest, Dataset.from_rows(filesystem=looks, setting=paths)])


def test_an_archive_that_is_kept_at_its_size_is_a_note() -> None:
    finding = found(almost_full("archive", ARCHIVED))["filesystem_full"]
    assert finding.severity == "note"
    assert "nothing failed to be archived" in " | ".join(said(item.why) for item in finding.against)


@pytest.mark.parametrize(
    ("holds", "figures", "left"),
    [
        ("archive", ARCHIVED | {"pg_stat_archiver.last_failed_s": 2.0}, (2, 2, 2, 2)),
        ("archive", ARCHIVED | {"pg_stat_archiver.failed_count": 0.2}, (2, 2, 2, 2)),
        ("archive", {}, (2, 2, 2, 2)),
        ("archive", ARCHIVED, (9, 7, 7, 2)),
        ("archive", ARCHIVED, (2, 2)),
        ("data", ARCHIVED, (2, 2, 2, 2)),
    ],
    ids=["its last try failed", "some failed", "not counted", "it becomes fuller", "two looks", "data"],
)
def test_what_fails_or_grows_there_is_critical(holds: str, figures: dict[str, float], left: Sequence[int]) -> None:
    assert found(almost_full(holds, figures, left))["filesystem_full"].severity == "critical"


def test_one_on_which_no_server_writes_is_a_note_as_long_as_it_stays_so() -> None:
    assert found(almost_full(None))["filesystem_full"].severity == "note"
    assert found(almost_full(None, left=(9, 7, 5, 3)))["filesystem_full"].severity == "warning"
