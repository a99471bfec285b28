"""One statement for each row of another."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said


def statement(number: int, text: str, calls: float, rows: float) -> dict[str, Any]:
    return {
        "statement_id": str(number),
        "text": text,
        "calls_per_s": calls,
        "elapsed_s_per_s": calls * 5e-6,
        "rows_per_s": calls * rows,
    }


ORDERS = statement(1, "select id from orders where id between $1 and $2", 5.0, 250.0)
LINES = statement(2, "select item_id from line_items where order_id = $1", 1240.0, 3.0)
ITEMS = statement(3, "select name from items where id = $1", 3730.0, 1.0)
LOOKUP = statement(4, "select abalance from accounts where aid = $1", 900.0, 1.0)


def found(*statements: dict[str, Any]) -> Finding | None:
    findings = diagnose(host(statements=list(statements))).findings
    return next((finding for finding in findings if finding.cause == "n_plus_one_queries"), None)


def test_a_page_that_looks_up_each_row_of_its_list() -> None:
    finding = found(ORDERS, LINES, ITEMS, LOOKUP)
    assert finding is not None
    assert said(finding.title).startswith("994 single statements follow each execution of another one")
    assert (finding.severity, finding.confidence) == ("warning", 0.75)
    assert len(finding.for_) == 3
    assert "250.0 rows" in said(finding.for_[0].figure)


def test_one_text_that_a_driver_sends_in_two_forms_is_one_statement() -> None:
    halves = [LINES | {"statement_id": number, "calls_per_s": 620.0, "rows_per_s": 1860.0} for number in ("8", "9")]
    finding = found(ORDERS, *halves)
    assert finding is not None
    assert finding.for_[1].filter == "statement_id in ('8', '9')"


def test_some_dozens_for_each_are_a_note() -> None:
    few = statement(1, "select id from orders where customer = $1", 30.0, 42.0)
    finding = found(few, LINES)
    assert finding is not None
    assert finding.severity == "note"


def test_look_ups_of_their_own_and_rows_that_are_read_at_once_are_well() -> None:
    assert found(ORDERS, LOOKUP) is None
    assert found(ORDERS, statement(5, "select name from items where id = any($1)", 5.0, 250.0)) is None
    assert found(LOOKUP, statement(6, "select 1 from accounts where aid = $1", 900.0, 1.0)) is None


def test_what_returns_many_rows_for_each_is_no_look_up() -> None:
    assert found(ORDERS, statement(7, "select * from events where order_id = $1", 1250.0, 60.0)) is None


BALANCE = statement(4, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1247.0, 1.0)


@pytest.mark.parametrize(
    "beside", ["BEGIN", "END", "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2"]
)
def test_a_look_up_in_transactions_of_its_own_follows_no_list(beside: str) -> None:
    finding = found(ORDERS, BALANCE, statement(5, beside, 1246.0, 1.0))
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("note", 0.3)
    assert any("transaction of its own" in said(one.why) for one in finding.against)


def test_a_list_in_one_transaction_is_told_beside_as_many_transactions_of_others() -> None:
    finding = found(ORDERS, LINES, BALANCE, statement(5, "BEGIN", 5.0, 0.0), statement(6, "COMMIT", 5.0, 0.0))
    assert finding is not None
    assert (finding.severity, finding.against) == ("warning", ())


def test_those_with_transactions_of_their_own_are_left_out_beside_others() -> None:
    finding = found(ORDERS, LINES, ITEMS, statement(5, "COMMIT", 3731.0, 0.0))
    assert finding is not None
    assert said(finding.title).startswith("248 single statements")
    assert (finding.severity, finding.against) == ("warning", ())
