"""Statements that wait for another server."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

PRICES = {
    "statement_id": "7",
    "text": "SELECT avg(factor) FROM tariffs WHERE net_price(factor) > $1",
    "calls_per_s": 3.0,
    "elapsed_s_per_s": 2.9,
    "rows_per_s": 3.0,
}
WAITS = {"wait_class": "Other", "event": "Extension", "wait_kind": "other", "statement_id": "7", "user": "app"}


def setting(component: str, name: str, value: str) -> dict[str, str]:
    return {"component": component, "db": DB, "name": f"bench.public.{name}", "value": value}


TARIFFS = setting("pg_foreign_table", "tariffs", "server tariff_hub (postgres_fdw)")


def found(*settings: dict[str, str], text: str = PRICES["text"], event: str = "Extension") -> dict[str, Finding]:  # type: ignore[assignment]
    sessions: list[dict[str, Any]] = [WAITS | {"event": event}] * 3
    dataset = host(sessions=sessions, statements=[PRICES | {"text": text}], extra={"setting": settings})
    return {finding.cause: finding for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("event", "confidence"), [("Extension", 0.85), ("PostgresFdwGetResult", 0.9)])
def test_a_foreign_table_that_is_waited_for(event: str, confidence: float) -> None:
    told = found(TARIFFS, event=event)
    finding = next(iter(told.values()))
    assert (finding.cause, finding.confidence, finding.severity) == (
        "foreign_server_waited_for",
        confidence,
        "critical",
    )
    assert said(finding.title).endswith("another server: tariff_hub (foreign table public.tariffs)")
    assert "fetched by 100 rows a round trip (fetch_size)" in [said(item.why) for item in finding.for_]
    assert "the other server" in finding.not_measured[0].what
    assert "other_waits" not in told


def test_its_own_fetch_size() -> None:
    own = TARIFFS | {"value": "server tariff_hub (postgres_fdw), fetch_size 5000"}
    assert any("5,000 rows" in said(item.why) for item in found(own)["foreign_server_waited_for"].for_)


def test_a_condition_that_its_plan_looks_at_here() -> None:
    node = {
        "db": DB, "database": "bench", "statement_id": "7", "step": 0, "kind": "Foreign Scan",
        "relation": "public.tariffs", "filter": "(public.net_price(tariffs.factor) > $1)",
    }  # fmt: skip
    dataset = host(sessions=[WAITS] * 3, statements=[PRICES], extra={"setting": [TARIFFS], "plan": [node]})
    finding = next(one for one in diagnose(dataset).findings if one.cause == "foreign_server_waited_for")
    assert said(finding.title).endswith("(foreign table public.tariffs), which is not sent the condition")
    assert said(finding.remedy[0]).startswith("First: have the condition on public.tariffs sent along")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ([setting("pg_rewrite", "prices", "public.tariffs")], "SELECT * FROM prices WHERE id = $1"),
        ([setting("pg_proc", "price_of", "public.tariffs")], "SELECT price_of($1)"),
    ],
    ids=["view", "function"],
)
def test_by_way_of_a_view_or_a_function(settings: list[dict[str, str]], text: str) -> None:
    assert "foreign_server_waited_for" in found(TARIFFS, *settings, text=text)


def test_dblink_has_no_table() -> None:
    finding = found(text="SELECT * FROM dblink($1, $2) AS t(id int)")["foreign_server_waited_for"]
    assert finding.confidence == 0.75
    assert said(finding.title).endswith("waiting for another server")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ([TARIFFS], "SELECT partition_maintenance($1)"),
        ([], PRICES["text"]),
        ([TARIFFS | {"name": "elsewhere.public.tariffs"}], PRICES["text"]),
    ],
    ids=["another extension", "no foreign table", "another database"],
)
def test_another_extensions_wait_stays_unexplained(settings: list[dict[str, str]], text: str) -> None:
    told = found(*settings, text=text)
    assert "foreign_server_waited_for" not in told
    assert "other_waits" in told
