"""Published tables of which changes are refused."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from checkups import checkup
from diagnose.hosts import DB, host
from doctord.analyse.sql.publications import CHANGES
from doctord.dataset.dataset import Dataset
from doctord.dataset.publications import COMPONENT
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

CAUSE = "replica_identity_missing"
STOCK = "shop.public.stock"
PUBLISHED = {STOCK: "everything: UPDATE and DELETE"}
REFUSED = 'ERROR 55000 cannot update table "stock" because it does not have a replica identity and publishes updates'


def seen(
    published: Mapping[str, str | None] = PUBLISHED,
    changes: Mapping[str, float] = {STOCK: 20.0},
    errors: Mapping[str, float] | None = None,
) -> Dataset:
    """A healthy host with such tables, and errors a second in its log, of 500 transactions."""
    rows = [{"component": COMPONENT, "db": DB, "name": name, "value": value} for name, value in published.items()]
    counted: dict[tuple[str | None, str], float] = {(name, CHANGES): value for name, value in changes.items()}
    counted[("shop", "pg_stat_database.xact_commit")] = 500.0
    counted[("shop", "pg_stat_database.xact_rollback")] = sum((errors or {}).values())
    common: dict[str, Any] = {"kind": "rate", "component": "postgresql", "db": DB}
    logged = [
        {**common, "name": "log.errors", "entity": name, "value": value} for name, value in (errors or {}).items()
    ]
    read = {**common, "name": "log.messages", "entity": "ERROR", "value": sum((errors or {}).values())}
    return host(postgres=counted, extra={"setting": rows, "statistic": [read, *logged]})


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_changes_that_are_refused_are_critical_however_much_else_is_done() -> None:
    told = found(seen(errors={REFUSED: 10.0}))
    finding = told[CAUSE]
    assert finding.severity == "critical"
    assert said(finding.title).startswith('cannot update table "stock" because it does not have a replica identity')
    assert f"{STOCK}: published by everything: UPDATE and DELETE" in [said(one.figure) for one in finding.for_]
    assert said(finding.remedy[0]).startswith("ALTER TABLE public.stock REPLICA IDENTITY FULL")
    assert told["transactions_fail"].explained_by == CAUSE


def test_the_errors_alone_tell_it() -> None:
    assert found(seen({}, {}, {REFUSED: 10.0}))[CAUSE].severity == "critical"


def test_it_explains_no_errors_that_are_most_of_another_kind() -> None:
    told = found(seen(errors={REFUSED: 10.0, 'ERROR 42P01 relation "t" does not exist': 90.0}))
    assert told["transactions_fail"].explained_by is None


def test_a_table_that_was_changed_before_is_a_warning() -> None:
    finding = found(seen())[CAUSE]
    assert (finding.severity, finding.impact.known) == ("warning", "none_yet")
    assert said(finding.title).startswith(f"UPDATE or DELETE of {STOCK} will fail")


@pytest.mark.parametrize("changes", [{}, {STOCK: 0.0}], ids=["not counted", "none"])
def test_a_table_that_is_only_added_to_is_a_note(changes: dict[str, float]) -> None:
    dataset = seen(changes=changes)
    assert (found(dataset)[CAUSE].severity, len(found(dataset)[CAUSE].against)) == ("note", len(changes))
    assert diagnose(dataset).healthy


def test_what_was_mended_is_silent() -> None:
    assert CAUSE not in found(seen({STOCK: None}, {}))
    assert CAUSE not in found(seen({}, {}))


@pytest.mark.server
@pytest.mark.slow
def test_live_a_table_that_is_published_without_an_identity(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.execute(
        "CREATE TABLE stock (item int, amount int)",
        "INSERT INTO stock VALUES (1, 1)",
        "UPDATE stock SET amount = 2",
        "CREATE PUBLICATION everything FOR ALL TABLES",
    )
    [finding] = [one for one in checkup(server.dsn())[1]["findings"] if one["cause"] == CAUSE]
    assert "public.stock" in finding["title"]
    server.execute("ALTER TABLE stock ADD PRIMARY KEY (item)")
    assert CAUSE not in [one["cause"] for one in checkup(server.dsn())[1]["findings"]]
