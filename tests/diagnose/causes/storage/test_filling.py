"""File systems that have room, and will be full before anybody looks again."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from diagnose.hosts import DB, GIB, HOST, START, host
from doctord.analyse.storage.filesystems import SHARED_MEMORY
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

MIB = 2**20


def growing(
    mib_per_s: float, left_mib: float, *, holds: str = "tablespace history",
    figures: Mapping[str, float] | None = None, settings: Mapping[str, str] | None = None, every_s: float = 5.0,
) -> Dataset:  # fmt: skip
    """A mount of a server of which so much is left at the last of five looks."""
    rest = host(
        without=["filesystem"],
        postgres={(None, name): value for name, value in (figures or {}).items()},
        settings=settings,
    )
    row = {"host": HOST, "mount": "/data", "device": "/dev/vdb", "size_bytes": 100 * GIB}
    looks = [
        row | {"ts": START + timedelta(seconds=every_s * number),
               "used_bytes": int(100 * GIB - (left_mib + mib_per_s * every_s * (4 - number)) * MIB)}
        for number in range(5)
    ]  # fmt: skip
    common = {"ts": START, "host": HOST, "component": "kernel", "db": DB}
    paths = [common | {"name": f"path./data/x.{part}", "value": value}
             for part, value in (("mount", "/data"), ("holds", holds))]  # fmt: skip
    return Dataset.joined([rest, Dataset.from_rows(filesystem=looks, setting=paths)])


def found(dataset: Dataset) -> Finding | None:
    return next((one for one in diagnose(dataset).findings if one.cause == "filesystem_full"), None)


def test_one_that_will_be_full_within_minutes() -> None:
    finding = found(growing(50, 9_000))
    assert finding
    assert said(finding.title) == "/data will be full in 3 min at this rate: 8.8 GiB left"
    assert (finding.severity, finding.impact.known) == ("critical", "none_yet")
    assert "tablespace history is in /data/x" in " | ".join(said(item.figure) for item in finding.for_)


def test_one_that_lasts_for_long_or_is_large_and_still() -> None:
    assert found(growing(10, 10_000)) is None
    assert found(growing(140, 60_000)) is None, "a copy of 3 GB onto a disk with room for twenty of it"
    assert found(growing(0, 6_000)) is None


def test_what_was_seen_for_hours_is_carried_on_for_hours() -> None:
    finding = found(growing(1, 10_000, every_s=3600.0))
    assert finding
    assert "2 h" in said(finding.title)
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("wal_mib", "is_told"), [(100, False), (5000, True)], ids=["it grows", "it is as large as ever"]
)
def test_a_log_that_grows_to_its_size_does_not_count(wal_mib: int, *, is_told: bool) -> None:
    log = {"pg_ls_waldir.size_bytes": float(wal_mib * MIB), "pg_stat_wal.wal_bytes": 49.0 * MIB}
    told = found(growing(50, 9_000, holds="data", figures=log, settings={"max_wal_size": "4096"}))
    assert (told is not None) is is_told


def test_that_of_a_server_whose_log_lies_elsewhere_counts_whole() -> None:
    log = {"pg_ls_waldir.size_bytes": 100.0 * MIB, "pg_stat_wal.wal_bytes": 49.0 * MIB}
    assert found(growing(50, 9_000, figures=log))


def losing(pct_per_s: float, left_pct: float, *, served: bool = True) -> Dataset:
    """A mount with room whose inodes go, by four looks of five seconds each."""
    row = {"host": HOST, "mount": "/data", "device": "/dev/vdb", "size_bytes": 100 * GIB, "used_bytes": 9 * GIB}
    looks = [
        row | {"ts": START + timedelta(seconds=5 * number),
               "inodes_used_pct": 100 - (left_pct + pct_per_s * 5 * (3 - number))}
        for number in range(4)
    ]  # fmt: skip
    common = {"ts": START, "host": HOST, "component": "kernel", "db": DB}
    paths = [common | {"name": f"path./data/x.{part}", "value": value}
             for part, value in (("mount", "/data"), ("holds", "data"))]  # fmt: skip
    rest = host(without=["filesystem"])
    return Dataset.joined([rest, Dataset.from_rows(filesystem=looks, setting=paths if served else [])])


def test_inodes_that_are_gone_within_minutes() -> None:
    finding = found(losing(0.1, 10.0))
    assert finding
    assert said(finding.title) == "/data will have no inodes left in 1 min 40 s at this rate: 10.0 % left"
    assert finding.severity == "critical"
    assert "du --inodes -x -d 3 /data" in said(finding.remedy[0])
    other = found(losing(0.1, 10.0, served=False))
    assert other
    assert other.severity == "warning"


def test_inodes_that_last_are_healthy() -> None:
    assert found(losing(0.01, 40.0)) is None
    assert found(losing(0.0, 10.0)) is None


def test_what_parallel_workers_share_comes_and_goes() -> None:
    """A parallel hash takes more at each look, and gives all back."""
    shared = growing(40, 7_000, holds="shared memory of parallel workers")
    rows = {name: shared.frame(name).to_dicts() for name in shared.tables}
    for row in rows["setting"]:
        row["name"] = row["name"].replace("/data/x", SHARED_MEMORY)
    assert found(Dataset.from_rows(**rows)) is None
    assert found(growing(40, 7_000)) is not None
