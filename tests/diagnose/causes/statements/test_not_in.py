"""NOT IN over lists that are gone through for each row, and over those that are hashed."""

import sys

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

LETTER = "select email from customers c where region = $1 and email not in (select email from unsubscribed)"
ROWS, CALLS_PER_S = 200_000.0, 2.0


def found(text: str = LETTER, temp_bytes_a_call: float = 300e6, listed: str = "public.unsubscribed") -> list[Finding]:
    table = f"bench.{listed}"
    figures: dict[tuple[str | None, str], float] = {
        (table, "pg_stat_user_tables.seq_tup_read"): ROWS * CALLS_PER_S,
        (table, "pg_stat_user_tables.seq_scan"): CALLS_PER_S,
    }
    statement = {
        "statement_id": "5", "text": text, "calls_per_s": CALLS_PER_S, "elapsed_s_per_s": 0.9, "rows_per_s": 70.0,
        "hit_blocks_per_s": 5000.0, "read_blocks_per_s": 0.0, "temp_bytes_per_s": CALLS_PER_S * temp_bytes_a_call,
    }  # fmt: skip
    settings = [{"component": "pg_index", "db": DB, "name": f"{table} key", "value": "btree (id)"}]
    return diagnose(
        host(
            time={("CPU", "CPU"): 1.0}, sessions=[{"wait_class": "CPU", "event": "CPU", "statement_id": "5"}],
            postgres=figures, statements=[statement], settings={"work_mem": "4096"}, extra={"setting": settings},
        )
    ).findings  # fmt: skip


def told(findings: list[Finding]) -> Finding | None:
    return next((one for one in findings if one.cause == "not_in_goes_through_a_list"), None)


def test_a_list_that_is_read_again_and_again() -> None:
    findings = found()
    finding = told(findings)
    assert finding
    assert "goes through the list of a NOT IN for each row: all of public.unsubscribed" in said(finding.title)
    assert "work_mem = 4096 kB" in " ".join(said(item.figure) for item in finding.for_)
    (index,) = (one for one in findings if one.cause == "missing_index")
    assert index.explained_by == finding.cause


@pytest.mark.parametrize(
    ("text", "temp_bytes_a_call", "listed"),
    [
        (LETTER, 0.0, "public.unsubscribed"),  # hashed: read once
        (LETTER, 10e6, "public.unsubscribed"),  # written and read once, as by a sort beside it
        (LETTER, 300e6, "public.customers"),  # the outer table is read whole
        (LETTER.replace("not in (select email", "in (select email"), 300e6, "public.unsubscribed"),
    ],
)
def test_what_is_none(text: str, temp_bytes_a_call: float, listed: str) -> None:
    assert told(found(text, temp_bytes_a_call, listed)) is None


def test_a_schema_and_quotes_in_the_text() -> None:
    assert told(found(LETTER.replace("from unsubscribed", 'from "public".unsubscribed')))
    assert told(found(LETTER.replace("from unsubscribed", "from other.unsubscribed"))) is None


def test_a_list_that_fits_its_hash_table_is_not_what_spills(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROWS", 10_000.0)
    assert told(found()) is None
