"""Indexes that no query reads."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY
from diagnose.hosts import DB, START, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

Figures = dict[tuple[str | None, str], float]
INSERT: dict[str, Any] = {
    "statement_id": "9",
    "text": "INSERT INTO readings (sensor, m1) VALUES ($1, $2)",
    "calls_per_s": 100.0,
    "elapsed_s_per_s": 0.8,
    "rows_per_s": 100.0,
    "hit_blocks_per_s": 10_000.0,
    "read_blocks_per_s": 0.0,
}
TABLE = "bench.public.readings"
AGE = ("bench", "pg_stat_database.stats_age_s")
READ: Figures = {(TABLE, "pg_stat_user_tables.idx_scan"): 50.0, AGE: 40 * 86_400.0}


def index(name: str, scans: float, blocks: float = 2000.0) -> Figures:
    entity = f"bench.public.{name}"
    return {
        (entity, "pg_stat_user_indexes.scans_since_reset"): scans,
        (entity, "pg_statio_user_indexes.idx_blks_hit"): blocks,
    }


def found(figures: Figures, statement: dict[str, Any] = INSERT, gone: str = "") -> Finding | None:
    names = {entity.rpartition(".")[2] for entity, _ in figures if entity and entity.startswith("bench.public.m")}
    settings = [
        {"component": "pg_index", "db": DB, "name": f"{TABLE} {name}", "value": "btree (m1)"} for name in sorted(names)
    ]
    later = {"ts": START + timedelta(hours=1), "component": "pg_index", "db": DB, "name": f"{TABLE} {gone}"}
    settings += [later] if gone else []
    seen = host(time=BUSY, statements=[statement], postgres=figures, extra={"setting": settings})
    return next((one for one in diagnose(seen).findings if one.cause == "indexes_unused"), None)


def test_they_take_most_of_each_insert() -> None:
    finding = found(index("m1", 0) | index("m2", 0, 4000.0) | index("m3", 7) | READ)
    assert finding
    assert said(finding.title).endswith("keeps 2 indexes of public.readings up to date that nothing reads")
    assert finding.confidence == 0.85
    assert finding.severity in {"warning", "critical"}
    assert finding.impact.share == pytest.approx(0.6 * 0.8 / sum(BUSY.values()), rel=0.05)
    assert any("not one scan since the statistics were reset: m2, m1" in said(one.figure) for one in finding.for_)
    assert finding.against == ()


def test_clients_who_come_and_go_do_not_load_a_table() -> None:
    slow = {"calls_per_s": 20.0, "elapsed_s_per_s": 0.12, "rows_per_s": 600.0}
    finding = found(index("m1", 0, 8000.0) | {AGE: 3600.0}, INSERT | slow)
    assert finding
    assert finding.severity == "warning"
    assert "nobody reads the table" not in " ".join(said(one.figure) for one in finding.against)


def test_of_a_table_that_nobody_reads_it_is_a_note() -> None:
    finding = found(index("m1", 0, 8000.0))
    assert finding
    assert (finding.severity, finding.confidence, len(finding.against)) == ("note", 0.6, 1)


@pytest.mark.parametrize(
    ("each_s", "severity"), [(0.008, "warning"), (0.004, "note")], ids=["writers lose by it", "no call is slow"]
)
def test_where_scans_are_counted_for_an_hour_only_a_report_of_the_night_may_need_them(
    each_s: float, severity: str
) -> None:
    statement = INSERT | {"elapsed_s_per_s": each_s * 100}
    finding = found(index("m1", 0, 8000.0) | READ | {AGE: 3600.0}, statement)
    assert finding
    assert (finding.severity, finding.confidence) == (severity, 0.6)
    assert [said(one.figure) for one in finding.against] == ["scans have been counted for 1 h only"]


def test_what_standbys_ask_for_and_since_when_is_counted_is_not_seen() -> None:
    figures = index("m1", 0, 8000.0) | READ | {(None, "pg_stat_replication.connected"): 2.0}
    del figures[AGE]
    finding = found(figures)
    assert finding
    assert finding.confidence == 0.75
    assert [said(one.what) for one in finding.not_measured] == [
        "whether queries on its 2 standbys use them",
        "since when their scans are counted",
    ]


def test_an_index_that_was_dropped_meanwhile_is_no_cost_any_more() -> None:
    assert found(index("m1", 0, 8000.0) | READ, gone="m1") is None


@pytest.mark.parametrize(
    ("figures", "statement"),
    [
        (index("m1", 3, 8000.0) | READ, INSERT),
        (index("m1", 0, 500.0) | READ, INSERT),
        (index("m1", 0, 0.0) | READ, INSERT),
        (index("m1", 0, 40_000.0) | READ, INSERT),
        (index("m1", 0, 8000.0) | READ, INSERT | {"text": "SELECT * FROM readings WHERE id = $1"}),
        (index("m1", 0, 8000.0) | READ, INSERT | {"elapsed_s_per_s": 0.01}),
    ],
    ids=["scanned once", "a small part", "not written to", "vacuumed", "no write", "no time"],
)
def test_it_is_nothing(figures: Figures, statement: dict[str, Any]) -> None:
    assert found(figures, statement) is None
