"""PgBouncer's pools, of a real pooler before a real server; and finding it."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from doctord.collect import pgbouncer
from doctord.collect.core import poolers
from doctord.collect.core.notices import Notices
from doctord.collect.core.place import Place
from doctord.collect.host import Host
from doctord.collect.pgbouncer.driver import PgBouncerDriver
from doctord.collect.pgbouncer.pools import Pools
from doctord.collect.pgbouncer.unasked import Unasked
from doctord.collect.postgres import discover
from doctord.errors import UserError
from doctord.lab.pooler import Mode, Pooler, pooler
from postgres_samples import rows_of
from servers import PostgresServer, running_postgres


@dataclass
class Behind:
    """What the lab's pooler needs of the server behind it."""

    folder: Path
    port: int
    beside: list[str]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if not shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin"):
        pytest.skip("pgbouncer is not installed")
    with running_postgres(15) as started:
        started.execute("CREATE DATABASE pgbench")
        yield started


@contextmanager
def before(server: PostgresServer, size: int, mode: Mode = "transaction") -> Iterator[Pooler]:
    with pooler(Behind(server.socket_dir, server.port, []), size, mode) as one:  # type: ignore[arg-type]
        yield one
    shutil.rmtree(one.folder)


def sampled(collector: Pools, samples: int = 2) -> dict[str, list[dict[str, Any]]]:
    batches = []
    for number in range(samples):
        time.sleep(0.3 if number else 0.0)
        batches += collector.sample()
    return {table: rows_of(table, batches) for table in ("setting", "statistic", "event")}


@pytest.mark.server
def test_who_waits_and_for_how_long(server: PostgresServer) -> None:
    with before(server, size=1) as one, ExitStack() as clients:
        held, waiting = (clients.enter_context(closing(psycopg.connect(one.dsn))) for _ in range(2))
        held.execute("select 1")
        waiting.pgconn.send_query(b"begin; select 2")
        waiting.pgconn.flush()
        time.sleep(0.2)
        with closing(Pools(PgBouncerDriver.from_address(one.address), Notices())) as collector:
            rows = sampled(collector)
            held.rollback()
            time.sleep(0.2)
            later = sampled(collector)
    assert not rows["event"]
    last = {row["name"]: row for row in rows["statistic"] if row["entity"] == "pgbench postgres"}
    assert (last["pgbouncer.cl_waiting"]["value"], last["pgbouncer.sv_active"]["value"]) == (1.0, 1.0)
    assert last["pgbouncer.maxwait"]["value"] > 0.3
    assert {row["db"] for row in rows["statistic"] if row["component"] == "pgbouncer"} == {f"pgbouncer:{one.port}"}
    sizes = [row["value"] for row in rows["statistic"] if row["name"] == "pgbouncer.pool_size"]
    assert sizes == [1.0, 1.0]
    assert {row["name"]: row["value"] for row in rows["setting"]}["pool_mode"] == "transaction"
    waited = [row["value"] * row["interval_s"] for row in later["statistic"] if row["name"] == "pgbouncer.wait_time"]
    assert sum(waited) > 0.3e6


@pytest.mark.server
@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the configuration of others")
def test_a_pooler_is_found_and_is_no_server(server: PostgresServer) -> None:
    with before(server, size=1) as one:
        assert one.port in {found.port for found in poolers.poolers()}
        assert one.port not in {found.port for found in discover.servers()}
        collectors = pgbouncer.Search().collectors()
        names = {collector.name for collector in collectors}
        rows = [row for each in collectors for row in rows_of("statistic", each.sample())]
        for each in collectors:
            each.close()
    assert f"pools of pgbouncer:{one.port}" in names
    assert f"pgbouncer:{one.port}" in {row["db"] for row in rows}


@pytest.mark.server
def test_who_has_the_servers_while_others_wait(server: PostgresServer) -> None:
    with before(server, size=1, mode="session") as one, ExitStack() as clients:
        job, waiting = (
            clients.enter_context(closing(psycopg.connect(one.dsn, autocommit=True, application_name=name)))
            for name in ("nightly", "web")
        )
        [[pid]] = job.execute("select pg_backend_pid()").fetchall()
        with closing(Pools(PgBouncerDriver.from_address(one.address), Notices())) as collector:
            quiet = sampled(collector)
            waiting.pgconn.send_query(b"select 2")
            waiting.pgconn.flush()
            time.sleep(1.5)
            rows = sampled(collector)
    assert "pgbouncer.held_s" not in {row["name"] for row in quiet["statistic"]}
    [held] = [row for row in rows["statistic"] if row["name"] == "pgbouncer.held_s"]
    assert (held["entity"].rpartition("@")[0], held["value"] >= 1) == (f"pgbench postgres {pid} nightly", True)
    assert {row["value"] for row in rows["statistic"] if row["name"] == "pgbouncer.session_mode"} == {1.0}


