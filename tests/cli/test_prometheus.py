"""`doctord diagnose` and `read` of a Prometheus: a recorded one, and a real one with real exporters."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pymysql
import pytest

from doctord.dataset.dataset import Dataset
from doctord.lake.query import Lake
from doctord.read.prometheus.client import Client
from exporters import (
    MYSQLD,
    NODE,
    POSTGRES,
    PROMETHEUS,
    missing,
    mysqld_exporter,
    node_exporter,
    postgres_exporter,
    prometheus,
)
from in_process import doctord
from mariadb_server import MariaDBServer, running_mariadb
from prometheus_replay import Replay, recorded, replay
from servers import running_postgres

PATIENCE_S = 120
QUEUE = "idle_in_transaction.json"


@pytest.fixture(scope="module")
def queue() -> Iterator[Replay]:
    """What a real Prometheus told of the lab's idle_in_transaction (benchmarks/prometheus_faults.py)."""
    with replay(recorded(QUEUE)) as server:
        yield server


def span(name: str) -> tuple[str, str]:
    moments = [at for one in recorded(name) for at, _ in one["values"]]
    begin, end = (datetime.fromtimestamp(moment, UTC) for moment in (min(moments), max(moments) + 1))
    return f"--from={begin:%FT%TZ}", f"--to={end:%FT%TZ}"


def test_a_recorded_hour_names_its_cause_and_what_it_could_not_see(queue: Replay) -> None:
    told = doctord("diagnose", "--prometheus", queue.address, *span(QUEUE), "--past=0s", "--json")
    diagnosis = json.loads(told.stdout)
    assert told.returncode == 1
    first = diagnosis["findings"][0]
    assert first["cause"] == "row_locks"
    assert any("pg_blocking_pids" in one["what"] for one in first["not_measured"])
    assert any("which processes use" in one["what"] for one in diagnosis["not_measured"])


def test_it_reads_well_at_80_columns(queue: Replay) -> None:
    told = doctord("diagnose", "--prometheus", queue.address, *span(QUEUE), "--past=0s")
    assert "is spent waiting for row locks" in told.stdout.splitlines()[0]
    assert max(map(len, told.stdout.splitlines())) <= 80
    assert told.stderr == ""


def test_what_is_read_goes_into_a_lake_once(queue: Replay, tmp_path: Path) -> None:
    words = ("read", "--prometheus", queue.address, *span(QUEUE), "--lake", tmp_path / "lake", "--json")
    first, again = (json.loads(doctord(*words).stdout) for _ in range(2))
    (file,) = first["files"]
    assert (file["file"], file["hosts"]) == (queue.address, ["vm"])
    assert first["kept"] == file["rows"]
    assert sum(again["kept"].values()) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("diagnose", "--prometheus", "http://127.0.0.1:1", "--lake", "x"), "either files, or a lake, or a Prometheus"),
        (("diagnose", "--prometheus", "http://127.0.0.1:1"), "does not answer"),
        (("diagnose", "--prometheus", "http://127.0.0.1:1", "--to=-1h", "--from=-30min"), "is not before"),
        (("read", "x", "--prometheus", "http://127.0.0.1:1"), "either files or a Prometheus"),
        (("read", "x", "--from=-1h"), "are of a Prometheus"),
        (("read", "--prometheus", "http://127.0.0.1:1"), "does not answer"),
    ],
)
def test_what_cannot_be_asked(words: tuple[str, ...], why: str) -> None:
    told = doctord(*words)
    assert told.returncode == 2
    assert why in told.stderr
    assert "hint: " in told.stderr


# Real servers.


def told_of(address: str, since: datetime, until: datetime, folder: Path) -> Dataset:
    """What there is once it was scraped often enough."""
    words = ("read", "--prometheus", address, f"--from={since.isoformat()}", f"--to={until.isoformat()}")
    told = doctord(*words, "--lake", folder / "lake")
    assert told.returncode == 0, told.stderr
    lake = Lake(folder / "lake")
    span = lake.span()
    assert span is not None
    return lake.dataset(span[0] - timedelta(seconds=10), span[1])


