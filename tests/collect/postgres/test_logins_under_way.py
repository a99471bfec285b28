"""Logins that are not in yet: a tree of /proc, and a real server to which clients connect that say nothing."""

import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from doctord.analyse.host.logins_under_way import FOR_ITS_CLIENT
from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.logins_under_way import LoginsUnderWay
from postgres_samples import link_to, rows_of
from servers import PostgresServer

SERVER = 10
OWN_TITLE = "/usr/lib/postgresql/15/bin/postgres\0-D\0/data\0"
IN_AUTHENTICATION = "postgres: main: app bench 192.0.2.9(40000) authentication"
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"


class Here(Link):
    """A link to a server with that process."""

    def __init__(self, pid: int | None = SERVER) -> None:
        self.pid, self.notices = pid, Notices()

    db = "postgresql:5432"

    def server_pid(self) -> int | None:
        return self.pid


def process(proc: Path, pid: int, title: str, age_s: float = 0.0, wchan: str = "0") -> None:
    folder = proc / str(pid)
    (folder / "net").mkdir(parents=True)
    (folder / "fd").mkdir()
    begun = (time.clock_gettime(time.CLOCK_BOOTTIME) - age_s) * os.sysconf("SC_CLK_TCK")
    (folder / "cmdline").write_text(title)
    (folder / "stat").write_text(f"{pid} (postgres) S {SERVER} {'0 ' * 17}{begun:.0f} 0")
    (folder / "wchan").write_text(wchan)


def server_of(proc: Path) -> None:
    """Its children are all processes of the tree but itself."""
    process(proc, SERVER, OWN_TITLE)
    pids = sorted(int(one.name) for one in proc.iterdir() if one.name != str(SERVER))
    (proc / f"{SERVER}/task/{SERVER}").mkdir(parents=True)
    (proc / f"{SERVER}/task/{SERVER}/children").write_text(" ".join(map(str, pids)) + " ")


def told(proc: Path, looks: int = 6) -> dict[tuple[str, str | None], dict[str, Any]]:
    """What several looks tell, a second after the other: rows by name and entity."""
    seconds = iter(range(looks))
    watched, link = LoginsUnderWay(proc, now=lambda: float(next(seconds))), Here()
    watched.begin(link)
    batches = [batch for _ in range(looks) for batch in watched.look(link.db)]
    return {(row["name"], row["entity"]): row for row in rows_of("statistic", batches)}


def test_backends_that_are_seconds_old_and_not_in_are_told(tmp_path: Path) -> None:
    process(tmp_path, 11, OWN_TITLE, age_s=7.0, wchan="do_poll.constprop.0")
    process(tmp_path, 12, IN_AUTHENTICATION, age_s=3.0, wchan="ep_poll")
    process(tmp_path, 13, OWN_TITLE, age_s=0.01)
    server_of(tmp_path)
    rows = told(tmp_path)
    assert rows["logins.under_way", None]["value"] == 3.0
    assert rows["logins.under_way", None]["interval_s"] == 5.0
    assert rows["logins.oldest_s", None]["value"] == pytest.approx(7.0, abs=2)
    slow = {entity: row["value"] * 5 for (name, entity), row in rows.items() if name == "logins.slow"}
    assert slow == {"no request read": pytest.approx(1), "authentication": pytest.approx(1)}
    assert {entity for name, entity in rows if name == "logins.slow_in"} == {"do_poll", "ep_poll"}


@pytest.mark.parametrize(
    "title",
    [
        "postgres: app bench [local] idle",
        "postgres: app bench 192.0.2.9(40000) SELECT",
        "postgres: startup recovering 000000010000000000000001",
        "postgres: startup",
        "postgres: main: startup",
        "postgres: parallel worker for PID 77",
        "postgres: autovacuum worker bench",
        "postgres: walsender standby 192.0.2.8(40000) streaming 0/3000000",
        "postgres: logical replication launcher",
        "postgres: checkpointer",
        "",
    ],
)
def test_who_is_in_or_no_client_is_no_login(tmp_path: Path, title: str) -> None:
    process(tmp_path, 11, title, age_s=60.0)
    server_of(tmp_path)
    rows = told(tmp_path)
    assert {key: row["value"] for key, row in rows.items()} == {("logins.under_way", None): 0.0}


@pytest.mark.parametrize(
    ("title", "phase"),
    [
        ("postgres: app bench [local] startup", "startup"),
        ("postgres: app bench client.example.net(40000) initializing", "initializing"),
        ("postgres: app bench ???(???) authentication", "authentication"),
        ("postgres: walsender standby fe80::1%eth0(40000) authentication", "authentication"),
    ],
)
def test_how_far_a_login_is_says_its_title(tmp_path: Path, title: str, phase: str) -> None:
    process(tmp_path, 11, title, age_s=2.0)
    server_of(tmp_path)
    assert ("logins.slow", phase) in told(tmp_path)


