"""SHOW ENGINE INNODB STATUS: of MySQL 5.7 after a prompt, of 5.0 by itself, twice, and in one field of a table."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.read.mysql import mysql_error
from doctord.read.mysql.innodb_monitor import CUT
from doctord.read.mysql.innodb_status import NAME
from doctord.report.phrases import said
from doctord.report.wording import verdict
from latency_files import read_text
from mariadb_server import running_mariadb
from reading import SAMPLES, figure, frame, picked, read_sample

SECRETS = ("bolt", "nut", "left_over = 7")


def written(folder: Path, text: str) -> Path:
    (folder / "file").write_text(text)
    return folder / "file"


def test_figures_have_the_names_of_the_global_status() -> None:
    reading = read_sample("innodb_status.vertical.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    rates = {name: value for name, value, _ in picked(reading, "statistic", "name", "value", "unit", kind="rate")}
    assert rates == {
        "global_status.innodb_data_reads": 120.5,
        "global_status.innodb_data_writes": 88.25,
        "global_status.innodb_data_fsyncs": 31.0,
        "global_status.innodb_pages_read": 118.75,
        "global_status.innodb_pages_created": 0.5,
        "global_status.innodb_pages_written": 60.1,
        "global_status.innodb_rows_inserted": 4.1,
        "global_status.innodb_rows_updated": 12.3,
        "global_status.innodb_rows_deleted": 0.05,
        "global_status.innodb_rows_read": 52110.4,
    }, "the whole pool's, not that of its instances"
    assert frame(reading, "statistic").filter(kind="rate")["interval_s"].unique().to_list() == [20.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("global_status.innodb_history_list_length", 61250.0),
        ("global_status.innodb_checkpoint_age", 80_000_000.0),
        ("global_status.innodb_buffer_pool_pages_total", 16382.0),
        ("global_status.innodb_buffer_pool_pages_free", 120.0),
        ("global_status.innodb_buffer_pool_pages_dirty", 4030.0),
        ("global_status.innodb_data_pending_reads", 4.0),
        ("global_status.innodb_data_pending_writes", 2.0),
        ("global_status.innodb_data_pending_fsyncs", 2.0),
        ("global_status.innodb_os_log_pending_fsyncs", 1.0),
        ("global_status.innodb_os_log_pending_writes", 1.0),
        ("global_status.innodb_row_lock_current_waits", 1.0),
        ("innodb_status.buffer_pool_hit_rate", 0.991),
        ("innodb_status.queries_inside", 2.0),
        ("innodb_status.queries_queued", 3.0),
        ("innodb_status.semaphore_waiting", 2.0),
        ("innodb_status.semaphore_longest_wait", 2.0),
    ],
)
def test_readings(name: str, value: float) -> None:
    assert figure(read_sample("innodb_status.vertical.txt", zone="UTC"), name, kind="gauge") == [value]


def test_transactions_that_are_open_are_sessions() -> None:
    reading = read_sample("innodb_status.vertical.txt", zone="UTC")
    columns = ("sid", "user", "client", "state", "wait_kind", "in_state_s", "transaction_s", "interval_s")
    assert picked(reading, "session", *columns) == [
        (512, "shop", "app1", "active", "row lock", 12.0, 12.0, 20.0),
        (498, "report", None, "idle in transaction", "idle", None, 340.0, 20.0),
        (505, "report", "10.1.0.9", "active", None, None, 41.0, 20.0),
    ]
    texts = dict(picked(reading, "statement", "statement_id", "text"))
    (waiting,) = picked(reading, "session", "statement_id", sid=512)
    assert texts[waiting[0]] == "UPDATE stock SET left_over = left_over - ? WHERE item = ?"


def test_the_latest_deadlock_is_an_event_of_its_own_time() -> None:
    reading = read_sample("innodb_status.vertical.txt", zone="UTC")
    at = datetime(2025, 3, 2, 7, 41, 3, tzinfo=UTC)
    assert picked(reading, "event", "ts", "kind", "subject", "text") == [
        (at, "deadlock", "transaction 1", "UPDATE stock SET left_over = ? WHERE item = ?"),
        (at, "deadlock", "transaction 2", "UPDATE stock SET left_over = ? WHERE item = ?"),
    ]
    assert Dataset.from_batches(reading.batches).since == datetime(2025, 3, 4, 10, 15, tzinfo=UTC)


def test_no_value_leaves_it() -> None:
    reading = read_sample("innodb_status.vertical.txt", zone="UTC")
    text = "".join(frame(reading, name).write_csv() for name in ("session", "statement", "statistic", "event"))
    assert not any(secret in text for secret in SECRETS)


def test_the_monitor_twice_with_log_numbers_in_halves() -> None:
    reading = read_sample("innodb_status.monitor.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    ages = figure(reading, "global_status.innodb_checkpoint_age")
    assert ages == [1000.0, float((1 << 32) + 100 - 3_999_999_000)]
    assert figure(reading, "innodb_status.os_waits") == [5.0], "reservations between the two, over 20 s"
    assert picked(reading, "session", "sid", "wait_kind", "transaction_s") == [(8079, "row lock", 4.0)] * 2


def test_in_one_field_as_the_client_writes_it_to_a_pipe() -> None:
    one, other = (read_sample(f"innodb_status.{name}.txt", zone="UTC") for name in ("tabs", "monitor"))
    first = frame(other, "statistic").filter(ts=frame(other, "statistic")["ts"].min())
    assert frame(one, "statistic").equals(first)


def test_a_status_that_is_cut_says_so(tmp_path: Path) -> None:
    text = (SAMPLES / "innodb_status.vertical.txt").read_text()
    reading = read_file(written(tmp_path, text[: text.index("FILE I/O")]), zone="UTC")
    assert CUT in reading.notes
    assert figure(reading, "global_status.innodb_history_list_length") == [61250.0]
    assert figure(reading, "global_status.innodb_data_reads") == []


@pytest.mark.parametrize("heading", ["2025-13-04 10:15:20", "251340 10:15:20"])
def test_a_heading_without_a_date_is_named(tmp_path: Path, heading: str) -> None:
    text = (SAMPLES / "innodb_status.vertical.txt").read_text()
    whole = text.replace("2025-03-04 10:15:20", heading) + text
    reading = read_file(written(tmp_path, whole), zone="UTC")
    assert [(skipped.line, skipped.reason) for skipped in reading.skipped] == [
        (7, "no date at the beginning of a status")
    ]


def test_a_queue_behind_a_row_is_a_finding_and_an_idle_server_is_none() -> None:
    waiting = Dataset.from_batches(read_sample("innodb_status.monitor.txt", zone="UTC").batches)
    assert [one.cause for one in diagnose(waiting).findings] == ["row_locks"]


def test_what_the_monitor_prints_into_an_error_log(tmp_path: Path) -> None:
    log = (SAMPLES / "mysql_error.log").read_text().splitlines(keepends=True)
    monitor = (SAMPLES / "innodb_status.monitor.txt").read_text().replace("070717 ", "261121 ")
    plain, both = (
        read_file(written(tmp_path, text), zone="UTC")
        for text in ("".join(log), "".join(log[:3]) + monitor + "".join(log[3:]))
    )
    assert (both.format, both.skipped_lines) == (mysql_error.NAME, 0)
    assert picked(both, "session", "sid", "db", "wait_kind") == [(8079, "mysql:3306", "row lock")] * 2
    assert figure(both, "global_status.innodb_history_list_length") == [6.0, 6.0]
    assert picked(both, "event", "ts", "kind", "text") == picked(plain, "event", "ts", "kind", "text")
    counted = [
        sum(value * length for value, length in picked(one, "statistic", "value", "interval_s", name="log.messages"))
        for one in (plain, both)
    ]
    assert counted[0] == pytest.approx(counted[1])


@pytest.mark.parametrize("cut", ["\nLOG\n", "END OF INNODB"])
def test_a_monitor_in_a_log_that_is_cut_takes_no_message_with_it(tmp_path: Path, cut: str) -> None:
    log = (SAMPLES / "mysql_error.log").read_text().splitlines(keepends=True)
    monitor = (SAMPLES / "innodb_status.monitor.txt").read_text()
    part = monitor[: monitor.index(cut) + 1]
    reading = read_file(written(tmp_path, "".join(log[:3]) + part + "".join(log[3:])), zone="UTC")
    assert CUT in reading.notes
    assert figure(reading, "global_status.innodb_history_list_length") == [6.0]
    assert len(picked(reading, "event", "kind", kind="connection refused")) == 1


def test_the_end_of_a_monitor_whose_beginning_is_elsewhere(tmp_path: Path) -> None:
    log = (SAMPLES / "mysql_error.log").read_text()
    monitor = (SAMPLES / "innodb_status.monitor.txt").read_text()
    end = monitor[monitor.rindex("ROW OPERATIONS") :]
    reading = read_file(written(tmp_path, log + end + log.replace("11-21", "11-22")), zone="UTC")
    assert figure(reading, "global_status.innodb_rows_read") == []
    assert len(picked(reading, "event", "kind", kind="connection refused")) == 2


@pytest.mark.server
def test_what_a_real_server_prints(tmp_path: Path) -> None:
    with running_mariadb() as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.item (id int PRIMARY KEY)")
        ((_, _, status),) = server.execute("SHOW ENGINE INNODB STATUS")
    reading = read_file(written(tmp_path, str(status)), zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert figure(reading, "global_status.innodb_buffer_pool_pages_total")[0] > 0
    assert figure(reading, "global_status.innodb_history_list_length")[0] >= 0
    assert len(figure(reading, "global_status.innodb_rows_read")) <= 1


def test_a_status_that_was_pasted_has_lost_its_colons_and_slashes() -> None:
    reading = read_sample("innodb_status.pasted.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    assert set(frame(reading, "statistic")["ts"]) == {datetime(2024, 5, 30, 11, 2, 48, tzinfo=UTC)}
    named = {
        "innodb_data_reads": 0.25,
        "innodb_data_fsyncs": 4.3,
        "innodb_data_pending_writes": 3.0,
        "innodb_os_log_pending_fsyncs": 2.0,
        "innodb_checkpoint_age": 1000.0,
        "innodb_pages_read": 0.5,
        "innodb_rows_read": 192.57,
    }
    assert {name: figure(reading, f"global_status.{name}") for name in named} == {k: [v] for k, v in named.items()}
    assert figure(reading, "innodb_status.buffer_pool_hit_rate") == [0.998]


def test_a_deadlock_alone_tells_no_figures() -> None:
    reading = read_sample("innodb_status.deadlock.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    assert picked(reading, "event", "ts", "kind", "subject") == [
        (datetime(2024, 5, 30, 6, 6, 16, tzinfo=UTC), "deadlock", f"transaction {number}") for number in (1, 2)
    ]
    assert not any(secret in text for (text,) in picked(reading, "event", "text") for secret in SECRETS)
    assert {batch.table for batch in reading.batches} == {"event"}


def test_what_a_section_that_is_cut_off_would_tell_is_not_zero(tmp_path: Path) -> None:
    text = (SAMPLES / "innodb_status.vertical.txt").read_text()
    head = text[: text.index("SEMAPHORES")]
    whole = "FILE I/O\n--------\n120.50 reads/s, 16384 avg bytes/read, 88.25 writes/s, 31.00 fsyncs/s\n"
    reading = read_file(written(tmp_path, f"{head}{whole}"), zone="UTC")
    names = {name for (name,) in picked(reading, "statistic", "name")}
    assert "global_status.innodb_data_reads" in names
    assert not [name for name in names if "semaphore" in name or "row_lock" in name]


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_status_in_which_nothing_is_wrong_is_no_clean_bill(tmp_path: Path, outputs: int) -> None:
    text = (SAMPLES / "innodb_status.pasted.txt").read_text()
    texts = [text.replace("110248", f"1102{48 + number}") for number in range(outputs)]
    diagnosis = diagnose(Dataset.from_batches(read_text(tmp_path, "".join(texts)).batches))
    assert (diagnosis.health, diagnosis.findings) == ("not_judged", ())
    assert verdict(diagnosis) == "No verdict: figures that count, without the time that sessions waited"
    assert "SHOW FULL PROCESSLIST" in said(diagnosis.not_measured[-1].grant)
