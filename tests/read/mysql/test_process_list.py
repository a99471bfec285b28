"""Process lists of MySQL and MariaDB, whoever prints them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.read.mysql.process_list import NAME
from doctord.report.phrases import said
from latency_files import read_text
from mariadb_server import running_mariadb
from reading import SAMPLES, frame, picked, read_sample

COLUMNS = ("sid", "client", "event", "wait_kind", "statement_s")


def written(folder: Path, text: str) -> Path:
    (folder / "file").write_text(text)
    return folder / "file"


def test_a_box_with_its_moments() -> None:
    reading = read_sample("process_list.box.txt")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    first, second = datetime(2025, 3, 4, 10, 15, 20, tzinfo=UTC), datetime(2025, 3, 4, 10, 15, 30, tzinfo=UTC)
    assert picked(reading, "session", *COLUMNS, ts=first) == [
        (402, "10.1.0.7", "Waiting for table metadata lock", "table lock", 12.0),
        (403, "10.1.0.7", "Waiting for table metadata lock", "table lock", 9.0),
        (404, None, "running: Sending data", None, 31.0),
        (405, "10.1.0.8", "Sending to client", "network to client", 0.0),
        (406, "10.1.0.8", "running: executing", None, 0.0),
    ], "no sleeper, daemon or replica, and not who looks"
    assert picked(reading, "session", "sid", "interval_s", ts=second) == [(402, 10.0)]
    threads = dict(picked(reading, "statistic", "entity", "value", name="processlist.threads", ts=first))
    assert threads == {"Daemon": 1.0, "Binlog Dump": 1.0, "Sleep": 1.0, "Query": 6.0}


def test_statements_over_several_lines_and_with_bars_in_them() -> None:
    texts = [text for (text,) in picked(read_sample("process_list.box.txt"), "statement", "text")]
    assert "SELECT left_over FROM stock WHERE item = ? OR item = ?" in texts
    assert "SELECT a | b FROM flags WHERE c = ?" in texts
    assert not any(secret in text for text in texts for secret in ("bolt", "nut", "x|y"))


def test_line_by_line_with_the_stamps_of_pt_stalk() -> None:
    reading = read_sample("process_list.vertical.txt")
    assert (reading.format, reading.skipped_lines, reading.notes) == (NAME, 0, [])
    assert picked(reading, "session", *COLUMNS) == [
        (8, "web1", "Locked", "table lock", 4.0),
        (9, "web1", "running: preparing", None, 17.0),
    ], "no plan takes 17 s to be made"
    (update,) = picked(reading, "statement", "text", statement_id=frame(reading, "session")["statement_id"][0])
    assert update == ("update stock set left_over = ? where item = ? and note = ?",)


def test_by_tabs_without_a_moment() -> None:
    reading = read_sample("process_list.tabs.txt")
    assert picked(reading, "session", *COLUMNS, "database") == [
        (31, "10.1.0.7", "Waiting for row lock", "row lock", 3.0, "shop")
    ]
    assert len(reading.notes) == 2
    assert any("taken to stand for 1 s" in note for note in reading.notes)


def test_a_select_from_information_schema(tmp_path: Path) -> None:
    text = "ID\tUSER\tHOST\tDB\tCOMMAND\tTIME\tSTATE\tINFO\tTIME_MS\n"
    text += "7\tshop\tweb1:1\tshop\tQuery\t2\tWaiting for table flush\tSELECT 1\t2100\n"
    text += "8\troot\tlocalhost\tNULL\tQuery\t0\texecuting\tselect * from information_schema.PROCESSLIST\t1\n"
    text += "what is this\n"
    reading = read_file(written(tmp_path, text))
    assert picked(reading, "session", "sid", "wait_kind") == [(7, "table lock")]
    assert [(one.line, one.reason) for one in reading.skipped] == [(4, "not a line of a process list")]


@pytest.mark.parametrize("name", ["box", "vertical"])
def test_sessions_behind_a_table_are_a_finding(name: str) -> None:
    dataset = Dataset.from_batches(read_sample(f"process_list.{name}.txt").batches)
    assert [one.cause for one in diagnose(dataset).findings] == ["table_locks"]


def test_sessions_that_only_run_are_none(tmp_path: Path) -> None:
    lines = (SAMPLES / "process_list.box.txt").read_text().replace("Waiting for table metadata lock", "Sending data")
    dataset = Dataset.from_batches(read_file(written(tmp_path, lines)).batches)
    assert diagnose(dataset).findings == ()


@pytest.mark.server
def test_what_a_real_server_prints(tmp_path: Path) -> None:
    with running_mariadb() as server:
        rows = server.execute("SHOW FULL PROCESSLIST")
    names = "Id\tUser\tHost\tdb\tCommand\tTime\tState\tInfo\tProgress\n"
    text = names + "".join("\t".join("NULL" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
    reading = read_file(written(tmp_path, text))
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert frame(reading, "session").is_empty(), "who looks is left out"


HEADING = "Id\tUser\tHost\tdb\tCommand\tTime\tState\tInfo\n5\tapp\t10.0.0.1:3000\tshop\tSleep\t3\t\tNULL\n"
AT_WORK = "6\tapp\t10.0.0.1:3001\tshop\tQuery\t0\texecuting\tSELECT 1\n"


@pytest.mark.parametrize(
    ("lists", "health", "why"),
    [
        ([HEADING], "not_judged", "figures that count, without the time that sessions waited"),
        ([HEADING + AT_WORK], "not_judged", "sessions were looked at 1 time, which tells nothing that lasts"),
        ([HEADING + AT_WORK, HEADING] * 4, "not_judged", "sessions were looked at 8 times"),
        ([HEADING + AT_WORK, HEADING] * 5, "healthy", None),
    ],
)
def test_a_few_lists_are_no_clean_bill(tmp_path: Path, lists: list[str], health: str, why: str | None) -> None:
    diagnosis = diagnose(Dataset.from_batches(read_text(tmp_path, "".join(lists)).batches))
    assert (diagnosis.health, diagnosis.findings) == (health, ())
    told = [f"{said(one.why)} {said(one.grant)}" for one in diagnosis.not_measured]
    assert [why in text and "SHOW FULL PROCESSLIST" in text for text in told if why] == ([True] if why else [])
