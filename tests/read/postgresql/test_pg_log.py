"""Server logs of PostgreSQL: figures taken from the text by other means, and all forms against each other."""

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file
from latency_files import read_text
from reading import figure, frame, picked, read_sample
from shared import CORPUS, sample


def total(reading: Reading, name: str) -> float:
    """Increase over the whole log of a figure that is kept as a rate."""
    figures = Dataset.from_batches(reading.batches).frame("statistic").filter(pl.col("name") == name)
    return float((figures["value"] * figures["interval_s"]).sum())


def summed(reading: Reading, table: str, column: str) -> float:
    rows = Dataset.from_batches(reading.batches).frame(table)
    return float((rows[column] * rows["interval_s"]).sum())


def test_the_corpus_against_its_text() -> None:
    path = sample(CORPUS / "testbed/pg_log_3MB.txt")
    lines = path.read_text().splitlines()[:-1]  # the last is cut off
    durations = [float(found[1]) for line in lines if (found := re.search(r"duration: ([\d.]+) ms  statement", line))]
    reading = read_file(path)
    assert reading.skipped_lines == 0
    assert total(reading, "log.messages") == pytest.approx(len(lines))
    assert summed(reading, "statement", "calls_per_s") == pytest.approx(len(durations))
    assert summed(reading, "statement", "elapsed_s_per_s") == pytest.approx(sum(durations) / 1000)
    latency = Dataset.from_batches(reading.batches).frame("latency")
    assert latency["count"].sum() == len(durations)
    assert latency["waited_us"].sum() == pytest.approx(sum(durations) * 1000)
    said = Counter(found[1] for line in lines if (found := re.search(r"LOG:  (connection \w+|disconnection):", line)))
    assert total(reading, "log.connections_received") == pytest.approx(said["connection received"])
    assert total(reading, "pg_stat_database.sessions") == pytest.approx(said["connection authorized"])
    assert total(reading, "log.disconnections") == pytest.approx(said["disconnection"])


def test_statements_of_the_corpus_are_those_of_pgbench() -> None:
    path = sample(CORPUS / "testbed/pg_log_3MB.txt")
    reading = read_file(path)
    rows = Dataset.from_batches(reading.batches).frame("statement")
    calls = {row["text"]: round(row["calls_per_s"] * row["interval_s"]) for row in rows.iter_rows(named=True)}
    raw = path.read_text()
    assert calls["SELECT abalance FROM pgbench_accounts WHERE aid = ?;"] == raw.count("statement: SELECT abalance")
    assert calls["END;"] == raw.count("statement: END;")
    assert set(rows["database"]) == {"postgres"}


WAITS = """\
2026-11-21 09:30:01.000 CET [1] LOG:  process 1 acquired ExclusiveLock on tuple (0,1) of relation 16384 after 2500.5 ms
2026-11-21 09:30:02.000 CET [2] LOG:  process 2 acquired ShareLock on virtual transaction 3/4 after 1000 ms
2026-11-21 09:31:02.000 CET [2] LOG:  process 2 acquired AccessShareLock on relation 16384 of database 5 after 1000 ms
cp: cannot stat '/archive/000000010000000000000007': No such file or directory
2026-11-21 09:31:03.000 CET [3] LOG:  archive command failed with exit code 1
2026-11-21 09:31:03.000 CET [3] DETAIL:  The failed archive command was: cp secret
2026-11-21 09:31:04.000 CET [3] LOG:  parameter "primary_conninfo" changed to "host=a password=secret"
2026-11-21 09:31:05.000 CET [3] LOG:  autom"""


def test_lock_waits_without_durations_are_no_part_of_a_whole(tmp_path: Path) -> None:
    reading = read_text(tmp_path, WAITS, zone="Europe/Paris")
    dataset = Dataset.from_batches(reading.batches)
    assert "wait" not in dataset.tables or dataset.frame("wait").is_empty()
    rows = dataset.frame("statistic").filter(pl.col("name") == "log.lock_wait_time").sort("ts", "entity")
    waited = rows.select("ts", "entity", pl.col("value") * pl.col("interval_s")).rows()
    first, last = (datetime(2026, 11, 21, 8, 31, second, tzinfo=UTC) for second in (0, 4))
    assert waited == [
        (first, "tuple", pytest.approx(2.5005)),
        (first, "virtualxid", pytest.approx(1)),
        (last, "relation", pytest.approx(1)),
    ]
    assert rows["interval_s"].to_list() == [59.0, 59.0, 4.0]  # as far as the log goes
    assert total(reading, "pg_stat_archiver.failed_count") == pytest.approx(1)


def test_lines_of_others_are_skipped_and_a_cut_line_is_noted(tmp_path: Path) -> None:
    reading = read_text(tmp_path, WAITS, zone="Europe/Paris")
    assert [(skipped.line, skipped.reason.partition(":")[0]) for skipped in reading.skipped] == [
        (4, "no line of the server's")
    ]
    assert [note for note in reading.notes if "ends within a line" in note]


