"""The server's own log, as it is read while we look."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from doctord._native import Batch
from doctord.analyse.locking.autovacuum import CANCELLED, WORKER, table_of
from doctord.collect.core import log_tail
from doctord.collect.postgres import server_log
from doctord.collect.postgres.server_log import Form, ServerLog
from doctord.collect.postgres.sessions import SessionCollector
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.collect.postgres.statistics.held import Known
from postgres_samples import SECRET, link_to, rows_of, until
from servers import PostgresServer

TIME = "2026-11-23 05:00:01.123 UTC"
PREFIX = f"{TIME} [77] app@shop "
CRASH = "server process (PID 77) was terminated by signal 9: Killed"


WHOSE = "user app, database shop"
STDERR = Form("stderr", "%m [%p] %u@%d ")
GROWTH = ("log.written_bytes", "log.written_lines")


def opened(path: Path, form: Form = STDERR) -> ServerLog:
    """A log whose place is known."""
    path.touch()
    log = ServerLog("postgresql:1")
    log.begin(path, form)
    return log


def counts_of(batches: list[Batch]) -> dict[str, int]:
    """How often each came, but for what never did."""
    counts = {row["entity"] or row["name"]: row["value"] * row["interval_s"] for row in rows_of("statistic", batches)
              if row["name"] not in ("log.messages", *GROWTH)}  # fmt: skip
    return {name: round(count) for name, count in counts.items()}


def told(path: Path, *lines: str, form: Form = STDERR) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Events, and how often each other message came."""
    with closing(opened(path, form)) as log:
        path.write_text("".join(f"{line}\n" for line in lines))
        batches = log.read()
        rest = log.read()
    return rows_of("event", [*batches, *rest]), Counter(counts_of(batches)) + Counter(counts_of(rest))


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("stderr", f"{PREFIX}LOG:  {CRASH}"),
        ("csvlog",
         f'{TIME},,,77,,1.1,1,,2026-11-23 05:00:00 UTC,,0,LOG,00000,"{CRASH}","",,,,,,,,,""'),
        ("jsonlog",
         f'{{"timestamp":"{TIME}","pid":77,"error_severity":"LOG","message":"{CRASH}","detail":"x"}}'),
    ],
)  # fmt: skip
def test_who_crashed_and_of_what(tmp_path: Path, form: str, line: str) -> None:
    [event], counts = told(tmp_path / "log", line, form=Form(form, ""))
    assert (event["kind"], event["subject"]) == ("process crashed", "server process")
    assert event["text"] == "server process (pid 77) was terminated by signal 9: Killed"
    assert counts == {}


@pytest.mark.parametrize(
    ("message", "is_crash"),
    [
        ('background worker "parallel worker" (PID 9) was terminated by signal 11: Segmentation fault', True),
        ("server process (PID 9) exited with exit code 2", True),
        ('background worker "logical replication worker" (PID 9) exited with exit code 1', False),
        ("archive command was terminated by signal 15: Terminated", False),
        ("all server processes terminated; reinitializing", False),
    ],
)
def test_what_is_a_crash(tmp_path: Path, message: str, *, is_crash: bool) -> None:
    events, _ = told(tmp_path / "log", f"{PREFIX}LOG:  {message}")
    assert bool(events) is is_crash


def test_whose_session_a_process_was_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    log = ServerLog("postgresql:5432", {77: Known("user app", "app@192.0.2.9 report, idle for 40 s")})
    log.begin(path, STDERR)
    path.write_text(f"{PREFIX}LOG:  {CRASH}\n")
    [event] = rows_of("event", [*log.read(), *log.read()])
    assert event["text"].endswith("signal 9: Killed; it was app@192.0.2.9 report, idle for 40 s")


