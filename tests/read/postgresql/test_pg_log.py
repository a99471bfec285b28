"""Server logs of PostgreSQL: figures taken from the text by other means, and all forms against each other."""

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from doctord.report.phrases import said
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample
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


def test_messages_that_findings_go_by_are_known_in_other_languages(tmp_path: Path) -> None:
    begin = "2026-11-20 22:44:51.000 UTC [1] "
    told = [
        "FEHLER:  storniere Autovacuum-Aufgabe",
        "ZUSAMMENHANG:  automatisches Vacuum der Tabelle »shop.public.jobs«",
        "FEHLER:  storniere Autovacuum-Aufgabe",
        "ZUSAMMENHANG:  automatisches Analysieren der Tabelle »shop.public.other«",
        "FEHLER:  Shared Memory aufgebraucht",
        "LOG:  überspringe Vacuum von »jobs« --- Sperre nicht verfügbar",
        "ОШИБКА:  нехватка памяти",
    ]
    file = tmp_path / "postgresql.log"
    file.write_text("".join(f"{begin}{line}\n" for line in told))
    reading = read_file(file)
    assert {entity for (entity,) in picked(reading, "statistic", "entity", name="log.errors")} == {
        "ERROR canceling autovacuum task",
        "ERROR out of shared memory",
        "ERROR out of memory",
    }
    for name, table in (("log.autovacuum_cancelled", "shop.public.jobs"), ("log.autovacuum_skipped", "jobs")):
        assert picked(reading, "statistic", "entity", name=name) == [(table,)]
    assert [text for (text,) in picked(reading, "event", "text")] == ["out of shared memory", "out of memory"]


UNTIMED = (SAMPLES / "pg_log.untimed.log").read_text()


def test_without_times_the_whole_is_counted() -> None:
    reading = read_sample("pg_log.untimed.log")
    found = Dataset.from_batches(reading.batches)
    assert (reading.format, reading.skipped_lines) == ("PostgreSQL server log", 0)
    assert all(found.frame(table)["interval_s"].is_null().all() for table in found.tables)
    statistic = {row["name"]: row for row in found.frame("statistic").to_dicts() if row["entity"] is None}
    assert not any(row["kind"] == "rate" for row in found.frame("statistic").to_dicts())
    assert statistic["in_all.pg_stat_database.deadlocks"]["value"] == 1.0
    assert statistic["in_all.pg_stat_checkpointer.write_time"]["value"] == 3300.0
    assert statistic["in_all.pg_stat_checkpointer.write_time"]["unit"] == "ms"
    assert statistic["log.checkpoint_total"]["value"] == 3.4
    assert figure(reading, "in_all.log.autovacuum_time", entity="shop.public.orders") == [1.1]
    assert found.frame("latency")["count"].sum() == 10
    assert "secret" not in str(found.tables)
    (statement,) = found.frame("statement").to_dicts()
    assert (statement["text"], statement["calls_per_s"]) == ("SELECT * FROM orders WHERE id = ?", None)
    assert figure(reading, "in_all.statement_time", entity=statement["statement_id"]) == [54.5]


def test_what_is_counted_as_a_whole_is_told_without_a_rate() -> None:
    diagnosis = diagnose(Dataset.from_batches(read_sample("pg_log.untimed.log").batches))
    assert diagnosis.health == "not_judged"
    titles = {finding.cause: said(finding.title) for finding in diagnosis.findings}
    assert titles["errors_logged"].startswith("An error in the log of postgresql, 12 times: duplicate key value")
    assert titles["statements_slow"].startswith("Statements take 5.5 s each, 10 times: SELECT * FROM orders")
    (told,) = next(finding.for_ for finding in diagnosis.findings if finding.cause == "errors_logged")
    assert "per" not in said(told.figure)
    assert "2026" not in said(told.why)
    assert "log_line_prefix" in said(diagnosis.not_measured[0].grant)


@pytest.mark.parametrize(
    ("before", "host"),
    [
        ("2026-11-20T22:44:50.123456789Z ", None),  # docker logs -t
        ("db-1  | 2026-11-20T22:44:50.123Z ", None),  # docker compose logs -t
        ("2026-11-20T23:44:50+01:00 app[postgres.123]: [DATABASE] [7-1] ", None),  # Heroku
        ("Nov 20 22:44:50 db1 postgres[77]: ", "db1"),  # journalctl
        ("2026-11-20T23:44:50+0100 db1 postgres[77]: ", "db1"),  # journalctl -o short-iso
    ],
)
def test_a_time_that_others_put_before_each_line(tmp_path: Path, before: str, host: str | None) -> None:
    reading = read_text(tmp_path, "".join(f"{before}{line}\n" for line in UNTIMED.splitlines()), zone="UTC")
    found = Dataset.from_batches(reading.batches)
    in_envelopes = "a log in envelopes (Docker, Kubernetes, the journal)"
    assert reading.format == (in_envelopes if " | " in before else "PostgreSQL server log")
    assert reading.skipped_lines == 0
    assert {row["host"] for row in found.frame("event").to_dicts()} == {host}
    assert {ts.strftime("%m-%d %H:%M:%S") for ts in found.frame("event")["ts"]} == {"11-20 22:44:50"}
    assert total(reading, "log.errors") == pytest.approx(13)
    assert total(reading, "log.autovacuum_rows_removed") == pytest.approx(50)
    assert summed(reading, "statement", "elapsed_s_per_s") == pytest.approx(54.5)
    assert "secret" not in str(found.tables)


def test_what_a_client_prints_of_errors_is_no_log(tmp_path: Path) -> None:
    text = 'psql:a.sql:3: ERROR:  relation "t" does not exist\npsql:a.sql:4: NOTICE:  table "t" does not exist\n' * 3
    with pytest.raises(UserError, match="no format"):
        read_text(tmp_path, text)


def test_cloudnativepg_wraps_each_message() -> None:
    reading = read_sample("pg_log.cloudnativepg.json")
    assert total(reading, "log.errors") == pytest.approx(2)
    (statement,) = {(row["text"], row["database"]) for row in frame(reading, "statement").to_dicts()}
    assert statement == ("SELECT ?", "shop")