def now_of(address: str) -> datetime:
    """Its own clock, which under another date is not ours: it takes the time without the C library."""
    _, seconds = Client(address).ask("query", query="time()")["result"]
    return datetime.fromtimestamp(float(seconds), UTC)


def scraped(address: str, selector: str, times: int) -> None:
    """Wait until a series was scraped so often."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        result = Client(address).ask("query", query=f"{selector}[10m]")["result"]
        if result and all(len(one["values"]) >= times for one in result):
            return
        time.sleep(0.2)
    raise RuntimeError(f"{selector} was not scraped {times} times")


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.skipif(missing(PROMETHEUS, NODE, POSTGRES) is not None, reason=str(missing(PROMETHEUS, NODE, POSTGRES)))
def test_a_real_prometheus_with_a_lock_queue(open_folder: Path) -> None:
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres())
        dsn = f"user=postgres host=127.0.0.1 port={postgres.port} dbname=postgres sslmode=disable"
        postgres.execute("create table t as select 1 as a")
        jobs = {
            "node": stack.enter_context(node_exporter(open_folder)),
            "postgres": stack.enter_context(postgres_exporter(open_folder, dsn, with_waits=True)),
        }
        address = stack.enter_context(prometheus(open_folder / "prometheus", jobs))
        began = now_of(address) - timedelta(seconds=30)
        holder = stack.enter_context(postgres.connect())
        holder.execute("begin; lock table t")
        waiting = [Thread(target=postgres.execute, args=("select * from t",)) for _ in range(3)]
        for one in waiting:
            one.start()
        stack.callback(lambda: [one.join() for one in waiting])
        stack.callback(holder.close)
        scraped(address, 'pg_stat_activity_count{wait_event_type="Lock"}', 4)
        dataset = told_of(address, began, now_of(address), open_folder)
    sessions = dataset.frame("session").filter(event="relation")
    assert set(sessions["db"]) == {f"postgresql:{postgres.port}"}
    assert sessions.group_by("ts").len()["len"].max() == 3
    assert dataset.frame("cpu")["idle_pct"].drop_nulls().len() > 0
    assert len(dataset.hosts) == 1
    settings = dict(dataset.frame("setting").select("name", "value").rows())
    assert settings["autovacuum"] in {"on", "off"}


def _sleep(server: MariaDBServer) -> None:
    with suppress(pymysql.Error):  # it is ended
        server.execute(f"SELECT SLEEP({PATIENCE_S})")


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.skipif(missing(PROMETHEUS, MYSQLD) is not None, reason=str(missing(PROMETHEUS, MYSQLD)))
def test_a_real_prometheus_of_mariadb(open_folder: Path) -> None:
    with running_mariadb() as mariadb, ExitStack() as stack:
        dsn = f"doctord:open sesame@(127.0.0.1:{mariadb.port})/"
        jobs = {"mysql": stack.enter_context(mysqld_exporter(open_folder, dsn))}
        address = stack.enter_context(prometheus(open_folder / "prometheus", jobs))
        began = now_of(address) - timedelta(seconds=30)
        mariadb.execute("GRANT PROCESS ON *.* TO doctord@'127.0.0.1'")
        asleep = Thread(target=_sleep, args=(mariadb,))
        asleep.start()
        stack.callback(asleep.join)
        scraped(address, 'mysql_info_schema_processlist_threads{state="user_sleep"}', 3)
        (number,) = mariadb.execute("SELECT id FROM information_schema.processlist WHERE state = 'User sleep'")[0]
        mariadb.execute(f"KILL QUERY {number}")
        dataset = told_of(address, began, now_of(address), open_folder)
    names = set(dataset.frame("statistic")["name"])
    assert {"global_status.handler_commit", "global_status.threads_running", "global_status.questions"} <= names
    assert "User sleep" in set(dataset.frame("session")["event"])
    assert set(dataset.frame("statistic")["db"]) == {f"mysql:{mariadb.port}"}
