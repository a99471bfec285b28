"""Statements of MySQL and MariaDB whose temporary tables do not fit into memory, on a disk too quick to be seen."""

from typing import Any

from diagnose.mysql_servers import found, mysql
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

REPORT = "SELECT filler, COUNT(*) FROM accounts WHERE id < ? GROUP BY filler"
SPILLS = {
    "global_status.created_tmp_disk_tables": 4.0,
    "global_status.handler_tmp_write": 26_000.0,
    "global_status.handler_tmp_update": 17_000.0,
    "global_status.handler_read_next": 25_000.0,
    "global_status.handler_read_rnd_next": 9_000.0,
}


def findings(
    rates: dict[str, float], *, digest: tuple[float, float] | None = None, text: str = REPORT
) -> dict[str, Finding]:
    """Of a server whose two sessions run one statement; `digest`: its calls, and its tables on disk, a second."""
    one: dict[str, Any] = {"statement_id": "a", "text": text}
    told = {}
    if digest is not None:
        calls, tables = digest
        one |= {"calls_per_s": calls, "elapsed_s_per_s": 1.9, "rows_per_s": 10.0 * calls}
        told = {"sum_rows_examined": 1e6, "sum_created_tmp_disk_tables": tables}
    dataset = mysql(
        sessions=[{"statement_id": "a"}] * 2,
        rates=rates,
        statements=[one],
        entities={("a", f"events_statements_summary_by_digest.{name}"): value for name, value in told.items()},
        idle_pct=0.0,
    )
    return found(dataset)


def test_the_statement_that_makes_the_tables_is_named_where_they_are_counted() -> None:
    finding = findings(SPILLS, digest=(2.0, 2.0))["sort_spill"]
    assert "1.0 temporary files a call" in said(finding.for_[0].figure)
    assert "sort_spill" not in findings(SPILLS, digest=(200.0, 2.0))


def test_without_counts_it_is_one_that_groups_or_sorts() -> None:
    finding = findings(SPILLS)["sort_spill"]
    assert finding.confidence == 0.7
    assert "groups or sorts" in said(finding.for_[0].figure)
    assert "sort_spill" not in findings(SPILLS, text="SELECT balance FROM accounts WHERE id = ?")


def test_tables_on_disk_of_a_few_rows_are_no_cause() -> None:
    few = SPILLS | {"global_status.handler_tmp_write": 2000.0, "global_status.handler_tmp_update": 0.0}
    assert "sort_spill" not in findings(few)
    assert "sort_spill" not in findings(few, digest=(2.0, 2.0))
    assert "sort_spill" not in findings(SPILLS | {"global_status.created_tmp_disk_tables": 0.0})


def test_rows_that_statements_change_go_into_no_temporary_table() -> None:
    mysql_tells = {name: value for name, value in SPILLS.items() if "handler_tmp" not in name}
    mysql_tells |= {"global_status.handler_write": 43_000.0}
    assert "sort_spill" in findings(mysql_tells, digest=(2.0, 2.0))
    insert = {"statement_id": "b", "text": "INSERT INTO t SELECT a, b FROM u", "calls_per_s": 1.0}
    insert |= {"elapsed_s_per_s": 0.9, "rows_per_s": 43_000.0}
    report = {"statement_id": "a", "text": REPORT, "calls_per_s": 2.0, "elapsed_s_per_s": 0.9, "rows_per_s": 20.0}
    told = {"sum_rows_examined": 1e6, "sum_created_tmp_disk_tables": 2.0}
    dataset = mysql(
        sessions=[{"statement_id": "a"}, {"statement_id": "b"}],
        rates=mysql_tells,
        statements=[report, insert],
        entities={("a", f"events_statements_summary_by_digest.{name}"): value for name, value in told.items()},
        idle_pct=0.0,
    )
    assert "sort_spill" not in found(dataset)
    # Half of the time is a statement's that changes rows, and nobody tells how many.
    uncounted = {"statement_id": "b", "text": insert["text"]}
    sessions = [{"statement_id": "a"}, {"statement_id": "b"}]
    unknown = mysql(sessions=sessions, rates=mysql_tells, statements=[report, uncounted], idle_pct=0.0)
    assert "sort_spill" not in found(unknown)
    known = mysql(sessions=[{"statement_id": "a"}] * 2, rates=mysql_tells, statements=[report], idle_pct=0.0)
    assert "sort_spill" in found(known)


def test_a_bulk_load_does_not_spill() -> None:
    load = SPILLS | {"global_status.handler_write": 43_000.0}
    load |= {"global_status.handler_tmp_write": 0.0, "global_status.handler_tmp_update": 0.0}
    assert "sort_spill" not in findings(load, text="INSERT INTO t SELECT a, b FROM u ORDER BY a")
    assert "sort_spill" not in findings(SPILLS, text="INSERT INTO t SELECT a, b FROM u ORDER BY a")
