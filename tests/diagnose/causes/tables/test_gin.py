"""GIN indexes with a long pending list."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY, LOOKED, LOOKUP, PRIMARY_KEY
from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

Figures = dict[tuple[str | None, str], float]
SEARCH = LOOKUP | {"text": "SELECT id FROM orders WHERE words @@ $1::tsquery LIMIT $2", "rows_per_s": 20.0}
NAME = "bench.public.orders_words"
PENDING: Figures = {(NAME, "pg_index.gin_pending_pages"): 4000.0}
MANY_BLOCKS: Figures = {
    (NAME, "pg_stat_user_indexes.idx_scan"): 20.0,
    (NAME, "pg_statio_user_indexes.idx_blks_hit"): 80_000.0,
    (NAME, "pg_statio_user_indexes.idx_blks_read"): 1000.0,
}
BY_INDEX: Figures = {("bench.public.orders", "pg_index.valid_indexes"): 2.0}


def gin(more: str = " pending 1048576 kB") -> dict[str, str]:
    return {
        "component": "pg_index",
        "db": DB,
        "name": "bench.public.orders orders_words",
        "value": f"gin (words){more}",
    }


def found(figures: Figures, index: dict[str, str], statement: dict[str, Any] = SEARCH) -> dict[str, Finding]:
    rows = {"setting": [PRIMARY_KEY, index]}
    findings = diagnose(host(time=BUSY, statements=[statement], postgres=figures, extra=rows)).findings
    return {finding.cause: finding for finding in findings}


@pytest.mark.parametrize(
    ("figures", "confidence", "words"),
    [
        (LOOKED | PENDING, 0.9, "whose pending list has 4,000 pages"),
        (BY_INDEX | PENDING, 0.9, "whose pending list has 4,000 pages"),
        (BY_INDEX | MANY_BLOCKS, 0.75, "whose pending list may have grown to 1.0 GiB"),
        (LOOKED, 0.6, "whose pending list may have grown to 1.0 GiB"),
    ],
    ids=["known, not used", "known, used", "many blocks of the index", "not used"],
)
def test_a_long_list(figures: Figures, confidence: float, words: str) -> None:
    told = found(figures, gin())
    finding = next(iter(told.values()))
    assert (finding.cause, finding.confidence) == ("gin_pending_list_long", confidence)
    assert finding.severity == ("critical" if confidence > 0.6 else "warning")
    assert said(finding.title).endswith(f"searches public.orders by GIN index orders_words, {words}")
    assert "gin_clean_pending_list('public.orders_words')" in said(finding.remedy[0])
    assert bool(finding.not_measured) is (confidence < 0.9)
    assert "missing_index" not in told
    assert all(one.explained_by for name, one in told.items() if name == "index_not_used")


@pytest.mark.parametrize(
    ("figures", "index", "statement"),
    [
        (LOOKED | {(NAME, "pg_index.gin_pending_pages"): 3.0}, gin(), SEARCH),
        (LOOKED, gin(" pending 4096 kB"), SEARCH),
        (BY_INDEX | MANY_BLOCKS, gin(" pending 4096 kB"), SEARCH),
        (LOOKED, gin(""), SEARCH),
        (LOOKED, gin(" pending 1048576 kB invalid"), SEARCH),
        (BY_INDEX, gin(), SEARCH),
        (LOOKED, gin(), LOOKUP),
    ],
    ids=["short", "kept short", "kept short, and many blocks", "no fastupdate", "invalid", "used", "another condition"],
)
def test_it_is_another_reason(figures: Figures, index: dict[str, str], statement: dict[str, Any]) -> None:
    assert "gin_pending_list_long" not in found(figures, index, statement)
