"""Writes that are refused in read-only transactions, and what is known of why."""

from collections.abc import Mapping
from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.dataset.role_settings import COMPONENT, Scope
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

CAUSE = "writes_in_read_only_transactions"
SETTING = "default_transaction_read_only"
REFUSED = "ERROR 25006 cannot execute UPDATE in a read-only transaction"
SHOP = f"{REFUSED} | user shop, database shop, application web"


def seen(
    per_s: float = 40.0,
    *,
    server: str | None = "off",
    scopes: Mapping[Scope, str] | None = None,
    figures: Mapping[tuple[str | None, str], float] | None = None,
    **more: Any,
) -> Dataset:
    """A server on which 100 transactions a second are committed, and so many fail."""
    common: dict[str, Any] = {"kind": "rate", "component": "postgresql", "db": DB}
    told = [
        {**common, "name": "log.messages", "entity": "ERROR", "value": per_s},
        {**common, "name": "log.errors", "entity": REFUSED, "value": per_s},
        {**common, "name": "log.errors_from", "entity": SHOP, "value": per_s},
    ]
    counted = {("shop", "pg_stat_database.xact_commit"): 100.0, ("shop", "pg_stat_database.xact_rollback"): per_s}
    rows = [
        {"component": COMPONENT, "db": DB, "name": scope.text, "value": value}
        for scope, value in (scopes or {}).items()
    ]
    return host(
        postgres={**counted, **(figures or {})},
        settings={} if server is None else {SETTING: server},
        extra={"statistic": told, "setting": rows},
        **more,
    )


def found(dataset: Dataset) -> Finding | None:
    return next((one for one in diagnose(dataset).findings if one.cause == CAUSE), None)


def title(dataset: Dataset) -> str:
    finding = found(dataset)
    assert finding
    return said(finding.title)


@pytest.mark.parametrize(
    ("per_s", "severity"), [(150.0, "critical"), (40.0, "warning"), (2.0, "warning"), (0.8, "note"), (0.1, None)]
)
def test_by_the_part_that_fails_and_by_the_rate(per_s: float, severity: str | None) -> None:
    finding = found(seen(per_s))
    assert (finding and finding.severity) == severity


def test_without_any_setting_it_is_the_sessions_own() -> None:
    finding = found(seen(figures={("shop", "pg_stat_database.tup_updated"): 12.0}))
    assert finding
    assert "which their own sessions set" in said(finding.title)
    assert said(finding.remedy[0]).startswith("No setting of the server, a database or a role")
    assert "user shop, database shop, application web (800)" in [said(one.figure) for one in finding.for_]
    assert said(finding.against[0].figure) == "12 rows per s written"


def test_what_is_set_is_named() -> None:
    assert f"{SETTING} = on for all" in title(seen(server="on"))
    assert "set for role shop" in title(seen(scopes={Scope("shop", None, SETTING): "on"}))
    assert "which their own" in title(seen(scopes={Scope("shop", None, SETTING): "off"}))
    assert "on a standby" in title(seen(figures={(None, "pg_is_in_recovery"): 1.0}))


def test_where_no_setting_is_known_nothing_is_said_of_why() -> None:
    finding = found(seen(server=None))
    assert finding
    assert said(finding.title).startswith(f"Writes of {DB} fail in read-only transactions: 800 times")
    assert finding.confidence < 0.9


def test_it_explains_what_the_errors_look_like() -> None:
    causes = {finding.cause: finding.explained_by for finding in diagnose(seen(150.0)).findings}
    assert {causes[name] for name in causes if name != CAUSE} <= {CAUSE}
