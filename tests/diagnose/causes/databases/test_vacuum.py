"""Dead rows, what keeps them, and transaction ids."""

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

OLD = {"state": "idle in transaction", "transaction_s": 4000.0, "xmin_age": 900_000, "user": "app"}
TABLE = {"db": DB, "database": "bench", "kind": "table", "name": "public.orders"}
BLOATED = TABLE | {"used_bytes": 2**30, "live_rows": 1_000_000, "dead_rows": 700_000}


def test_an_old_transaction_holds_vacuum_back_and_explains_the_bloat() -> None:
    found = diagnose(host(sessions=[OLD], extra={"space": [BLOATED]})).findings
    assert [finding.cause for finding in found] == ["vacuum_held_back", "bloat"]
    assert found[1].explained_by == "vacuum_held_back"
    assert "session 7000" in said(found[0].title)


def test_a_forgotten_slot() -> None:
    slot = {("standby2", "pg_replication_slots.catalog_xmin_age"): 5e6}
    finding = diagnose(host(postgres=slot)).findings[0]
    assert "slot standby2" in said(finding.title)
    assert finding.against, "no dead rows were seen: it does no harm yet"


def test_bloat_alone() -> None:
    finding = diagnose(host(extra={"space": [BLOATED]})).findings[0]
    assert (finding.cause, finding.impact.share) == ("bloat", None)
    assert "41 %" in said(finding.title)


def test_dead_rows_that_were_not_counted_are_not_bloat() -> None:
    assert diagnose(host(extra={"space": [BLOATED | {"dead_rows": None}]})).healthy


def test_transaction_ids_run_out() -> None:
    age = {("bench", "pg_database.datfrozenxid_age"): 1.6e9, (None, "pg_stat_database.xact_commit"): 100.0}
    finding = diagnose(host(postgres=age)).findings[0]
    assert finding.cause == "transaction_id_age"
    assert "bench" in said(finding.title)
    assert "63 days" in said(finding.for_[0].why)


def test_a_normal_age_is_healthy() -> None:
    assert diagnose(host(postgres={("bench", "pg_database.datfrozenxid_age"): 2.1e8})).healthy
