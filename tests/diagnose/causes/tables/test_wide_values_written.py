"""Wide values that an update writes anew, and what looks like it."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.5, ("Commit", "WALSync"): 0.1}
TABLE = "bench.public.documents"
COUNTER = "update documents set views = views + $1, body = $2 where id = $3"
UPDATE = {
    "statement_id": "7", "text": COUNTER, "calls_per_s": 200.0, "rows_per_s": 200.0, "elapsed_s_per_s": 0.4,
    "hit_blocks_per_s": 60_000.0, "read_blocks_per_s": 0.0, "wal_bytes_per_s": 200 * 33_000.0,
}  # fmt: skip
FIGURES = {"n_tup_upd": 200.0, "toast_n_tup_ins": 3200.0, "toast_n_tup_del": 3200.0}


def tables(wal: float | None = 7e6, **changes: float | None) -> dict[tuple[str | None, str], float]:
    figures = {(TABLE, f"pg_stat_user_tables.{name}"): value for name, value in (FIGURES | changes).items()}
    blocks = {"toast_blks_hit": 30_000.0, "tidx_blks_hit": 20_000.0, "heap_blks_hit": 900.0, "idx_blks_hit": 600.0}
    figures |= {(TABLE, f"pg_statio_user_tables.{name}"): value for name, value in blocks.items()}
    figures |= {(TABLE, "pg_stat_user_tables.idx_tup_fetch"): 200.0, (None, "pg_stat_wal.wal_bytes"): wal}
    return {name: value for name, value in figures.items() if value is not None}


def found(postgres: dict[tuple[str | None, str], float], **changes: Any) -> dict[str, Finding]:
    seen = host(time=TIME, postgres=postgres, statements=[UPDATE | changes])
    return {finding.cause: finding for finding in diagnose(seen).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_a_counter_that_is_set_with_a_document() -> None:
    findings = found(tables())
    finding = findings["wide_values_rewritten"]
    assert next(iter(findings)) == "wide_values_rewritten"
    assert "32.2 KiB of log for it" in said(finding.title)
    assert "3,200 pieces/s" in figures(finding.for_)
    assert "it sets 2 columns at once with a column that it counts up" in figures(finding.for_)
    assert finding.severity in {"warning", "critical"}
    assert (finding.confidence, finding.against) == (0.85, ())
    assert "wide_values_fetched" not in findings, "it reads them to write them"


def test_a_part_of_a_document_that_is_written_whole() -> None:
    text = "update only public.documents as d set body = jsonb_set(d.body, $1, $2) where id = $3"
    finding = found(tables(), text=text)["wide_values_rewritten"]
    assert "it changes a part of a value" in figures(finding.for_)
    assert finding.severity in {"warning", "critical"}


def test_columns_that_may_all_have_changed_are_less_sure() -> None:
    finding = found(tables(), text="update documents set seen = $1, body = $2 where id = $3")["wide_values_rewritten"]
    assert "it sets 2 columns at once" in figures(finding.for_)
    assert (finding.severity, finding.confidence) == ("warning", 0.7)


def test_a_document_that_is_replaced_is_a_note() -> None:
    finding = found(tables(), text="update documents set body = $1 where id = $2")["wide_values_rewritten"]
    assert finding.severity == "note"
    assert "one column alone" in figures(finding.against)


def test_rows_that_come_and_go_may_have_brought_the_pieces() -> None:
    finding = found(tables(n_tup_ins=150.0, n_tup_del=150.0))["wide_values_rewritten"]
    assert finding.severity == "note"
    assert "150 rows/s are inserted and deleted" in figures(finding.against)


def test_an_upsert_is_an_update_too() -> None:
    text = "insert into documents values ($1, $2, $3) on conflict (id) do update set views = $4, body = $5"
    assert "wide_values_rewritten" in found(tables(), text=text)


def test_the_servers_log_is_made_of_it_though_it_takes_little_time() -> None:
    seen = host(postgres=tables(), statements=[UPDATE | {"elapsed_s_per_s": 0.001}])
    finding = next(one for one in diagnose(seen).findings if one.cause == "wide_values_rewritten")
    assert finding.severity == "warning"
    assert "94 % of the redo" in " ".join(said(item.why) for item in finding.for_)


def test_a_table_that_is_not_logged_is_told_by_its_pieces() -> None:
    finding = found(tables(wal=0.0), wal_bytes_per_s=0.0)["wide_values_rewritten"]
    assert "of log" not in said(finding.title)
    assert "wide_values_rewritten" not in found(tables(wal=0.0, n_tup_ins=100.0, n_tup_del=100.0), wal_bytes_per_s=0.0)


@pytest.mark.parametrize(
    ("postgres", "changes"),
    [
        (tables(toast_n_tup_ins=0.0, toast_n_tup_del=0.0), {"wal_bytes_per_s": 200 * 8300.0}),
        (tables(), {"wal_bytes_per_s": 200 * 150.0}),
        (tables(toast_n_tup_del=0.0, n_tup_upd=0.0, n_tup_ins=200.0),
         {"text": "insert into documents (id, body) values ($1, $2)"}),
        (tables(toast_n_tup_ins=0.0, n_tup_upd=0.0, n_tup_del=200.0), {"text": "delete from documents where id = $1"}),
        (tables(toast_n_tup_ins=0.0, toast_n_tup_del=0.0, n_tup_upd=0.0),
         {"text": "select sum(length(body)) from documents where id < $1", "wal_bytes_per_s": 0.0, "rows_per_s": 1.0}),
        (tables(), {"text": "select body from documents where id = $1 for update"}),
        (tables(), {"text": "update pictures set views = views + $1, body = $2 where id = $3"}),
        (tables(toast_n_tup_ins=None, toast_n_tup_del=None), {}),
    ],
    ids=["pages in full after a checkpoint", "another statement's pieces", "bulk insert", "delete", "reading",
         "a lock", "another table", "not measured"],
)  # fmt: skip
def test_what_looks_like_it(postgres: dict[tuple[str | None, str], float], changes: dict[str, Any]) -> None:
    assert "wide_values_rewritten" not in found(postgres, **changes)


def test_values_that_are_read_are_still_told() -> None:
    changes = {"text": "select sum(length(body)) from documents where id < $1", "rows_per_s": 10.0, "calls_per_s": 10.0}
    findings = found(tables(toast_n_tup_ins=0.0, toast_n_tup_del=0.0), **changes)
    assert "wide_values_fetched" in findings