def test_whom_they_ask_is_told_by_their_own_sockets(tmp_path: Path) -> None:
    process(tmp_path, 11, OWN_TITLE, age_s=2.0)
    user = (tmp_path / "11").stat().st_uid
    lines = (
        f" 1: 00000000:9C40 {_hex('192.0.2.53')}:0035 01 0:0 0:0 0 {user} 0 4711",
        f" 2: 00000000:9C41 {_hex('192.0.2.54')}:0035 01 0:0 0:0 0 {user} 0 4712",
        f" 3: 00000000:9C42 {_hex('192.0.2.55')}:0035 01 0:0 0:0 0 {user + 1} 0 4711",
        f" 4: 00000000:1538 {_hex('192.0.2.9')}:9C40 01 0:0 0:0 0 {user} 0 4711",
    )
    (tmp_path / "11/fd/9").symlink_to("socket:[4711]")
    server_of(tmp_path)
    (tmp_path / f"{SERVER}/net/udp").write_text("\n".join([HEADER, *lines]))
    asked = {entity for name, entity in told(tmp_path) if name == "logins.slow_asking"}
    assert asked == {"name server 192.0.2.53"}


def test_whose_they_are_is_told_by_title_or_socket(tmp_path: Path) -> None:
    for pid, age_s in ((11, 3.0), (12, 8.0)):
        process(tmp_path, pid, OWN_TITLE, age_s=age_s)
        (tmp_path / f"{pid}/fd/9").symlink_to(f"socket:[47{pid}]")
    process(tmp_path, 13, IN_AUTHENTICATION, age_s=2.0)
    process(tmp_path, 14, OWN_TITLE, age_s=2.0)
    server_of(tmp_path)
    lines = [
        f" {pid}: {_hex('127.0.0.1')}:1538 {_hex('192.0.2.7')}:9C40 01 0:0 0:0 0 70 0 47{pid} 1 0" for pid in (11, 12)
    ]
    (tmp_path / f"{SERVER}/net/tcp").write_text("\n".join([HEADER, *lines]))
    rows = told(tmp_path)
    held = {entity: row["value"] for (name, entity), row in rows.items() if name == "logins.held"}
    assert held == {"no request read from 192.0.2.7": 2, "authentication from 192.0.2.9": 1, "no request read": 1}
    assert rows["logins.held_s", "no request read from 192.0.2.7"]["value"] == pytest.approx(8.0, abs=2)


def test_the_sockets_of_the_host_are_read_once_for_all_slow_logins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in range(11, 61):
        process(tmp_path, pid, OWN_TITLE, age_s=2.0)
    server_of(tmp_path)
    (tmp_path / f"{SERVER}/net/udp").write_text(HEADER)
    read, read_text = list[str](), Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path: read.append(path.name) or read_text(path))
    assert told(tmp_path)["logins.slow", "no request read"]["value"] == pytest.approx(10.0)
    assert read.count("udp") == 1


def test_a_slow_login_counts_once(tmp_path: Path) -> None:
    process(tmp_path, 11, IN_AUTHENTICATION, age_s=2.0)
    server_of(tmp_path)
    rows = told(tmp_path, looks=11)
    assert ("logins.slow", "authentication") in rows  # of the first five seconds: the second five tell of none
    assert rows["logins.under_way", None]["value"] == 1.0


def test_of_a_server_elsewhere_nothing_is_told(tmp_path: Path) -> None:
    watched = LoginsUnderWay(tmp_path)
    watched.begin(Here(pid=None))
    assert watched.look("postgresql:5432") == []


def test_a_kernel_that_lists_no_children_is_said(tmp_path: Path) -> None:
    process(tmp_path, SERVER, OWN_TITLE)
    watched, link = LoginsUnderWay(tmp_path), Here()
    watched.begin(link)
    assert watched.look(link.db) == []
    [row] = rows_of("event", link.notices.batches())
    assert row["subject"] == "logins under way"


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_a_proc_that_hides_the_server_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def refuse(path: Path) -> str:
        raise error(path)

    own = tmp_path / f"{os.getpid()}/task/{os.getpid()}"
    own.mkdir(parents=True)
    (own / "children").write_text("")
    monkeypatch.setattr(Path, "read_text", refuse)
    watched, link = LoginsUnderWay(tmp_path), Here()
    watched.begin(link)
    assert watched.look(link.db) == []
    [row] = rows_of("event", link.notices.batches())
    assert "hidepid" in row["text"]


@pytest.mark.server
def test_clients_that_connect_and_say_nothing(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    watched = LoginsUnderWay()
    with closing(link_to(server.dsn())) as link, ExitStack() as clients:
        link.open()
        watched.begin(link)
        for _ in range(3):
            clients.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        rows = list[dict[str, Any]]()
        deadline = time.monotonic() + 30
        while not any(row["name"] == "logins.slow" for row in rows) and time.monotonic() < deadline:
            rows += rows_of("statistic", watched.look(link.db))
            time.sleep(0.1)
    seen = {(row["name"], row["entity"]): row for row in rows}
    slow = seen["logins.slow", "no request read"]
    assert slow["value"] * slow["interval_s"] == pytest.approx(3)
    assert 1.0 < seen["logins.oldest_s", None]["value"] < 30
    held = {entity for name, entity in seen if name == "logins.held"}
    assert held == {"no request read from 127.0.0.1"} or os.geteuid() != 0
    places = {entity for name, entity in seen if name == "logins.slow_in"}
    assert places <= set(FOR_ITS_CLIENT)
    assert places or os.geteuid() != 0


def _hex(address: str) -> str:
    """As /proc/net/udp has it: the address as a number of this machine."""
    return f"{int.from_bytes(socket.inet_aton(address), 'little' if _is_little() else 'big'):08X}"


def _is_little() -> bool:
    return socket.htons(1) != 1