def test_whose_errors_they_are_is_told_though_the_prefix_has_no_user(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    log = ServerLog(
        "postgresql:1", {77: Known("user app, database shop", ""), 78: Known("user app, database shop", "")}
    )
    log.begin(path, Form("stderr", "%m [%p] "))
    lines = [f"{TIME} [{pid}] ERROR:  permission denied for table prices\n" for pid in (77, 78, 79)]
    path.write_text("".join(lines))
    counts = Counter(counts_of(log.read())) + Counter(counts_of(log.read()))
    assert counts["ERROR permission denied for table prices"] == 3
    assert {name: count for name, count in counts.items() if " | " in name} == {
        "ERROR permission denied for table prices | user app, database shop": 2
    }


def test_why_a_checkpoint_began_is_an_event(tmp_path: Path) -> None:
    events, _ = told(tmp_path / "log", f"{PREFIX}LOG:  checkpoint starting: immediate force wait")
    assert [(event["kind"], event["subject"], event["text"]) for event in events] == [
        ("checkpoint", "start", "started: immediate force wait")
    ]


def test_processes_that_could_not_be_started_are_counted_by_what_fork_said(tmp_path: Path) -> None:
    why = "Resource temporarily unavailable"
    _, counts = told(
        tmp_path / "log",
        f"{PREFIX}LOG:  could not fork new process for connection: {why}",
        f"{PREFIX}LOG:  could not fork autovacuum worker process: {why}",
        f"{PREFIX}LOG:  could not fork worker process: Cannot allocate memory",
    )
    assert counts == {why: 2, "Cannot allocate memory": 1}


def test_what_turns_clients_away_is_known_in_other_languages(tmp_path: Path) -> None:
    why = "Die Ressource ist zur Zeit nicht verfügbar"
    _, counts = told(
        tmp_path / "log",
        f"{PREFIX}LOG:  konnte neuen Prozess für Verbindung nicht starten (fork-Fehler): {why}",
        f"{PREFIX}FATAL:  tut mir leid, schon zu viele Verbindungen",
        f"{PREFIX}ВАЖНО:  система баз данных запускается",
    )
    assert counts[why] == 1
    assert counts["log.connections_refused"] == 1
    assert counts["FATAL sorry, too many clients already"] == 1
    assert counts["FATAL the database system is starting up"] == 1


def test_a_client_is_one_whatever_its_port(tmp_path: Path) -> None:
    line = '{time},"ann","shop",77,"{client}",1.1,1,,2026-11-23 05:00:00 UTC,,0,FATAL,28P01,"no",,,,,,,,,"a | b"'
    lines = [line.format(time=TIME, client=f"fe80::1:{port}") for port in (4321, 4322)]
    _, counts = told(tmp_path / "log", *lines, form=Form("csvlog", ""))
    assert counts["FATAL 28P01 no | user ann, database shop, application a / b, client fe80::1"] == 2


def test_the_folder_of_a_file_is_told_where_there_was_no_room(tmp_path: Path) -> None:
    none_left = "No space left on device"
    _, counts = told(
        tmp_path / "log",
        f'{PREFIX}ERROR:  could not extend file "base/5/16384": {none_left}',
        f'{PREFIX}ERROR:  could not create directory "pg_tblspc/16400/PG_15/5": {none_left}',
    )
    assert counts == {
        f'ERROR could not extend file "base/?": {none_left}': 1,
        f'ERROR could not create directory "pg_tblspc/?": {none_left}': 1,
        f'ERROR could not extend file "base/?": {none_left} | {WHOSE}': 1,
        f'ERROR could not create directory "pg_tblspc/?": {none_left} | {WHOSE}': 1,
    }


def test_messages_are_counted_without_their_values(tmp_path: Path) -> None:
    events, counts = told(
        tmp_path / "log",
        f'{PREFIX}FATAL:  password authentication failed for user "{SECRET}"',
        f"{PREFIX}FATAL:  sorry, too many clients already",
        f"{PREFIX}FATAL:  sorry, too many clients already",
        f"{PREFIX}FATAL:  terminating connection due to administrator command",
        f"{PREFIX}ERROR:  division by zero",
        f"{PREFIX}STATEMENT:  select 'FATAL:  {SECRET}'",
        f'{PREFIX}ERROR:  invalid input syntax for type integer: "{SECRET}"',
        f"{PREFIX}ERROR:  {SECRET} has no credit",
        f"{PREFIX}CONTEXT:  PL/pgSQL function pay() line 3 at RAISE",
        f"\tFATAL:  {SECRET}",
        f"{PREFIX}LOG:  duration: 3.2 ms  statement: select '{SECRET} (PID 5) was terminated by'",
    )
    assert events == []
    assert counts == {
        'FATAL password authentication failed for user "?"': 1,
        "FATAL sorry, too many clients already": 2,
        "ERROR division by zero": 1,
        'ERROR invalid input syntax for type integer: "?"': 1,
        "ERROR (raised by a function)": 1,
        "ERROR (raised by a function) | pay() line 3 at RAISE": 1,
        "log.connections_refused": 2,
        f"ERROR division by zero | {WHOSE}": 1,
        f'ERROR invalid input syntax for type integer: "?" | {WHOSE}': 1,
        'FATAL password authentication failed for user "?" | user app, database shop': 1,
        "FATAL sorry, too many clients already | user app, database shop": 2,
    }


@pytest.mark.parametrize(
    ("message", "is_somebodys"),
    [
        ('relation "prices" does not exist at character 15', True),
        ("permission denied for table prices", True),
        ('no partition of relation "sales" found for row', True),
        ("canceling statement due to statement timeout", True),
        ("canceling statement due to user request", False),
        ('duplicate key value violates unique constraint "t_pkey"', False),
        ("division by zero", True),
    ],
)
def test_who_met_an_error_is_told_of_those_that_come_again(tmp_path: Path, message: str, *, is_somebodys: bool) -> None:
    """Without a SQLSTATE, as Debian has the prefix, by their words."""
    _, counts = told(tmp_path / "log", f"{PREFIX}ERROR:  {message}")
    assert any(name.endswith("| user app, database shop") for name in counts) is is_somebodys


def test_the_function_that_an_error_comes_from_is_told_without_its_values(tmp_path: Path) -> None:
    _, counts = told(
        tmp_path / "log",
        f"{PREFIX}ERROR:  structure of query does not match function result type",
        f"{PREFIX}CONTEXT:  SQL statement \"select '{SECRET}'\"",
        "\tPL/pgSQL function orders_of(integer) line 3 at RETURN QUERY",
    )
    error = "ERROR structure of query does not match function result type"
    assert counts == {
        error: 1,
        f"{error} | user app, database shop": 1,
        f"{error} | orders_of(integer) line 3 at RETURN QUERY": 1,
    }


def test_what_fails_without_an_error_is_counted_with_who_met_it(tmp_path: Path) -> None:
    form = Form("stderr", "%m [%p] %q%u@%d %a %h ")
    begin = f"{TIME} [77] "
    _, counts = told(
        tmp_path / "log",
        f"{begin}[unknown]@[unknown] [unknown] 10.0.0.5 LOG:  could not accept SSL connection: no shared cipher",
        f"{begin}[unknown]@[unknown] [unknown] 10.0.0.5 LOG:  konnte SSL-Verbindung nicht annehmen: no shared cipher",
        f"{begin}ann@shop psql [local] WARNUNG:  Version von Sortierfolge für Datenbank »shop« stimmt nicht überein",
        f"{begin}LOG:  database system is ready to accept connections",
        f"{begin}LOG:  checkpoint starting: time",
        f"{begin}ann@shop psql [local] LOG:  AUDIT: SESSION,1,1,READ,SELECT,,,select failed from t,<none>",
        f"{begin}ann@shop psql [local] LOG:  statement: select 'could not {SECRET}'",
        form=form,
    )
    refused, warned = (
        "LOG could not accept SSL connection: no shared cipher",
        ('WARNING database "shop" has a collation version mismatch'),
    )
    assert counts == {
        refused: 2,
        warned: 1,
        f"{refused} | client 10.0.0.5": 2,
        f"{warned} | user ann, database shop, application psql, client [local]": 1,
    }


@pytest.mark.parametrize("prefix", ["%m [%p] %e ", "%e ", "%q%u@%d:%e:"])
def test_the_servers_prefix_gives_the_sqlstate(tmp_path: Path, prefix: str) -> None:
    begin = prefix.replace("%m", TIME).replace("%p", "77").replace("%q", "").replace("%u@%d", "app@shop")
    lines = [f"{begin.replace('%e', '40001')}ERROR:  could not serialize access due to concurrent update"] * 3
    assert told(tmp_path / "log", *lines, form=Form("stderr", prefix))[1] == {
        "ERROR 40001 could not serialize access due to concurrent update": 3
    }


def test_in_another_language_the_sqlstate_tells_what_it_was(tmp_path: Path) -> None:
    line = f"{TIME} 40001 FEHLER:  kann Zugriff nicht serialisieren wegen gleichzeitiger Aktualisierung"
    _, counts = told(tmp_path / "log", line, form=Form("stderr", "%m %e "))
    assert counts == {"ERROR 40001 kann Zugriff nicht serialisieren wegen gleichzeitiger Aktualisierung": 1}


def test_that_nothing_failed_is_told_too(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "log")) as log:
        batches = log.read()
    assert {(row["name"], row["entity"]): row["value"] for row in rows_of("statistic", batches)} == {
        **{("log.messages", severity): 0 for severity in ("ERROR", "FATAL", "PANIC")},
        **{(name, None): 0 for name in GROWTH},
    }


