"""Logs that a real server wrote, in all its forms at once."""

import re
import time
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file
from postgres_workload import SECRET, everything, log, logging_server
from syslog_socket import syslog_file

pytestmark = pytest.mark.server
FORMS = ("log", "csv", "json")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The logs of one run by their endings, as the server left them when it stopped."""
    folder = tmp_path_factory.mktemp("logs")
    with logging_server(15, "stderr,csvlog,jsonlog", "%m [%p] %e %q%u@%d ") as server:
        everything(server)
        server.stop()
        for ending in FORMS:
            until = time.monotonic() + 10
            while b"is shut down" not in log(server, ending).read_bytes() and time.monotonic() < until:
                time.sleep(0.05)  # the process that writes the log outlives the server
            (folder / ending).write_bytes(log(server, ending).read_bytes())
    return {ending: folder / ending for ending in FORMS}


@pytest.fixture(scope="module")
def text(logs: dict[str, Path]) -> str:
    return logs["log"].read_text()


@pytest.fixture(scope="module")
def dataset(logs: dict[str, Path]) -> Dataset:
    return Dataset.from_batches(read_file(logs["log"]).batches)


def total(dataset: Dataset, name: str, entity: str | None = None) -> float:
    figures = dataset.frame("statistic").filter((pl.col("name") == name) & (pl.col("kind") == "rate"))
    if entity is not None:
        figures = figures.filter(pl.col("entity") == entity)
    return float((figures["value"] * figures["interval_s"]).sum())


def events(dataset: Dataset, kind: str) -> list[tuple[str, str]]:
    return dataset.frame("event").filter(pl.col("kind") == kind).select("subject", "text").rows()


def test_all_forms_give_the_same(logs: dict[str, Path]) -> None:
    readings = [read_file(path) for path in logs.values()]
    assert [reading.skipped_lines for reading in readings] == [0, 0, 0]
    datasets = [Dataset.from_batches(reading.batches) for reading in readings]
    for name in datasets[0].tables:
        # Lines of several sessions may come in another order in each file.
        frames = [dataset.frame(name).sort(pl.all()) for dataset in datasets]
        if name == "statistic":  # who met a message the text tells as far as its prefix does
            frames = [frame.filter(pl.col("name") != "log.errors_from") for frame in frames]
        assert frames[0].height > 0
        assert frames[1].equals(frames[0]), f"{name} of the csvlog"
        assert frames[2].equals(frames[0]), f"{name} of the jsonlog"


def test_no_value_leaves_the_log(logs: dict[str, Path]) -> None:
    for path in logs.values():
        assert SECRET in path.read_text()
        read = Dataset.from_batches(read_file(path).batches)
        for name in read.tables:
            assert SECRET not in read.frame(name).write_csv(), name


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("log.connections_received", r"LOG:  connection received"),
        ("pg_stat_database.sessions", r"LOG:  connection authorized"),
        ("log.disconnections", r"LOG:  disconnection"),
        ("log.connections_refused", r"FATAL:  sorry, too many clients"),
        ("pg_stat_database.temp_files", r"LOG:  temporary file"),
        ("pg_stat_database.deadlocks", r"ERROR:  deadlock detected"),
        ("log.lock_waits", r"still waiting for"),
        ("log.errors", r"(?:ERROR|FATAL):  "),
        ("log.parses", r"duration: \S+ ms  parse"),
        ("log.binds", r"duration: \S+ ms  bind"),
        ("log.checkpoints_complete", r"checkpoint complete"),
        ("pg_stat_checkpointer.num_requested", r"checkpoint starting: immediate"),
        ("log.checkpoints_at_start_or_stop", r"checkpoint starting: shutdown"),
        # Templates are vacuumed with freeze ages of 0, where the launcher comes to them in time: aggressive.
        ("pg_stat_user_tables.autovacuum_count", r"automatic (?:aggressive )?vacuum of"),
        ("pg_stat_user_tables.autoanalyze_count", r"automatic analyze of"),
    ],
)
def test_counts_are_those_of_the_text(dataset: Dataset, text: str, name: str, pattern: str) -> None:
    found = len(re.findall(pattern, text))
    assert found > 0
    assert total(dataset, name) == pytest.approx(found)


def test_sums_are_those_of_the_text(dataset: Dataset, text: str) -> None:
    temp = sum(map(int, re.findall(r", size (\d+)", text)))
    assert total(dataset, "pg_stat_database.temp_bytes") == pytest.approx(temp)
    written = sum(map(int, re.findall(r"complete: wrote (\d+) buffers", text)))
    assert total(dataset, "pg_stat_checkpointer.buffers_written") == pytest.approx(written)
    removed = sum(map(int, re.findall(r"tuples: (\d+) removed", text)))
    assert total(dataset, "log.autovacuum_rows_removed") == pytest.approx(removed)
    wal = sum(map(int, re.findall(r"images, (\d+) bytes", text)))
    assert total(dataset, "log.autovacuum_wal_bytes") == pytest.approx(wal)
    hits = sum(map(int, re.findall(r"usage: (\d+) hits", text)))
    assert total(dataset, "log.autovacuum_buffers_hit") == pytest.approx(hits)


def test_statements_and_their_temporary_files(dataset: Dataset, text: str) -> None:
    rows = dataset.frame("statement").with_columns(
        calls=pl.col("calls_per_s") * pl.col("interval_s"), temp=pl.col("temp_bytes_per_s") * pl.col("interval_s")
    )
    executed = len(re.findall(r"duration: \S+ ms  (?:statement|execute)", text))
    assert rows["calls"].sum() == pytest.approx(executed)
    assert set(rows["database"]) == {"postgres"}
    assert 'SELECT ? AS "a b" , ?' in set(rows["text"])
    sort = rows.filter(pl.col("text").str.starts_with("SELECT count(*) FROM (SELECT * FROM item"))
    size = int(re.findall(r"size (\d+)\n[^\n]*STATEMENT:  SELECT count", text)[0])
    assert sort["temp"].sum() == pytest.approx(size)
    prepared = rows.filter(pl.col("text") == "SELECT name FROM item WHERE id = $1 AND name <> $2")
    assert prepared["calls"].sum() == pytest.approx(3)


def test_who_waited_for_whom(dataset: Dataset, text: str) -> None:
    waiter, ms, holder = re.findall(
        r"process (\d+) still waiting .* after (\d+)\.\d+ ms\n.*holding the lock: (\d+)", text
    )[0]
    subject, said = events(dataset, "lock wait")[0]
    assert subject == f"process {waiter}"
    assert f"after {ms} ms, held by process {holder}: UPDATE item SET name = ? WHERE id = ?" in said
    rows = dataset.frame("wait").filter(pl.col("event") == "transactionid")
    waits, waited = ((rows[column] * rows["interval_s"]).sum() for column in ("waits_per_s", "average_active_sessions"))
    acquired = [float(after) for after in re.findall(r"acquired ShareLock on transaction \d+ after ([\d.]+) ms", text)]
    assert waits == pytest.approx(len(acquired))
    assert waited == pytest.approx(sum(acquired) / 1000)
    executed = [float(ms) for ms in re.findall(r"duration: ([\d.]+) ms  (?:statement|execute)", text)]
    every = dataset.frame("wait")
    assert (every["average_active_sessions"] * every["interval_s"]).sum() == pytest.approx(sum(executed) / 1000)


def test_a_deadlock_is_told_with_its_statements(dataset: Dataset) -> None:
    ((subject, said),) = events(dataset, "deadlock")
    assert subject == "postgres"
    assert re.fullmatch(
        r"(?:Process \d+ waits for ShareLock on transaction \d+; blocked by process \d+\. ?){2}"
        r"(?:Process \d+: UPDATE item SET name = \? WHERE id = \? ?){2}",
        said,
    )


def test_the_life_of_the_server(dataset: Dataset) -> None:
    (server,) = set(dataset.frame("event")["db"])
    assert server.startswith("postgresql:")
    lived = [said for _, said in events(dataset, "restart")]
    assert lived[0].startswith("starting PostgreSQL 15")
    assert lived[-1] == "database system is shut down"
    assert events(dataset, "settings change")[-1] == ("work_mem", "changed to 128kB")
    assert set(events(dataset, "connection refused")) == {(server, "sorry, too many clients already")}
    assert set(dataset.frame("statistic")["db"]) == {server}
    assert dataset.frame("setting").select("name", "value").rows() == [("work_mem", "128kB")]


def test_errors_have_their_state_and_no_values(dataset: Dataset) -> None:
    errors = set(dataset.frame("statistic").filter(pl.col("name") == "log.errors")["entity"])
    assert {error for error in errors if "57P01" not in error} == {  # autovacuum may be at work when the server stops
        'ERROR 22P02 invalid input syntax for type integer: "?"',
        'ERROR 42703 column "?" does not exist',
        'ERROR 23505 duplicate key value violates unique constraint "item_pkey"',
        "ERROR P0001 (raised by a function)",
        'ERROR 42601 syntax error at or near "?"',
        "ERROR 40P01 deadlock detected",
        "FATAL 53300 sorry, too many clients already",
    }


def test_one_thread_gives_the_same(logs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long log, in which chunks and threads cut wherever they fall."""
    long = tmp_path / "long"
    long.write_bytes(logs["log"].read_bytes() * 300)
    both = [_read_with(long, threads, monkeypatch) for threads in (1, 2, 5)]
    for name in both[0].tables:
        assert both[1].frame(name).equals(both[0].frame(name))
        assert both[2].frame(name).equals(both[0].frame(name))


