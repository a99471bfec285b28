"""Indexes that no query reads."""

from typing import Any

import pytest

from diagnose.causes.statements.test_indexes import BUSY
from diagnose.hosts import DB, host
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
READ: Figures = {(TABLE, "pg_stat_user_tables.idx_scan"): 50.0}


def index(name: str, scans: float, blocks: float = 2000.0) -> Figures:
    entity = f"bench.public.{name}"
    return {
        (entity, "pg_stat_user_indexes.scans_since_reset"): scans,
        (entity, "pg_statio_user_indexes.idx_blks_hit"): blocks,
    }


def found(figures: Figures, statement: dict[str, Any] = INSERT) -> Finding | None:
    names = {entity.rpartition(".")[2] for entity, _ in figures if entity and entity != TABLE}
    settings = [
        {"component": "pg_index", "db": DB, "name": f"{TABLE} {name}", "value": "btree (m1)"} for name in sorted(names)
    ]
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


def test_of_a_table_that_nobody_reads_it_is_a_note() -> None:
    finding = found(index("m1", 0, 8000.0))
    assert finding
    assert (finding.severity, finding.confidence, len(finding.against)) == ("note", 0.6, 1)


@pytest.mark.parametrize(
    ("figures", "statement"),
    [
        (index("m1", 3, 8000.0) | READ, INSERT),
        (index("m1", 0, 500.0) | READ, INSERT),
        (index("m1", 0, 0.0) | READ, INSERT),
        (index("m1", 0, 8000.0) | READ, INSERT | {"text": "SELECT * FROM readings WHERE id = $1"}),
        (index("m1", 0, 8000.0) | READ, INSERT | {"elapsed_s_per_s": 0.01}),
    ],
    ids=["scanned once", "a small part", "not written to", "no write", "no time"],
)
def test_it_is_nothing(figures: Figures, statement: dict[str, Any]) -> None:
    assert found(figures, statement) is None
