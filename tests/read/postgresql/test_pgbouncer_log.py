"""Logs of PgBouncer: of 1.23 with its zone, and of 1.5."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.read.postgresql.pgbouncer_log import NAME
from doctord.report.phrases import said
from reading import SAMPLES, figure, frame, picked, read_sample

LOGIN = "2025-03-04 10:15:{:02d}.{:03d} UTC [1] LOG C-0x1: shop/ann@10.1.0.7:1 login attempt: db=shop user=ann\n"
CLOSED = (
    "2025-03-04 10:15:{:02d}.{:03d} UTC [1] LOG C-0x1: shop/ann@10.1.0.7:1 closing because: client close (age={})\n"
)


def written(folder: Path, text: str) -> Path:
    (folder / "file").write_text(text)
    return folder / "file"


def causes(path: Path) -> list[str]:
    return [one.cause for one in diagnose(Dataset.from_batches(read_file(path).batches)).findings]


def test_lines_of_statistics_each_over_its_time() -> None:
    reading = read_sample("pgbouncer_log.log")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    assert picked(reading, "statistic", "value", "interval_s", name="pgbouncer.xacts") == [(50.0, 60.0), (40.0, 30.0)]
    assert figure(reading, "pgbouncer.wait_time", unit="us_per_s") == [3e6, 1.5e6]
    assert figure(reading, "pgbouncer.xact_time", kind="gauge") == [20000.0, 20000.0]
    assert figure(reading, "pgbouncer.bytes_out", unit="bytes_per_s") == [42000.0, 40000.0]


def test_what_is_counted_by_the_minute() -> None:
    reading = read_sample("pgbouncer_log.log")
    logins = picked(reading, "statistic", "value", "interval_s", name="pgbouncer.logins")
    assert logins == [(pytest.approx(4 / 60), 60.0), (0.0, 40.0)]
    assert figure(reading, "pgbouncer.closed_within_a_second")[0] == pytest.approx(4 / 60)
    assert figure(reading, "pgbouncer.server_connections")[0] == pytest.approx(1 / 60)
    closed = picked(reading, "statistic", "entity", name="pgbouncer.closings")
    assert closed == [("client: client close request",), ("client: query_wait_timeout",)]
    assert picked(reading, "event", "kind", "text")[1] == (
        "restart", "got SIGTERM, shutting down, waiting for all clients disconnect"
    )  # fmt: skip


def test_what_a_client_was_told_is_an_error_and_holds_no_value() -> None:
    reading = read_sample("pgbouncer_log.log")
    assert picked(reading, "statistic", "entity", name="log.errors") == [
        ("ERROR cannot connect to server: Connection refused",),
        ("ERROR pooler error: no more connections allowed (max_client_conn)",),
        ("ERROR pooler error: no such user: ?",),
        ("ERROR pooler error: query_wait_timeout",),
    ]
    text = "".join(frame(reading, name).write_csv() for name in ("statistic", "event"))
    assert not any(secret in text for secret in ("shop", "bob", "10.1.0"))


def test_1_5_over_midnight() -> None:
    reading = read_sample("pgbouncer_log.1_5.log", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert picked(reading, "statistic", "value", name="pgbouncer.queries") == [(481.0,)]
    minutes = picked(reading, "statistic", "ts", "value", name="pgbouncer.logins")
    assert minutes[0][0] == datetime(2016, 7, 11, tzinfo=UTC)
    assert minutes[0][1] == pytest.approx(3 / 1.205)
    assert any("no time zone" in note for note in read_sample("pgbouncer_log.1_5.log").notes)


def test_as_journalctl_shows_it(tmp_path: Path) -> None:
    lines = (SAMPLES / "pgbouncer_log.log").read_text().splitlines()
    text = "".join(f"Mar 04 10:15:00 db7 pgbouncer[2210]: {line}\n" for line in lines)
    reading, plain = read_file(written(tmp_path, text)), read_sample("pgbouncer_log.log")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    found, expected = frame(reading, "statistic"), frame(plain, "statistic")
    assert found["host"].unique().to_list() == ["db7"]
    assert found.drop("host").equals(expected.drop("host"))


def test_lines_of_others_are_named(tmp_path: Path) -> None:
    text = (SAMPLES / "pgbouncer_log.log").read_text() + "Segmentation fault\n2025-03-44 10:00:00.0 UTC [1] LOG x\n"
    reading = read_file(written(tmp_path, text))
    assert [one.line for one in reading.skipped] == [21, 22]
    assert {one.reason for one in reading.skipped} == {"no line of PgBouncer's"}


def test_a_queue_at_the_pooler_is_found_and_named() -> None:
    findings = diagnose(Dataset.from_batches(read_sample("pgbouncer_log.log").batches)).findings
    queue = next(one for one in findings if one.cause == "pooler_queue")
    assert said(queue.title) == "2.5 clients wait at PgBouncer for a connection, on average"


def test_a_pool_that_serves_at_once_has_no_queue(tmp_path: Path) -> None:
    text = (SAMPLES / "pgbouncer_log.log").read_text().replace("wait 3000000 us", "wait 3000 us")
    assert "pooler_queue" not in causes(written(tmp_path, text.replace("wait 1500000 us", "wait 15 us")))


@pytest.mark.parametrize(("a_second", "found"), [(120, True), (60, False)])
def test_a_login_for_each_transaction(tmp_path: Path, a_second: int, *, found: bool) -> None:
    lines = [
        line.format(second, part, 0) for second in range(10) for part in range(a_second) for line in (LOGIN, CLOSED)
    ]
    lines.append("2025-03-04 10:15:10.000 UTC [1] LOG stats: 120 xacts/s, 120 queries/s, in 1 B/s, out 1 B/s\n")
    assert ("connection_churn" in causes(written(tmp_path, "".join(lines)))) is found


def test_what_a_client_sent_is_in_no_name(tmp_path: Path) -> None:
    line = "2025-03-04 10:15:00.000 UTC [1] WARNING C-0x55: app/joe@10.0.0.1:53 {}\n"
    said = ("unsupported startup parameter: options=-c app.token=nut", "pooler error: login failed: db=bolt user=joe")
    reading = read_file(written(tmp_path, "".join(map(line.format, said))))
    names = [entity for (entity,) in picked(reading, "statistic", "entity", name="log.errors")]
    assert sorted(names) == ["ERROR pooler error: login failed: db=?",
                             "WARNING unsupported startup parameter: options=?"]  # fmt: skip


def test_a_zone_of_several_meanings_is_told(tmp_path: Path) -> None:
    text = (SAMPLES / "pgbouncer_log.log").read_text().replace(" UTC [", " IST [")
    path = written(tmp_path, text)
    assert any("in IST, which is not the same everywhere" in note for note in read_file(path).notes)
    assert not [note for note in read_file(path, zone="Asia/Kolkata").notes if "IST" in note]