def test_the_last_message_waits_for_what_may_belong_to_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with closing(opened(path)) as log, path.open("a") as out:
        out.write(f"{PREFIX}ERROR:  division by zero\n{PREFIX}ERROR:  {SECRET}\n")
        out.flush()
        assert counts_of(log.read()) == {"ERROR division by zero": 1, f"ERROR division by zero | {WHOSE}": 1}
        out.write(f"{PREFIX}CONTEXT:  PL/pgSQL function pay() line 3 at RAISE\n")
        out.flush()
        assert counts_of(log.read()) == {}
        assert counts_of(log.read()) == {
            "ERROR (raised by a function)": 1,
            "ERROR (raised by a function) | pay() line 3 at RAISE": 1,
        }


def test_rare_messages_of_very_many_are_counted_by_their_code(tmp_path: Path) -> None:
    names = [f"{letter}{other}" for letter in "abcdefghijklm" for other in "abcdefghijk"]
    lines = [f'{PREFIX}ERROR:  relation "{name}" does not exist' for name in ["most", "most", *names]]
    _, counts = told(tmp_path / "log", *lines)
    assert counts['ERROR relation "most" does not exist'] == 2
    assert counts["ERROR (others)"] == len(names) - server_log._MOST_NAMED
    assert sum(count for name, count in counts.items() if " | " not in name) == len(lines)


