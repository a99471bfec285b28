"""Files and devices that a traced program waits for; data files and tablespaces that are slower than the others."""

import pytest

from diagnose.hosts import host
from diagnose.oracle_hosts import found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from traces import target, without_loop


def test_a_lock_file_is_waited_for_as_it_should_be() -> None:
    """Workers that take turns at accept()."""
    locked = without_loop(targets=[target("/run/httpd/accept.lock", calls=8, seconds=0.9)])
    assert not diagnose(Dataset(), trace=locked).findings


def findings(name: str, calls: int, seconds: float) -> dict[str, Finding]:
    """Of a second in which a process did little else."""
    trace = without_loop(targets=[target(name, calls=calls, seconds=seconds, reads=calls, read_bytes=calls * 5000)])
    return {finding.cause: finding for finding in diagnose(Dataset(), trace=trace).findings}


def test_a_device_that_gives_little_by_itself() -> None:
    finding = findings("/dev/random", 8, 0.9)["slow_file"]
    assert said(finding.title) == "/dev/random takes 112.5 ms for each call, 90 % of busy time"
    assert finding.severity == "critical"


@pytest.mark.parametrize(
    ("name", "calls", "seconds"),
    [
        ("/data/base/1/16384", 20, 0.8),  # 40 ms each
        ("/data/base/1/16384", 3, 0.9),
        ("/dev/pts/3", 8, 0.9),
        ("/proc/kmsg", 8, 0.9),
        ("TCP:[127.0.0.1:5432]", 8, 0.9),
    ],
)
def test_what_is_quick_rare_or_no_file(name: str, calls: int, seconds: float) -> None:
    assert "slow_file" not in findings(name, calls, seconds)


# A database's own figures: one data file, or tablespace, among others.

FAST, SLOW = "/u01/oradata/users01.dbf", "/u02/oradata/archive01.dbf"


def of_files(slow_ms: float, others_ms: float = 2.0, **more: float) -> dict[str | tuple[str, str], float | None]:
    """Figures of two data files of Oracle's, the second one slow."""
    slow = {"reads": 60.0, "read_ms": slow_ms} | more
    fast = {"reads": 300.0, "read_ms": others_ms, "blocks_per_read": 1.0}
    return {
        **{(f"file_io.{name}", FAST): value for name, value in fast.items()},
        **{(f"file_io.{name}", SLOW): value for name, value in slow.items()},
    }


READING = {"db file sequential read": (360.0, 9.0)}


def test_a_data_file_that_is_slower_than_the_others() -> None:
    finding = found(waits=READING, figures=of_files(45.0))["slow_file"]
    assert said(finding.title) == f"A read of data file {SLOW} takes 45 ms, of the others 2.0 ms"
    assert finding.impact.known == "at_most"
    assert finding.impact.share == pytest.approx(0.63, abs=0.05)
    assert "60.0 reads/s; the others take 2.0 ms" in " ".join(said(item.why) for item in finding.for_)
    assert not finding.against


@pytest.mark.parametrize(
    ("slow_ms", "others_ms"),
    [
        (19.0, 2.0),  # no slow file
        (45.0, 30.0),  # as slow as the others: `reads_slow` says it
    ],
)
def test_files_that_are_quick_or_all_alike(slow_ms: float, others_ms: float) -> None:
    assert "slow_file" not in found(waits=READING, figures=of_files(slow_ms, others_ms))


def test_a_file_that_is_hardly_read_or_takes_little_of_the_time() -> None:
    assert "slow_file" not in found(waits=READING, figures=of_files(45.0, reads=0.5))
    assert "slow_file" not in found(figures=of_files(45.0, reads=1.5))


def test_without_times_or_others_nothing_is_said() -> None:
    untimed = {key: value for key, value in of_files(45.0).items() if "read_ms" not in key[0]}
    alone = {key: value for key, value in of_files(45.0).items() if key[1] == SLOW}
    assert "slow_file" not in found(waits=READING, figures=untimed)
    assert "slow_file" not in found(waits=READING, figures=alone)


def test_the_slow_file_is_why_reads_are_slow() -> None:
    findings = found(waits={"db file sequential read": (360.0, 25.0)}, figures=of_files(145.0))
    assert findings["reads_slow"].explained_by == "slow_file"


def test_more_reads_than_of_all_others_and_large_ones_speak_against_it() -> None:
    finding = found(waits=READING, figures=of_files(45.0, reads=900.0, blocks_per_read=64.0))["slow_file"]
    told = [said(item.why) for item in finding.against]
    assert told == ["more than of all others together: they may queue for each other",
                    "large reads take longer than small ones"]  # fmt: skip
    assert finding.confidence == 0.6


# PostgreSQL counts by tablespace, and times reads by database alone.

TABLESPACES = {
    ("pg_default", "tablespace_io.blks_read"): 400.0,
    ("old", "tablespace_io.blks_read"): 80.0,
}
IN_DISK_WAITS = {("User I/O", "DataFileRead"): 2.0, ("CPU", "CPU"): 0.5}
FOLDERS = {
    "path./data.holds": "data", "path./data.devices": "vda1 vda", "path./data.mount": "/",
    "path./data.filesystem": "xfs",
    "path./old.holds": "tablespace old", "path./old.devices": "sdb", "path./old.mount": "/old",
    "path./old.filesystem": "ext4",
}  # fmt: skip


def of_tablespaces(
    figures: dict[tuple[str | None, str], float], sdb: float | None = None, folders: dict[str, str] | None = None
) -> dict[str, Finding]:
    """With the time of a read of the device sdb, and where the folders lie."""
    disk = {"device": "sdb", "reads_per_s": 80.0, "read_ms": sdb, "util_pct": 30.0}
    settings = [{"component": "kernel", "name": name, "value": value} for name, value in (folders or FOLDERS).items()]
    dataset = host(
        time=IN_DISK_WAITS,
        postgres={**TABLESPACES, **figures},
        extra={"disk": [disk] if sdb else [], "setting": settings},
    )
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_a_tablespace_whose_reads_the_server_times() -> None:
    times = {("pg_default", "tablespace_io.read_ms"): 0.4, ("old", "tablespace_io.read_ms"): 35.0}
    finding = of_tablespaces(dict(times))["slow_file"]
    assert said(finding.title) == "A read of tablespace old takes 35 ms, of the others 0.4 ms"
    assert finding.confidence == 0.85
    assert "/old > ext4 on /old > sdb" in [said(item.figure) for item in finding.for_]


def test_what_another_server_waits_for_is_not_this_files() -> None:
    """Sessions of postgresql:5432 wait for its disks; postgresql:5433 has a slow tablespace that nobody waits for."""
    about = {"component": "postgresql", "db": "postgresql:5433", "kind": "rate"}
    rows = [
        about | {"name": f"tablespace_io.{name}", "entity": entity, "value": value}
        for entity, ms in (("pg_default", 0.4), ("old", 35.0))
        for name, value in (("blks_read", 50.0), ("read_ms", ms))
    ]
    told = diagnose(host(time=IN_DISK_WAITS, extra={"statistic": rows})).findings
    assert "slow_file" not in [one.cause for one in told]


def test_a_tablespace_on_a_device_of_its_own_is_timed_by_that() -> None:
    finding = of_tablespaces({}, sdb=35.0)["slow_file"]
    assert finding.confidence == 0.6, "others may read from that device, too"
    assert "at its device" in said(finding.for_[0].why)
    together = FOLDERS | {"path./data.devices": "sdb"}
    assert "slow_file" not in of_tablespaces({}, sdb=35.0, folders=together)
