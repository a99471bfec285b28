"""An archiver that archives nothing although it does not fail; one that fails is beside the slots (test_wal_kept)."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, GIB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

MIB = 2**20
SETTINGS = {
    "data_directory": "/var/lib/postgresql/15/main",
    "wal_segment_size": str(16 * MIB),
    "archive_command": "(set, not shown)",
    "archiver.process": "process 77 (rsync), state S in poll_schedule_timeout",
}
FULL = {"mount": "/var/lib", "device": "/dev/vdb", "size_bytes": 100 * GIB, "used_bytes": 100 * GIB - 9 * MIB}
READY, OLDEST_S = (None, "pg_ls_archive_statusdir.ready"), (None, "pg_ls_archive_statusdir.oldest_ready_s")
ARCHIVED_S, FAILED_S = (None, "pg_stat_archiver.last_archived_s"), (None, "pg_stat_archiver.last_failed_s")
FAILURES, COMMAND_S = (None, "pg_stat_archiver.failed_count"), ("rsync", "pg_stat_archiver.command_s")
HANGING = {READY: 40.0, OLDEST_S: 180.0, ARCHIVED_S: 185.0, FAILURES: 0.0, COMMAND_S: 181.0}


def found(figures: dict[tuple[str | None, str], float], begin: float | None = None, **more: Any) -> list[Finding]:
    """What is found; `begin` segments waited when the look began."""
    dataset = host(**({"settings": SETTINGS} | more), postgres=figures)
    if begin is None:
        return list(diagnose(dataset).findings)
    rows = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    look = {"ts": START, "host": "host", "component": "postgresql", "db": DB, "name": READY[1], "kind": "gauge"}
    rows["statistic"] = [look | {"entity": None, "value": begin}, *rows["statistic"]]
    return list(diagnose(Dataset.from_rows(**rows)).findings)


def test_a_command_that_does_not_come_back() -> None:
    [finding] = found(HANGING, begin=30.0)
    assert (finding.cause, finding.severity, finding.confidence) == ("archiver_stuck", "warning", 0.95)
    assert "does not come back: 40 segments wait, nothing archived for 3 min" in said(finding.title)
    told = " ".join(f"{said(item.figure)} {said(item.why)}" for item in finding.for_)
    assert "10 more than when the look began" in told
    assert "the archive command runs for 3 min 1 s: rsync" in told
    assert "state S in poll_schedule_timeout" in told
    assert "it does not fail" in told
    assert "timeout 300" in " ".join(map(said, finding.remedy))


def test_the_full_file_system_of_the_log_is_its_work() -> None:
    stuck, full = found(HANGING, filesystems=[{}, FULL])
    assert (stuck.cause, stuck.severity) == ("archiver_stuck", "critical")
    assert (full.cause, full.explained_by) == ("filesystem_full", "archiver_stuck")


def test_the_log_may_have_a_file_system_of_its_own() -> None:
    own = {"path./srv/wal.holds": "WAL", "path./srv/wal.mount": "/srv"}
    stuck, full = found(HANGING, settings=SETTINGS | own, filesystems=[{}, FULL | {"mount": "/srv"}])
    assert (stuck.severity, full.explained_by) == ("critical", "archiver_stuck")


def test_of_two_full_file_systems_that_of_the_log_is_its_work() -> None:
    home = FULL | {"mount": "/home", "device": "/dev/vdc", "used_bytes": 100 * GIB}
    told = found(HANGING, filesystems=[{}, FULL, home])
    full = {said(one.title).partition(" ")[0]: one.explained_by for one in told if one.cause == "filesystem_full"}
    assert full == {"/var/lib": "archiver_stuck", "/home": None}


def test_what_else_fills_the_file_system_is_none_of_its_work() -> None:
    """Nine gigabytes are left beside 640 MiB of the log that are kept."""
    nearly = FULL | {"size_bytes": 1000 * GIB, "used_bytes": 991 * GIB}
    told = {one.cause: one.explained_by for one in found(HANGING, filesystems=[{}, nearly])}
    assert told == {"archiver_stuck": None, "filesystem_full": None}


def test_of_two_servers_each_has_the_room_of_its_own_log() -> None:
    other = "postgresql:5433"
    ways = [
        {"component": "kernel", "db": db, "name": f"path.{folder}.{part}", "value": value}
        for db, folder, mount in ((DB, "/srv/a", "/srv"), (other, "/big/b", "/big"))
        for part, value in (("holds", "WAL"), ("mount", mount))
    ]
    more = [{"component": "postgresql", "db": other, "name": "pg_stat_database.xact_commit", "value": 1.0}]
    mounts = [{}, FULL | {"mount": "/srv"}, FULL | {"mount": "/big", "used_bytes": GIB}]
    told = found(HANGING, filesystems=mounts, extra={"setting": ways, "statistic": more})
    stuck = next(one for one in told if one.cause == "archiver_stuck")
    assert stuck.severity == "critical"
    assert [one.explained_by for one in told if one.cause == "filesystem_full"] == ["archiver_stuck"]


def test_the_file_system_that_a_container_alone_sees() -> None:
    ways = [{"component": "kernel", "db": DB, "name": f"path./var/lib/pg.{part}", "value": value}
            for part, value in (("holds", "data"), ("mount", "/var/lib"))]  # fmt: skip
    mounts = [{}, FULL | {"mount": f"/var/lib of {DB}"}]
    stuck = next(one for one in found(HANGING, filesystems=mounts, extra={"setting": ways}))
    assert (stuck.cause, stuck.severity) == ("archiver_stuck", "critical")


def test_a_single_look_tells_no_rate() -> None:
    look = {"component": "postgresql", "db": DB, "host": "host", "ts": START, "kind": "gauge", "interval_s": None}
    rows = [look | {"name": name, "entity": entity, "value": value} for (entity, name), value in HANGING.items()]
    [finding] = diagnose(Dataset.from_rows(statistic=rows)).findings
    assert finding.cause == "archiver_stuck"


@pytest.mark.parametrize(
    "change",
    [
        {READY: 0.0},
        {ARCHIVED_S: 2.0},
        {READY: 1.0, OLDEST_S: 3.0, ARCHIVED_S: 7200.0},
        {READY: 2.0, OLDEST_S: 90.0},
        {OLDEST_S: 30.0},
    ],
    ids=["a quiet server", "busy, and at work", "a segment after a quiet time", "one slow copy", "not for long"],
)
def test_an_archiver_at_work_or_at_rest_is_none(change: dict[tuple[str | None, str], float]) -> None:
    assert found(HANGING | change) == []


@pytest.mark.parametrize("missing", [READY, OLDEST_S])
def test_what_waits_must_be_known(missing: tuple[str | None, str]) -> None:
    assert found({name: value for name, value in HANGING.items() if name != missing}) == []


def test_for_a_short_time_more_must_have_come() -> None:
    short = HANGING | {OLDEST_S: 25.0, COMMAND_S: 26.0}
    [finding] = found(short, begin=36.0)
    assert (finding.cause, finding.confidence) == ("archiver_stuck", 0.75)
    assert found(short, begin=39.0) == []


def test_a_large_segment_may_take_long() -> None:
    assert found(HANGING, settings=SETTINGS | {"wal_segment_size": str(GIB)}) == []


def test_one_that_has_never_archived_and_of_whose_process_nothing_is_known() -> None:
    told = {name: value for name, value in HANGING.items() if name not in (ARCHIVED_S, COMMAND_S)}
    [finding] = found(told)
    assert said(finding.title).startswith(f"The archiver of {DB} stands still")


def test_a_command_that_is_not_set() -> None:
    told = {name: value for name, value in HANGING.items() if name != COMMAND_S}
    [finding] = found(told, settings=SETTINGS | {"archive_command": "", "archive_library": ""})
    assert "no command is set" in said(finding.title)
    assert "archive_mode = off" in said(finding.remedy[0])


def test_one_that_fails_is_said_to_fail() -> None:
    [finding] = found(HANGING | {FAILED_S: 12.0})
    assert said(finding.title).startswith(f"The archiver of {DB} fails")


def test_what_the_archiver_says_that_it_waits_for() -> None:
    waits = {"kind": "archiver", "event": "ArchiveCommand", "wait_class": "IPC", "state": None}
    [finding] = found(HANGING, sessions=[waits])
    assert any("ArchiveCommand" in said(item.figure) for item in finding.for_)


def test_a_slot_that_keeps_wal_beside_it_is_told_so() -> None:
    about = {"component": "postgresql", "db": DB, "entity": "s", "kind": "gauge", "host": "host", "interval_s": None}
    looks = [
        about | {"ts": START + timedelta(seconds=second), "name": f"pg_replication_slots.{column}", "value": value}
        for second in (0, 20)
        for column, value in {"retained_bytes": 900.0 * MIB, "active": 0.0}.items()
    ]
    slot = next(one for one in found(HANGING, extra={"statistic": looks[2:]}) if one.cause == "slot_keeps_wal")
    assert "40 segments wait for the archiver too" in said(slot.against[0].figure)
