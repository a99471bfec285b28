"""Collations whose version changed below their indexes."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from checkups import checkup
from diagnose.hosts import DB, host
from doctord.analyse.sql.collations import INDEX_BYTES, INDEXES, LARGEST, UNIQUE
from doctord.dataset import collations
from doctord.dataset.collations import Versions, name_of
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

CAUSE = "collation_version_changed"
SHOP = name_of("shop")
CHANGED = {SHOP: Versions("2.31", "2.36")}
SORTED = {
    (SHOP, INDEXES): 14.0,
    (SHOP, UNIQUE): 3.0,
    (SHOP, INDEX_BYTES): 2e9,
    ("shop.public.name_key on public.customer", LARGEST): 1e9,
    ("other.public.key on public.t", LARGEST): 1e9,
}
WARNING = 'WARNING 01000 database "shop" has a collation version mismatch'


def seen(
    versions: Mapping[str, Versions] = CHANGED, figures: Mapping[tuple[str | None, str], float] = SORTED
) -> Dataset:
    """A healthy host with such collations."""
    common: dict[str, Any] = {"component": collations.COMPONENT, "db": DB}
    rows = [{**common, "name": name, "value": both.text} for name, both in versions.items()]
    return host(postgres={(None, "pg_collation.versions_compared"): 3.0, **figures}, extra={"setting": rows})


def found(dataset: Dataset) -> list[Finding]:
    return [finding for finding in diagnose(dataset).findings if finding.cause == CAUSE]


def test_indexes_that_are_sorted_by_other_rules_are_critical() -> None:
    [finding] = found(seen())
    assert finding.severity == "critical"
    assert said(finding.title) == (
        "The collation of database shop changed from version 2.31 to 2.36: 14 indexes may give wrong answers"
    )
    figures = [said(one.figure) for one in finding.for_]
    assert figures[1:] == ["14 indexes sorted by it, 1.9 GiB", "shop.public.name_key on public.customer: 954 MiB"]
    assert "3 of them unique" in said(finding.for_[1].why)


def test_the_remedy_checks_then_builds_and_only_then_records_the_version() -> None:
    [finding] = found(seen())
    steps = said(finding.remedy[0])
    order = [steps.index(words) for words in ("bt_index_check('public.name_key'", "REINDEX", "REFRESH COLLATION")]
    assert order == sorted(order)


def test_the_same_version_is_silent() -> None:
    assert diagnose(seen({}, {})).findings == ()


def test_what_was_mended_meanwhile_is_silent() -> None:
    first = seen()
    later = {"component": collations.COMPONENT, "db": DB, "name": SHOP, "value": None}
    rows = [*first.frame("setting").to_dicts(), {"ts": first.until, **later}]
    assert found(first.replaced({"setting": Dataset.from_rows(setting=rows).frame("setting").to_arrow()})) == []


def test_a_change_without_indexes_of_text_is_a_note() -> None:
    [finding] = found(seen(figures={(SHOP, INDEXES): 0.0}))
    assert (finding.severity, len(finding.against)) == ("note", 1)
    assert "only the recorded version" in said(finding.remedy[0])


def test_databases_without_indexes_are_not_told_beside_one_with_them() -> None:
    both = {**CHANGED, name_of("postgres"): Versions("2.31", "2.36")}
    [finding] = found(seen(both, {**SORTED, (name_of("postgres"), INDEXES): 0.0}))
    assert finding.severity == "critical"


def test_a_database_that_was_not_looked_into() -> None:
    [finding] = found(seen(figures={}))
    assert (finding.severity, len(finding.not_measured)) == ("warning", 1)


def test_a_collation_of_its_own() -> None:
    [finding] = found(seen({name_of("shop", "public.german"): Versions("1.1", "153.14")}, {}))
    assert said(finding.title).startswith("Collation public.german of database shop changed")
    assert "ALTER COLLATION public.german REFRESH VERSION" in said(finding.remedy[0])


def test_the_warning_of_the_server_alone_tells_it() -> None:
    [finding] = found(host(postgres={(WARNING, "log.errors"): 0.05}))
    assert (finding.severity, len(finding.not_measured)) == ("warning", 1)


@pytest.mark.server
@pytest.mark.slow
def test_live_a_database_whose_version_is_not_the_recorded_one(
    postgres_server: Callable[..., PostgresServer],
) -> None:
    server = postgres_server()
    server.execute(
        "CREATE DATABASE shop TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de'",
        "UPDATE pg_database SET datcollversion = '1.1' WHERE datname = 'shop'",
    )
    server.execute("CREATE TABLE customer (name text PRIMARY KEY)", dbname="shop")
    status, verdict = checkup(server.dsn())
    [finding] = [finding for finding in verdict["findings"] if finding["cause"] == CAUSE]
    assert (status, finding["severity"]) == (1, "critical")
    assert "customer_pkey" in str(finding["for"])
    server.execute("REINDEX TABLE customer", "ALTER DATABASE shop REFRESH COLLATION VERSION", dbname="shop")
    assert CAUSE not in [finding["cause"] for finding in checkup(server.dsn())[1]["findings"]]