@pytest.mark.server
@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the configuration of others")
def test_a_pooler_before_a_named_server_belongs_to_it(server: PostgresServer) -> None:
    named, other = f"host={server.socket_dir} port={server.port}", f"host={server.socket_dir} port={server.port + 1}"
    with before(server, size=1) as one:
        of_it, of_other = ({each.name for each in Host(dsns=[dsn]).collectors()} for dsn in (named, other))
        both = [each.name for each in Host(dsns=[named, one.address]).collectors()]
    own = f"pools of pgbouncer:{one.port}"
    assert (own in of_it, own in of_other, both.count(own)) == (True, False, 1)


def test_a_pooler_that_leads_elsewhere_by_its_own_word_is_left_alone() -> None:
    class Console:
        db, errors = "pgbouncer:6432", (psycopg.Error,)

    collector = Pools(Console(), Notices(), places=[Place("db1", 5432)])  # type: ignore[arg-type]
    told = {"DATABASES": [{"name": "shop", "host": "db2", "port": 5432}, {"name": "pgbouncer", "host": "", "port": 1}]}
    collector._show = lambda what: told[what]  # type: ignore[method-assign]
    assert not collector._leads_there()
    told["DATABASES"][0]["host"] = "db3,db1"
    assert collector._leads_there()


def test_who_has_servers_elsewhere_is_not_told() -> None:
    """A session of another server has the number of none here: it would look idle."""

    class Console:
        db, errors = "pgbouncer:6432", (psycopg.Error,)

    collector = Pools(Console(), Notices(), places=[Place("", 5432)])  # type: ignore[arg-type]
    row = {"database": "shop", "user": "app", "link": "c1", "request_time": "2026-11-23 21:00:00 UTC"}
    servers = [row | {"remote_pid": pid, "addr": addr, "port": port} for pid, addr, port in
               [(1, "unix", 5432), (2, "127.0.0.1", 5432), (3, "192.0.2.7", 5432), (4, "unix", 5433)]]  # fmt: skip
    collector._show = lambda what: servers if what == "SERVERS" else []  # type: ignore[method-assign]
    assert [one["entity"].split()[2] for one in collector._holders()] == ["1", "2"]


def test_a_pooler_whose_configuration_changes_is_not_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one that starts again: the link comes back to the socket of the same name."""
    one = poolers.Pooler(7, 6432, "/run", 0, is_known=True)
    search = pgbouncer.Search()
    found = []
    changed = poolers.Pooler(7, 6432, "/run", 0, is_known=True, servers=frozenset({Place("db1", 5432)}))
    again = poolers.Pooler(9, 6432, "/run", 0, is_known=True)
    beside = poolers.Pooler(9, 6433, "/run", 0, is_known=True)
    for there in ([one], [changed], [again], [again, beside]):
        monkeypatch.setattr(pgbouncer, "poolers", lambda there=there: there)
        found.append(len(search.collectors()))
    assert found == [1, 0, 0, 1]


def test_a_pooler_that_comes_to_lead_to_the_server_is_asked_then(monkeypatch: pytest.MonkeyPatch) -> None:
    search = pgbouncer.Search([Place("db1", 5432)])
    found = []
    for server in ("db2", "db1"):
        one = poolers.Pooler(7, 6432, "/run", 0, is_known=True, servers=frozenset({Place(server, 5432)}))
        monkeypatch.setattr(pgbouncer, "poolers", lambda one=one: [one])
        found.append(len(search.collectors()))
    assert found == [0, 1]


def written_now(file: Path) -> None:
    """By our clock: the kernel's own may be another one."""
    os.utime(file, (time.time(), time.time()))


