"""The lock table that is full, and who fills it."""

from typing import Any

import pytest

from diagnose.causes.service.test_failing import failing
from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

Figures = dict[tuple[str | None, str], float]
SETTINGS = {"max_locks_per_transaction": "64", "max_connections": "100", "max_prepared_transactions": "0"}
FAILS = {"ERROR 53200 out of shared memory": 8.0}
LEAK: Figures = {
    (None, "pg_locks.objects"): 6900.0,
    ("advisory", "pg_locks.entries"): 6850.0,
    ("relation", "pg_locks.entries"): 60.0,
    ("advisory, session 4711 (app loader)", "pg_locks.held"): 6800.0,
}
PARTITIONS: Figures = {
    (None, "pg_locks.objects"): 6900.0,
    ("relation", "pg_locks.entries"): 9000.0,
    **{(f"relation, session {4700 + n} (app web)", "pg_locks.held"): 400.0 for n in range(3)},
}


def full(figures: Figures | None = None, errors: dict[str, float] | None = None, **more: Any) -> Finding | None:
    dataset = failing(FAILS if errors is None else errors, postgres=figures or {}, settings=SETTINGS, **more)
    found = [one for one in diagnose(dataset).findings if one.cause == "lock_table_full"]
    return found[0] if found else None


def test_a_session_that_leaks_advisory_locks_is_named() -> None:
    finding = full(LEAK)
    assert finding
    assert said(finding.title) == (
        f"The lock table of {DB} is full: statements failed 160 times; session 4711 (app loader) holds most of it "
        "(advisory locks)"
    )
    assert finding.confidence == 0.95
    assert "pg_terminate_backend(4711)" in said(finding.remedy[0])
    assert "pg_advisory_xact_lock" in said(finding.remedy[1])
    assert "max_locks_per_transaction" in said(finding.remedy[2])
    assert not finding.not_measured


def test_many_sessions_over_many_partitions() -> None:
    finding = full(PARTITIONS)
    assert finding
    assert said(finding.title).endswith("statements failed 160 times")
    assert said(finding.remedy[0]).startswith("Have transactions lock fewer tables")


def test_prepared_transactions_that_hold_them() -> None:
    held: Figures = {("relation, prepared transactions", "pg_locks.held"): 8000.0}
    finding = full({k: v for k, v in PARTITIONS.items() if "held" not in k[1]} | held)
    assert finding
    assert "ROLLBACK PREPARED" in said(finding.remedy[0])


@pytest.mark.parametrize("figures", [{}, {(None, "pg_locks.objects"): 300.0}], ids=["not looked at", "room then"])
def test_who_filled_it_is_not_known(figures: Figures) -> None:
    finding = full(figures)
    assert finding
    assert finding.confidence == 0.85
    assert [item.what for item in finding.not_measured] == ["who filled the lock table"]
    assert [item.why for item in finding.against] == (["there was room at the moments that were looked at"] if figures
                                                      else [])  # fmt: skip


def test_logins_that_fail_so_are_told() -> None:
    finding = full(LEAK, {**FAILS, "FATAL 53200 out of shared memory": 1.0})
    assert finding
    assert "new sessions are turned away" in [item.why for item in finding.for_]


@pytest.mark.parametrize(
    ("objects", "severity", "share"),
    [(300.0, None, ""), (5000.0, None, ""), (6000.0, "note", "94 %"), (6900.0, "warning", "108 %")],
)
def test_nearly_full_before_anything_fails(objects: float, severity: str | None, share: str) -> None:
    finding = full(LEAK | {(None, "pg_locks.objects"): objects}, {})
    assert (finding and finding.severity) == severity
    if finding:
        assert finding.impact.share is None
        assert said(finding.title).startswith(f"{share} of the lock table of {DB} is taken")


def test_a_small_server_has_room_for_its_own_processes_too() -> None:
    """64 for each of 20 sessions and of 3 + 8 + 10 processes: a dump of 1,500 tables is no more than half of it."""
    own = {"max_connections": "20", "autovacuum_max_workers": "3", "max_worker_processes": "8", "max_wal_senders": "10"}
    dataset = host(postgres=LEAK | {(None, "pg_locks.objects"): 1500.0}, settings=SETTINGS | own)
    assert "lock_table_full" not in [one.cause for one in diagnose(dataset).findings]


def test_without_the_settings_nothing_is_near() -> None:
    assert diagnose(host(postgres=LEAK)).healthy