def test_of_very_much_the_newest_stands_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "AT_MOST_BYTES", 2000)
    path = tmp_path / "log"
    began = time.monotonic()
    with closing(opened(path)) as log:
        time.sleep(0.05)
        path.write_text("".join(f"{PREFIX}FATAL:  {age}\n" for age in ["old"] * 500 + ["new"] * 10))
        rows = rows_of("statistic", [*log.read(), *log.read()])
    seconds = time.monotonic() - began
    new, old = ([row for row in rows if row["entity"] == f"FATAL {age}"] for age in ("new", "old"))
    assert sum(row["value"] * row["interval_s"] for row in new) == pytest.approx(10)
    assert 10 < sum(row["value"] * row["interval_s"] for row in old) < 30
    assert old[0]["interval_s"] < 0.2 * seconds, "the part of the time in which what was read was written"


def test_what_the_log_grows_by(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = [f"{PREFIX}LOG:  duration: 1.000 ms  plan:", "\tQuery Text: SELECT 1", "\tResult  (cost=0.00..0.01 rows=1)"]
    with closing(opened(path)) as log:
        path.write_text("".join(f"{line}\n" for line in lines))
        rows = [*rows_of("statistic", log.read()), *rows_of("statistic", log.read())]
    grown = {row["name"]: (row["unit"], row["value"] * row["interval_s"]) for row in rows if row["value"]}
    assert grown["log.written_bytes"] == ("bytes_per_s", pytest.approx(path.stat().st_size))
    assert grown["log.written_lines"] == ("per_s", pytest.approx(3))
    assert grown["log.plans"] == ("per_s", pytest.approx(1))


CANCEL = "canceling autovacuum task"
OF_TABLE = 'automatic vacuum of table "shop.public.jobs"'


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("stderr", [f"{PREFIX}ERROR:  {CANCEL}", f'{PREFIX}CONTEXT:  while scanning block 7 of relation "public.jobs"',
                    f"\t{OF_TABLE}"]),
        ("csvlog",
         [f'{TIME},,,77,,1.1,1,,2026-11-23 05:00:00 UTC,,0,ERROR,57014,"{CANCEL}",,,,,"'
          + OF_TABLE.replace('"', '""') + '",,,,""']),
    ],
)  # fmt: skip
def test_which_vacuum_was_cancelled(tmp_path: Path, form: str, lines: list[str]) -> None:
    _, counts = told(tmp_path / "log", *lines, *lines, form=Form(form, STDERR.prefix))
    assert counts["shop.public.jobs"] == 2


def test_an_analyze_that_was_cancelled_is_no_vacuum_and_what_was_skipped_is_told(tmp_path: Path) -> None:
    _, counts = told(
        tmp_path / "log",
        f"{PREFIX}ERROR:  {CANCEL}",
        f'{PREFIX}CONTEXT:  automatic analyze of table "shop.public.jobs"',
        f"{PREFIX}ERROR:  {CANCEL}",
        f'{PREFIX}LOG:  skipping vacuum of "rows" --- lock not available',
    )
    assert counts == {f"ERROR {CANCEL}": 2, "log.autovacuum_cancelled": 1, "rows": 1}


