"""Transaction ids and multixacts that run out, and what holds the oldest."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

Figures = dict[tuple[str | None, str], float]
AGE = "pg_database.datfrozenxid_age"
OLDEST = "pg_class.oldest_relfrozenxid_age"
HUNDRED_A_SECOND: Figures = {(None, "pg_current_snapshot.xmax"): 100.0}
NEARLY: Figures = {("bench", AGE): 2.1444e9} | HUNDRED_A_SECOND


def old(kind: str | None = None, figures: Figures | None = None, **changes: Any) -> Dataset:
    """A host whose database bench grows old, and the kind of its relation public.orders, which is as old."""
    ages = NEARLY | ({("bench.public.orders", OLDEST): 2.1444e9} if kind else {}) | (figures or {})
    setting = {"component": "pg_class", "db": DB, "name": "bench.public.orders", "value": kind}
    return host(postgres=ages, extra={"setting": [setting]} if kind else {}, **changes)


def found(dataset: Dataset) -> Finding:
    first = diagnose(dataset).findings[0]
    assert first.cause == "transaction_id_age"
    return first


@pytest.mark.parametrize(
    ("age", "per_s", "severity"),
    [
        (2.1e8, 100.0, None),
        (9.9e8, 100.0, None),
        (1.6e9, 100.0, "warning"),
        (1.6e9, None, "warning"),
        (1.6e9, 10_000.0, "critical"),
        (2.11e9, 0.0, "critical"),
        (9e8, 5000.0, "warning"),
        (2.1e8, 5000.0, None),
    ],
    ids=["healthy", "not yet", "two months", "rate unknown", "a day", "the server warns", "days", "autovacuum's age"],
)
def test_how_many_are_left_and_how_long(age: float, per_s: float | None, severity: str | None) -> None:
    figures: Figures = {("bench", AGE): age}
    if per_s is not None:
        figures |= {(None, "pg_current_snapshot.xmax"): per_s}
    findings = [(one.cause, one.severity) for one in diagnose(host(postgres=figures)).findings]
    assert findings == ([("transaction_id_age", severity)] if severity else [])


def test_the_time_that_is_left() -> None:
    finding = found(old())
    assert (
        said(finding.title) == "In 13 min 56 s all that write are refused: database bench has 83,648 transactions left"
    )
    assert finding.severity == "critical"
    assert "at today's 100.0 transaction ids per second" in said(finding.for_[0].why)
    assert [item.what for item in finding.not_measured] == ["which relation is the oldest, and who holds it"]


def test_commits_where_ids_were_not_counted() -> None:
    ages: Figures = {("bench", AGE): 1.6e9, (None, "pg_stat_database.xact_commit"): 10_000.0}
    finding = found(host(postgres=ages))
    assert finding.severity == "warning"  # not all of them take one
    assert "at the least 1 days at today's commits per second" in said(finding.for_[0].why)


def test_nothing_is_left() -> None:
    finding = found(host(postgres={("bench", AGE): 2**31 - 2.9e6}))
    assert said(finding.title) == "Database bench has no transaction ids left: what writes is refused"


def test_the_session_of_a_temporary_table_is_ended_and_not_vacuumed() -> None:
    finding = found(old("temporary table, oid 16400, of session 4711 (app reports)"))
    assert "temporary table public.orders of session 4711 (app reports) holds it" in said(finding.title)
    assert "pg_terminate_backend(4711)" in said(finding.remedy[0])
    assert not finding.not_measured


def test_a_temporary_table_of_a_session_that_is_not_told() -> None:
    finding = found(old("temporary table, oid 16400"))
    assert "of a session that is not known holds it" in said(finding.title)
    assert [item.what for item in finding.not_measured] == ["whose session the temporary table is"]


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({"sessions": [{"state": "idle in transaction", "transaction_s": 9e5, "xmin_age": 2_100_000_000}]},
         "session 7000 of app app (idle in transaction)"),
        ({"figures": {("standby2", "pg_replication_slots.xmin_age"): 2.1e9}}, "replication slot standby2"),
        ({"figures": {("order-17", "pg_prepared_xacts.age_s"): 9e5, ("order-17", "pg_prepared_xacts.xid_age"): 2.1e9}},
         "prepared transaction order-17 that nobody finished"),
    ],
    ids=["session", "slot", "prepared"],
)  # fmt: skip
def test_an_old_snapshot_holds_it(changes: dict[str, Any], who: str) -> None:
    told = {one.cause: one for one in diagnose(old("table, oid 16400", **changes)).findings}
    finding = told["transaction_id_age"]
    assert said(finding.title).endswith(f"; {who} holds it")
    assert said(finding.remedy[0]).startswith(f"First: end {who}")
    assert "VACUUM public.orders" in said(finding.remedy[1])


@pytest.mark.parametrize(
    "holder",
    [{("cdc", "pg_replication_slots.catalog_xmin_age"): 2.1e9}, {("new", "pg_replication_slots.xmin_age"): 9e8}],
    ids=["of catalogues alone", "too young"],
)
def test_what_does_not_hold_it(holder: Figures) -> None:
    told = {one.cause: one for one in diagnose(old("table, oid 16400", holder)).findings}
    assert said(told["transaction_id_age"].title).endswith("; no vacuum has come to public.orders")


def test_autovacuum_that_is_off_is_said() -> None:
    finding = {one.cause: one for one in diagnose(old("table, oid 1", settings={"autovacuum": "off"})).findings}
    assert "autovacuum = off" in [said(item.figure) for item in finding["transaction_id_age"].for_]


def test_a_vacuum_that_makes_progress_speaks_against_it() -> None:
    progress: Figures = {
        ("bench 16400", "pg_stat_progress_vacuum.heap_blks_scanned"): 25.0,
        ("bench 16400", "pg_stat_progress_vacuum.heap_blks_total"): 100.0,
    }
    assert [said(item.figure) for item in found(old("table, oid 16400", progress)).against] == [
        "25 % of public.orders is vacuumed"
    ]
    assert not found(old("table, oid 9", progress)).against


@pytest.mark.parametrize(("progress", "severity"), [({}, "critical"), (None, "warning")], ids=["none", "it is at it"])
def test_a_server_at_full_throttle_whose_oldest_table_is_being_vacuumed(progress: Any, severity: str) -> None:
    """50,000 transaction ids a second: eleven hours are left, and the vacuum that was forced is at work."""
    at_work: Figures = {
        ("bench 16400", "pg_stat_progress_vacuum.heap_blks_scanned"): 25.0,
        ("bench 16400", "pg_stat_progress_vacuum.heap_blks_total"): 100.0,
    }
    ages: Figures = {("bench", AGE): 6e8, ("bench.public.orders", OLDEST): 6e8}
    rate: Figures = {(None, "pg_current_snapshot.xmax"): 40_000.0}
    dataset = old("table, oid 16400", ages | rate | (at_work if progress is None else progress))
    assert found(dataset).severity == severity


def test_each_server_has_its_own_numbers() -> None:
    other = {"component": "postgresql", "db": "postgresql:5433", "entity": "shop", "name": AGE, "value": 2.12e9}
    multixacts = [other | {"name": "pg_database.datminmxid_age", "db": db, "value": 1.2e9} for db in (DB, other["db"])]
    findings = diagnose(host(postgres=NEARLY, extra={"statistic": [other, *multixacts]})).findings
    assert {(one.cause, one.database) for one in findings} == {
        (cause, db) for cause in ("transaction_id_age", "multixact_age") for db in (DB, "postgresql:5433")
    }


def test_a_database_older_than_its_relations() -> None:
    finding = found(old("table, oid 16400", {("bench.public.orders", OLDEST): 1e6}))
    assert said(finding.title).endswith("transactions left")
    assert "younger than the database" in [said(item.why) for item in finding.for_]


@pytest.mark.parametrize(("age", "severity"), [(4e8, None), (1.2e9, "warning"), (2.146e9, "critical")])
def test_the_age_of_multixacts(age: float, severity: str | None) -> None:
    ages: Figures = {("shop", "pg_database.datminmxid_age"): age, ("shop", AGE): 1e8}
    findings = [(finding.cause, finding.severity) for finding in diagnose(host(postgres=ages)).findings]
    assert findings == ([("multixact_age", severity)] if severity else [])


def test_what_holds_the_oldest_multixact() -> None:
    ages: Figures = {
        ("bench", "pg_database.datminmxid_age"): 1.2e9,
        ("bench.pg_temp_3.scratch", "pg_class.oldest_relminmxid_age"): 1.2e9,
    }
    setting = {
        "component": "pg_class",
        "db": DB,
        "name": "bench.pg_temp_3.scratch",
        "value": "temporary table, oid 16400, of session 4711 (app reports)",
    }
    finding = diagnose(host(postgres=ages, extra={"setting": [setting]})).findings[0]
    assert "of session 4711 (app reports) holds it" in said(finding.title)
