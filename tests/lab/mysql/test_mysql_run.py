"""Runs of the lab on real MariaDB servers."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pymysql
import pytest

from doctord.lab.fault import all_faults
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.run import run
from mariadb_server import binary

pytestmark = pytest.mark.server
FAULTS = all_faults("mysql")


@pytest.fixture(autouse=True)
def mariadb() -> None:
    binary("mariadbd")


def test_the_healthy_run_reaches_its_pace_and_leaves_nothing_behind() -> None:
    seen: list[PrivateMySQL] = []

    def look(server: PrivateMySQL) -> None:
        seen.append(server)
        assert server.execute("SELECT @@innodb_flush_log_at_trx_commit") == [(1,)]
        time.sleep(2.5)

    outcome = run(FAULTS["none"], look, engine="mariadb")
    assert outcome.skipped is None
    assert outcome.during is not None
    assert 30 < outcome.during.tps < 140
    assert not seen[0].folder.exists()
    assert seen[0].process.poll() is not None


def test_nobody_but_the_lab_s_own_user_logs_in_without_a_password() -> None:
    def look(server: PrivateMySQL) -> None:
        for user, place in (("app", {"unix_socket": str(server.socket)}), ("root", {"host": "127.0.0.1"})):
            with pytest.raises(pymysql.Error):
                pymysql.connect(user=user, port=server.port, **place)

    run(FAULTS["none"], look, engine="mariadb")


def test_settings_of_a_run_come_before_the_fault_s_own() -> None:
    def look(server: PrivateMySQL) -> list[tuple[object, ...]]:
        return server.execute("SELECT @@performance_schema, @@max_connections")

    settings = {"performance_schema": "ON", "max_connections": "50"}
    outcome = run(FAULTS["connections_exhausted"], look, engine="mariadb", settings=settings)
    assert outcome.seen == [(1, 20)]


def test_the_check_up_names_the_injected_fault_first() -> None:
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", "row_lock_convoy", "--engine", "mariadb"]
    command += ["--for", "5s", "--intensity", "severe", "--diagnose", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(ended.stdout)
    assert (document["first_cause"], document["correct"], document["skipped"]) == ("row_locks", True, None)


def test_what_postgresql_does_not_have_is_refused() -> None:
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", "none", "--performance-schema"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, "PostgreSQL has no performance_schema" in ended.stderr) == (2, True)


def test_a_figure_of_a_server_that_is_gone_is_null() -> None:
    seen: list[PrivateMySQL] = []
    run(FAULTS["none"], seen.append, engine="mariadb")
    assert seen[0].figure("SHOW GLOBAL STATUS LIKE 'Uptime'") is None


def test_a_name_of_another_engine_is_refused_with_where_to_look() -> None:
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", "jit_everything", "--engine", "mysql"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "doctord lab list --engine mysql" in ended.stderr