def test_what_is_told_of_a_pooler_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    rows = [f"0: 2 0 0 0001 {state} 77 /run/.s.PGSQL.6432" for state in ("01", "03", "03")]
    (tmp_path / "net/unix").write_text("\n".join(["Num", *rows, "0: 3 0 0 0001 03 78"]) + "\n")
    log = tmp_path / "pgbouncer.log"
    log.write_text(
        "2026-11-23 21:00:00.000 UTC [7] LOG stats: 3 xacts/s, 4 queries/s, 0 client parses/s, in 5 B/s, out 6 B/s, "
        "xact 700 us, query 800 us, wait 2500000 us\n"
    )
    written_now(log)
    unasked = Unasked("pgbouncer:6432", poolers.Pooler(7, 6432, "/run", 0, is_known=True, log=str(log)), tmp_path)
    first = {row["name"]: row["value"] for row in rows_of("statistic", unasked.look())}
    assert first == {
        "pgbouncer.clients_connected": 2.0,
        "pgbouncer.xacts": 3.0,
        "pgbouncer.queries": 4.0,
        "pgbouncer.xact_time": 700.0,
        "pgbouncer.query_time": 800.0,
        "pgbouncer.wait_time": 2_500_000.0,
    }
    assert unasked.look() == []
    with log.open("a") as more:
        more.write("2026-11-23 21:00:05.000 UTC [7] LOG C-0x1: a/b@unix:6432 closing because: query_wait_timeout\n")
    written_now(log)
    unasked._looked_at = time.monotonic() - 10.0
    [timed_out] = [row for row in rows_of("statistic", unasked.look()) if row["name"] == "pgbouncer.timed_out"]
    assert timed_out["value"] * timed_out["interval_s"] == pytest.approx(1.0)


def test_a_pooler_that_is_not_there_is_told_once_and_costs_nothing_else(tmp_path: Path) -> None:
    with closing(Pools(PgBouncerDriver.from_address(f"pgbouncer://{tmp_path}:6432"), Notices())) as collector:
        rows = sampled(collector)
    assert [(row["kind"], row["text"]) for row in rows["event"]] == [("not measured", "no PgBouncer listens there")]
    assert "pgbouncer://" in rows["event"][0]["hint"]


@pytest.mark.parametrize(
    ("address", "db"),
    [
        ("pgbouncer://stats@db1:6433", "pgbouncer:db1:6433"),
        ("pgbouncer://localhost", "pgbouncer:6432"),
        ("pgbouncer:///run/postgresql:6544", "pgbouncer:6544"),
        ("pgbouncer://", "pgbouncer:6432"),
    ],
)
def test_addresses(address: str, db: str) -> None:
    assert PgBouncerDriver.from_address(address).db == db


@pytest.mark.parametrize("address", ["pgbouncer://me:secret@host:6432", "pgbouncer://host:secret"])
def test_a_wrong_address_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(UserError) as refusal:
        Host(dsns=[address]).collectors()
    assert "secret" not in f"{refusal.value} {refusal.value.hint}"


def test_a_configuration_that_may_not_be_read_leaves_the_usual_port(tmp_path: Path) -> None:
    process = tmp_path / "7"
    process.mkdir()
    (process / "comm").write_text("pgbouncer\n")
    (process / "cmdline").write_bytes(b"/usr/sbin/pgbouncer\0-d\0/etc/nowhere/pgbouncer.ini\0")
    [found] = poolers.poolers(tmp_path)
    assert (found.port, found.is_known) == (6432, False)


def test_a_configuration_with_included_files_and_remarks(tmp_path: Path) -> None:
    process = tmp_path / "7"
    (process / "root/etc").mkdir(parents=True)
    (process / "comm").write_text("pgbouncer\n")
    (process / "cmdline").write_bytes(b"pgbouncer\0/etc/pgbouncer.ini\0")
    text = "%include /etc/x.ini\n%include /etc/no.ini\n[pgbouncer]\n; remark\nlisten_port = 6543\nlogfile = /l/pb.log\n"
    (process / "root/etc/pgbouncer.ini").write_text(text)
    (process / "root/etc/x.ini").write_text("[databases]\n* = host=h,127.0.0.1 port='5433' password=%x\nshop =\n")
    [found] = poolers.poolers(tmp_path)
    assert (found.port, found.socket_dir, found.is_known) == (6543, "/tmp", True)  # noqa: S108 - its own default
    assert found.servers == {Place("h", 5433), Place("127.0.0.1", 5433), Place("", 5432)}
    assert found.log == str(process / "root/l/pb.log")
    to = {place: found.may_lead_to([place]) for place in (Place("/run", 5433), Place("h", 5432), Place("db9", 5433))}
    assert list(to.values()) == [True, False, False]