@pytest.mark.server
def test_a_worker_that_gives_way_is_named_with_its_table(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"autovacuum_naptime": "1s", "autovacuum_vacuum_cost_delay": "100ms",
                                       "autovacuum_vacuum_cost_limit": "1", "deadlock_timeout": "100ms"})  # fmt: skip
    with (
        closing(StatisticsCollector(link_to(server.dsn()))) as log,
        closing(SessionCollector(link_to(server.dsn()))) as sessions,
        server.connect() as job,
    ):
        log.sample()
        job.execute("CREATE TABLE jobs AS SELECT generate_series(1, 50000) AS id")
        job.execute("UPDATE jobs SET id = id + 1")
        worker = until(sessions, "session", lambda row: table_of(row["program"]) == "public.jobs", seconds=60)
        assert (worker["kind"], worker["user"]) == (WORKER, None)
        with job.transaction():
            job.execute("LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE")
        told = until(log, "statistic", lambda row: row["name"] == CANCELLED, seconds=20)
    assert told["entity"] == f"{worker['database']}.public.jobs"


@pytest.mark.server
@pytest.mark.parametrize("collects", [False, True], ids=["stderr", "collector"])
def test_a_crash_is_read_while_the_server_is_away(
    postgres_server: Callable[..., PostgresServer], *, collects: bool
) -> None:
    server = postgres_server(settings={"logging_collector": "on" if collects else "off"})
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        with server.connect() as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            crash = until(collector, "event", lambda row: row["kind"] == "process crashed", seconds=20)
    assert "was terminated by signal 9" in crash["text"]


@pytest.mark.server
def test_what_it_was_before_we_looked_is_not_read(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    with (server.folder / "log").open("a") as out:
        out.write(f"{PREFIX}LOG:  {CRASH}\n")
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        batches = [*collector.sample(), *collector.sample()]
    assert not [row for row in rows_of("event", batches) if row["kind"] == "process crashed"]


@pytest.mark.server
@pytest.mark.parametrize(
    "settings",
    [
        {"log_line_prefix": "%m [%p] %e "},
        {"log_line_prefix": "%e|%q%u@%d|"},
        {"log_error_verbosity": "verbose"},
        {"logging_collector": "on", "log_destination": "stderr,csvlog"},
        {"logging_collector": "on", "log_destination": "jsonlog"},
    ],
    ids=["prefix", "prefix without time", "verbose", "csvlog", "jsonlog"],
)
def test_the_sqlstate_of_an_error_in_whichever_log_tells_it(
    postgres_server: Callable[..., PostgresServer], settings: dict[str, str]
) -> None:
    server = postgres_server(settings=settings)
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        with server.connect() as session, pytest.raises(psycopg.errors.DivisionByZero):
            session.execute("SELECT 1 / 0")
        error = until(collector, "statistic", lambda row: row["name"] == "log.errors", seconds=20)
    assert error["entity"] == "ERROR 22012 division by zero"


@pytest.mark.server
def test_a_log_that_is_rotated_all_the_time_is_read_whole(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(
        settings={"logging_collector": "on", "log_rotation_size": "64kB", "log_statement": "all",
                  "log_filename": "postgresql-%H%M%S.log"}
    )  # fmt: skip
    with closing(ServerLog("postgresql")) as log, closing(link_to(server.dsn())) as link, server.connect() as client:
        link.open()
        log.find(link)
        lines, deadline = 0.0, time.monotonic() + 30
        for turn in range(100):
            for _ in range(400 if turn < 4 else 0):
                client.execute(f"SELECT {'1234567890' * 50}::numeric")
            time.sleep(1.1)
            log.find(link)
            rows = rows_of("statistic", log.read())
            lines += sum(row["value"] * row["interval_s"] for row in rows if row["name"] == "log.written_lines")
            if lines >= 1600 or time.monotonic() > deadline:
                break
    assert len(list((server.datadir / "log").iterdir())) > 3
    assert 1600 <= lines < 1800, "none lost, none twice, and some of our own"


@pytest.mark.server
def test_who_asks_for_wal_that_was_removed(postgres_server: Callable[..., PostgresServer]) -> None:
    small = {"min_wal_size": "32MB", "max_wal_size": "32MB", "log_line_prefix": "%m [%p] %e "}
    server = postgres_server(settings=small)
    with (server.datadir / "pg_hba.conf").open("a") as rules:
        rules.write("local replication all trust\n")
    server.execute("SELECT pg_reload_conf()")
    for _ in range(6):
        server.execute("CREATE TABLE IF NOT EXISTS t AS SELECT 1", "DROP TABLE t", "SELECT pg_switch_wal()")
        server.execute("CHECKPOINT")
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        standby = psycopg.pq.PGconn.connect(server.dsn(replication="true").encode())
        standby.exec_(b"START_REPLICATION PHYSICAL 0/1000000")
        with suppress(psycopg.Error):
            standby.get_copy_data(0)
        standby.finish()
        error = until(collector, "statistic", lambda row: row["name"] == "log.errors", seconds=20)
    assert error["entity"] == "ERROR 58P01 requested WAL segment ? has already been removed"
