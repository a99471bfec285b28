"""work_mem without its unit."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

CPU = {("CPU", "CPU"): 1.0}
SEARCH = {
    "statement_id": "1", "text": "select count(*) from docs where to_tsvector($1, body) @@ to_tsquery($2, $3)",
    "calls_per_s": 4.0, "elapsed_s_per_s": 1.0, "rows_per_s": 4.0, "hit_blocks_per_s": 5000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip
SESSIONS = [{"state": "active", "statement_id": "1", "wait_class": "CPU", "event": "CPU"}]


def found(value: str, statement: dict[str, Any] = SEARCH) -> Finding | None:
    setting = {"db": DB, "component": "postgresql", "name": "work_mem", "value": value, "unit": "kB"}
    dataset = host(time=CPU, statements=[statement], sessions=SESSIONS, extra={"setting": [setting]})
    return next((one for one in diagnose(dataset).findings if one.cause == "work_mem_slip"), None)


def test_a_bitmap_that_does_not_fit() -> None:
    finding = found("64")
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("warning", 0.6)
    assert said(finding.title).startswith("work_mem is 64.0 KiB: bitmaps of more than 910 pages")


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("4096", SEARCH),
        ("512", SEARCH),  # its bitmap fits
        ("64", SEARCH | {"hit_blocks_per_s": 400.0}),
        ("64", SEARCH | {"elapsed_s_per_s": 0.004}),  # nobody waits for it
    ],
)
def test_what_has_memory_enough_or_needs_none(value: str, statement: dict[str, Any]) -> None:
    assert found(value, statement) is None


def test_a_sort_of_few_pages() -> None:
    sort = SEARCH | {"text": "select * from visits order by seen", "hit_blocks_per_s": 400.0}
    assert found("64", sort) is not None