def test_secrets_of_settings_and_commands_stay(tmp_path: Path) -> None:
    dataset = Dataset.from_batches(read_text(tmp_path, WAITS, zone="Europe/Paris").batches)
    assert dataset.frame("setting").select("name", "value").rows() == [("primary_conninfo", "(set, not shown)")]
    assert "secret" not in "".join(dataset.frame(name).write_csv() for name in dataset.tables)


def test_old_and_new_words_of_checkpoints_and_vacuum(tmp_path: Path) -> None:
    text = """\
2026-11-21 09:30:00.500 UTC [1] LOG:  checkpoint starting: xlog
2026-11-21 09:30:01.000 UTC [1] LOG:  checkpoint complete: wrote 10 buffers (0.1%); 1 transaction log file(s) added, \
2 removed, 3 recycled; write=1.500 s, sync=0.250 s, total=2.000 s; sync files=4, longest=0.125 s, average=0.062 s
2026-11-21 09:30:02.000 UTC [1] LOG:  checkpoint complete: wrote 20 buffers (0.1%), wrote 3 SLRU buffers; 0 WAL \
file(s) added, 0 removed, 1 recycled; write=0.5 s, sync=0.05 s, total=0.6 s; sync files=1, longest=0.05 s, \
average=0.05 s; distance=16384 kB, estimate=20000 kB; lsn=0/1, redo lsn=0/1
2026-11-21 09:30:03.000 UTC [2] LOG:  automatic aggressive vacuum to prevent wraparound of table "a.b.c": index scans: 2
\tpages: 1 removed, 52 remain, 0 skipped due to pins
\ttuples: 20 removed, 1000 remain, 7 are dead but not yet removable, oldest xmin: 5
\tbuffer usage: 236 hits, 2 reads, 63 dirtied
\tsystem usage: CPU 0.25s/0.50u sec elapsed 3.00 sec
"""
    reading = read_text(tmp_path, text)
    expected = {
        "pg_stat_checkpointer.num_requested": 1,
        "log.checkpoints_complete": 2,
        "pg_stat_checkpointer.buffers_written": 30,
        "pg_stat_checkpointer.write_time": 2000,
        "pg_stat_checkpointer.sync_time": 300,
        "log.wal_files_added": 1,
        "log.wal_files_removed": 2,
        "log.wal_files_recycled": 4,
        "log.autovacuum_to_prevent_wraparound": 1,
        "log.autovacuum_index_scans": 2,
        "log.autovacuum_rows_removed": 20,
        "log.autovacuum_buffers_read": 2,
        "log.autovacuum_cpu_time": 0.75,
        "log.autovacuum_time": 3,
    }
    assert {name: total(reading, name) for name in expected} == pytest.approx(expected)
    gauges = Dataset.from_batches(reading.batches).frame("statistic").filter(pl.col("kind") == "gauge")
    values = dict(gauges.filter(pl.col("ts").dt.second() > 1).select("name", "value").rows())
    assert values["log.checkpoint_distance"] == 16384 * 1024
    assert values["log.autovacuum_rows_dead_not_removable"] == 7


@pytest.mark.parametrize(
    ("name", "severities", "durations", "without"),
    [
        ("pg_log.german.log", {"LOG", "WARNING", "ERROR", "FATAL"}, 2, 0),
        ("pg_log.spanish.log", {"LOG", "ERROR"}, 1, 1),
    ],
)
def test_other_languages_tell_severities_statements_and_durations(
    name: str, severities: set[str], durations: int, without: int
) -> None:
    reading = read_sample(name, zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("PostgreSQL server log", 0)
    assert {entity for (entity,) in picked(reading, "statistic", "entity", name="log.messages")} == severities
    assert frame(reading, "latency")["count"].sum() == durations
    assert len(figure(reading, "log.statements_without_duration")) == without
    texts = {text for (text,) in picked(reading, "statement", "text")}
    assert "SELECT * FROM orders WHERE customer = ?" in texts


@pytest.mark.parametrize("name", ["pg_log.german.log", "pg_log.spanish.log"])
def test_what_stands_in_the_quotes_of_other_languages_stays(name: str) -> None:
    reading = read_sample(name)
    told = "\n".join(str(frame(reading, table).rows()) for table in ("statistic", "statement", "event"))
    assert not any(secret in told for secret in ("nut", "bolt", "nosuch", "«", "»"))


@pytest.mark.parametrize("part", ["ANFRAGE", "問い合わせ", "TIPP"])
def test_a_part_in_words_that_are_not_known_goes_on_in_no_other(tmp_path: Path, part: str) -> None:
    begin = "2026-11-20 22:44:51.000 UTC [1] "
    file = tmp_path / "postgresql.log"
    file.write_text(f"{begin}FEHLER:  Division durch Null\n{begin}{part}:  SELECT 1\n\tFROM nut WHERE bolt\n")
    assert [entity for (entity,) in picked(read_file(file), "statistic", "entity", name="log.errors")] == [
        "ERROR Division durch Null"
    ]
