"""Crashes and starts of MySQL and MariaDB, as their error log tells them: of a file, and live."""

import signal
from pathlib import Path

import pytest

from checkups import checkup_during
from diagnose.mysql_servers import DB, found, mysql
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said
from mariadb_server import running_mariadb

MARIADB = {
    "starts": ["2026-11-28  {} 0 [Note] Starting MariaDB 10.11.19-MariaDB source revision 58 as process 24248"],
    "recovers": ["2026-11-28  {} 0 [Note] InnoDB: Starting crash recovery from checkpoint LSN=44878"],
    "ready": ["2026-11-28  {} 0 [Note] /usr/sbin/mariadbd: ready for connections.",
              "Version: '10.11.19-MariaDB'  socket: '/s'  port: 3306  Debian 12"],
    "signal": ["261128  {} [ERROR] /usr/sbin/mariadbd got signal 11 ;", "Sorry, we probably made a mistake.", ""],
    "stops": ["2026-11-28  {} 0 [Note] /usr/sbin/mariadbd (initiated by: unknown): Normal shutdown",
              "2026-11-28  {} 0 [Note] /usr/sbin/mariadbd: Shutdown complete"],
}  # fmt: skip
MYSQL = {
    "starts": ["2026-11-28T0{}.536041Z 0 [System] [MY-010116] [Server] mysqld (mysqld 8.0.33) starting as process 25"],
    "recovers": ["2026-11-28T0{}.552425Z 0 [System] [MY-010229] [Server] Starting XA crash recovery..."],
    "ready": ["2026-11-28T0{}.736290Z 0 [System] [MY-010931] [Server] mysqld: ready for connections. "
              "Version: '8.0.33'  socket: '/s'  port: 3306  MySQL Community Server - GPL."],
    "signal": ["2026-11-28T0{}Z UTC - mysqld got signal 11 ;", "Most likely, you have hit a bug", ""],
    "stops": ["2026-11-28T0{}.743137Z 0 [System] [MY-013172] [Server] Received SHUTDOWN from user <via user signal>.",
              "2026-11-28T0{}.832066Z 0 [System] [MY-010910] [Server] mysqld: Shutdown complete (mysqld 8.0.33)"],
}  # fmt: skip


def logged(path: Path, words: dict[str, list[str]], *happened: str) -> list[Finding]:
    """What is found of restarts in a log of these things, four seconds from one to the next."""
    text = ""
    for number, what in enumerate(happened):
        moment = f"9:{number * 4 // 60:02}:{number * 4 % 60:02}"
        text += "".join(f"{line.format(moment)}\n" for line in words[what])
    path.write_text(text)
    return restarts_in(path)


def restarts_in(log: Path) -> list[Finding]:
    findings = diagnose(Dataset.from_batches(read_file(log, zone="UTC").batches)).findings
    return [finding for finding in findings if finding.cause == "server_restarted"]


@pytest.mark.parametrize("words", [MARIADB, MYSQL], ids=["MariaDB", "MySQL"])
def test_a_start_is_one_whatever_is_said_about_it(tmp_path: Path, words: dict[str, list[str]]) -> None:
    [finding] = logged(tmp_path / "error.log", words, "starts", "ready", "stops")
    assert (said(finding.title), finding.severity) == (f"{DB} was started again 1 time", "note")
    [finding] = logged(tmp_path / "error.log", words, "starts", "ready", "stops", "starts", "ready")
    assert said(finding.title) == f"{DB} was started again 2 times"


@pytest.mark.parametrize("words", [MARIADB, MYSQL], ids=["MariaDB", "MySQL"])
@pytest.mark.parametrize(
    ("ends", "remedy"), [(["signal"], "the stack and the statement"), ([], "it recovers, and its log says of no end")]
)
def test_a_start_that_has_to_recover_follows_a_crash(
    tmp_path: Path, words: dict[str, list[str]], ends: list[str], remedy: str
) -> None:
    crashed, started = logged(
        tmp_path / "error.log", words, "starts", "ready", *ends, "starts", "recovers", "ready", "stops"
    )
    assert (said(crashed.title), crashed.severity) == (f"{DB} crashed: all sessions were ended", "critical")
    assert remedy in said(crashed.remedy[0])
    assert not crashed.not_measured
    assert said(started.title) == f"{DB} was started again 1 time", "before it"


def test_a_server_that_crashes_again_and_again(tmp_path: Path) -> None:
    crashed, *_ = logged(tmp_path / "error.log", MARIADB, *["starts", "recovers", "signal"] * 3)
    assert said(crashed.title) == "mysql crashed 3 times: all sessions were ended"


def test_what_no_log_tells_is_a_start_as_before() -> None:
    dataset = mysql(events=[{"kind": "restart", "text": "the counters fell: the server was restarted"}])
    assert said(found(dataset)["server_restarted"].title) == f"{DB} was started again 1 time"


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize(("how", "told"), [(signal.SIGKILL, "crash recovery"), (signal.SIGSEGV, "got signal 11")])
def test_a_live_server_that_ends_and_comes_back_is_told_as_its_log_is_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: signal.Signals, told: str
) -> None:
    monkeypatch.setenv("MYSQL_PWD", "open sesame")
    with running_mariadb() as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (a int)")

        def is_looking() -> bool:
            return bool(server.execute("SELECT 1 FROM information_schema.processlist WHERE user = 'doctord'"))

        def crashes() -> None:
            server.execute("INSERT INTO shop.t VALUES (1)")
            server.stop(how)
            server.start()

        dsn = f"mysql://doctord@127.0.0.1:{server.port}"
        _, verdict = checkup_during(dsn, is_looking, crashes, 25)
        (tmp_path / "error.log").write_text(server.log)
    [finding] = [one for one in verdict["findings"] if one["cause"] == "server_restarted"]
    assert finding["title"] == f"mysql:{server.port} crashed: all sessions were ended"
    assert told in str(finding["for"])
    assert finding["title"] in map(said, (one.title for one in restarts_in(tmp_path / "error.log")))
