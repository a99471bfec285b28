"""Replay that is paused: by a setting that is lower than the primary's, at a recovery target, by somebody."""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from checkups import checkup
from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

PAUSED = (None, "pg_is_wal_replay_paused")
PRIMARY_HAS = ("max_connections", "log.primary_setting")
OWN = {"max_connections": "20", "max_worker_processes": "8", "server_version_num": "160004"}


def found(figures: dict[tuple[str | None, str], float], **settings: str) -> list[Finding]:
    return list(diagnose(host(postgres=figures, settings=OWN | settings)).findings)


def steps(finding: Finding) -> str:
    return " ".join(map(said, finding.remedy))


def test_a_setting_that_is_lower_than_the_primarys_is_named_with_both_values() -> None:
    [finding] = found({PAUSED: 1.0, PRIMARY_HAS: 100.0})
    assert (finding.cause, finding.severity) == ("standby_stands_still", "warning")
    assert said(finding.title) == (
        f"Replay is paused on standby {DB}: max_connections = 20 is lower than the primary's 100"
    )
    assert said(finding.remedy[0]).startswith("Do not call pg_wal_replay_resume(): it would shut this standby down.")
    assert "max_locks_per_transaction" in said(finding.remedy[1])


def test_one_that_was_raised_meanwhile_is_not_why() -> None:
    [finding] = found({PAUSED: 1.0, PRIMARY_HAS: 100.0}, max_connections="200")
    assert said(finding.title) == f"Replay is paused on standby {DB}"


def test_what_another_standbys_log_tells_is_not_why() -> None:
    dataset = host(postgres={PAUSED: 1.0}, settings=OWN)
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    other = {"ts": START, "host": "host", "component": "postgresql", "db": "postgresql:5433", "kind": "gauge",
             "name": PRIMARY_HAS[1], "entity": PRIMARY_HAS[0], "value": 100.0}  # fmt: skip
    [finding] = diagnose(Dataset.from_rows(**tables | {"statistic": [*tables["statistic"], other]})).findings
    assert said(finding.title) == f"Replay is paused on standby {DB}"


def test_at_a_recovery_target_to_resume_is_to_end_the_recovery() -> None:
    [finding] = found({PAUSED: 1.0}, recovery_target_time="2026-11-19 12:00:00", recovery_target_action="pause")
    assert said(finding.title) == f"Recovery of {DB} is paused, and has a target: recovery_target_time"
    assert "becomes a primary of its own" in steps(finding)
    assert finding.against


def test_where_nobody_knows_why_the_settings_are_compared_first() -> None:
    [finding] = found({PAUSED: 1.0})
    assert said(finding.remedy[0]).startswith("First look into its log")
    assert said(finding.remedy[1]).endswith("then select pg_wal_replay_resume().")
    assert "max_connections = 20, max_worker_processes = 8" in said(finding.against[0].figure)


def test_version_13_does_not_pause_by_itself() -> None:
    [finding] = found({PAUSED: 1.0}, server_version_num="130023")
    assert "shut" not in steps(finding)


@pytest.mark.parametrize(("since", "is_found"), [(0, True), (3000, True), (3570, False), (4000, False)])
def test_a_pause_that_began_in_the_middle_of_a_recording(since: int, *, is_found: bool) -> None:
    rows: list[dict[str, Any]] = [
        {"ts": START + timedelta(seconds=second), "host": "host", "component": "postgresql", "db": DB, "kind": "gauge",
         "name": PAUSED[1], "value": float(second >= since)}
        for second in range(0, 3601, 5)
    ]  # fmt: skip
    dataset = host(seconds=3600, cpus=0)
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    told = diagnose(Dataset.from_rows(**tables | {"statistic": [*tables["statistic"], *rows]})).findings
    assert [one.cause for one in told] == ["standby_stands_still"] * is_found


def _standby_of(primary: PostgresServer, standby: PostgresServer) -> None:
    """Make a standby of another server, by a copy at rest."""
    primary.stop()
    standby.stop()
    own = (standby.datadir / "postgresql.conf").read_text()
    subprocess.run(["cp", "-a", f"{primary.datadir}/.", standby.datadir], check=True)
    (standby.datadir / "postgresql.conf").write_text(
        f"{own}primary_conninfo = 'host=127.0.0.1 port={primary.port} user=postgres'\n"
        "wal_retrieve_retry_interval = '200ms'\n"
    )
    (standby.datadir / "standby.signal").touch()
    primary.start()
    standby.start()


@pytest.mark.server
@pytest.mark.slow
def test_live_a_primary_that_got_more_connections(postgres_server: Callable[..., PostgresServer]) -> None:
    hba = "local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"
    primary = postgres_server(settings={"max_connections": 20}, hba=hba)
    standby = postgres_server(settings={"max_connections": 20}, hba=hba)
    _standby_of(primary, standby)
    primary.execute("ALTER SYSTEM SET max_connections = 60")
    primary.stop()
    primary.start()
    until = time.monotonic() + 60
    while standby.execute("SELECT pg_get_wal_replay_pause_state()") != [("paused",)]:
        assert time.monotonic() < until, standby.log
        time.sleep(0.2)
    _, verdict = checkup(standby.dsn(), 6)
    told = {finding["cause"]: finding["title"] for finding in verdict["findings"]}
    assert told["standby_stands_still"].endswith("max_connections = 20 is lower than the primary's 60")
    with suppress(psycopg.OperationalError):  # it may be gone before it has answered
        standby.execute("SELECT pg_wal_replay_resume()")
    assert standby.process is not None
    assert standby.process.wait(timeout=60) != 0, "as the remedy warns of"