def _read_with(path: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr("doctord.read.server_log.THREADS", threads)
    reading: Reading = read_file(path)
    assert reading.skipped_lines == 0
    return Dataset.from_batches(reading.batches)


@pytest.mark.root
@pytest.mark.parametrize("prefix", ["%m [%p] %e %q%u@%d ", ""])
def test_syslog_gives_the_same(tmp_path: Path, prefix: str) -> None:
    """With a prefix the times are the server's own; without, syslog's, to the second and in its own zone."""
    with syslog_file(tmp_path / "syslog"), logging_server(15, "csvlog,syslog", prefix) as server:
        everything(server)
        server.stop()
        (tmp_path / "csv").write_bytes(log(server, "csv").read_bytes())
    readings = [read_file(tmp_path / name, zone="UTC") for name in ("csv", "syslog")]
    assert [reading.skipped_lines for reading in readings] == [0, 0]
    csv, syslog = (Dataset.from_batches(reading.batches) for reading in readings)
    assert set(syslog.frame("statistic")["host"]) == {"db1"}
    for name in ("log.connections_received", "log.errors", "pg_stat_database.temp_bytes", "pg_stat_database.deadlocks"):
        assert total(syslog, name) == pytest.approx(total(csv, name))
    if prefix:  # the csvlog begins a moment later
        assert calls(syslog) == pytest.approx(calls(csv))
        assert set(csv.frame("event").drop("host").rows()) <= set(syslog.frame("event").drop("host").rows())


def calls(dataset: Dataset) -> dict[str, float]:
    rows = dataset.frame("statement").with_columns(calls=pl.col("calls_per_s") * pl.col("interval_s"))
    return dict(rows.select("statement_id", "calls").rows())
