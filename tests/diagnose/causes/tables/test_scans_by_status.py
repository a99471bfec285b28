"""Tables that are read whole, where no digests are kept."""

from typing import Any

import pytest

from diagnose.mysql_servers import found, mysql
from doctord.dataset.dataset import Dataset
from doctord.report.phrases import said

LOOK_UP = "select id, weight from parcels where code = ?"
RATES = {
    "global_status.handler_read_rnd_next": 1.8e6, "global_status.select_scan": 15.0, "global_status.rows_sent": 620.0,
}  # fmt: skip


def server(text: str = LOOK_UP, **changes: float) -> Dataset:
    rates = RATES | {f"global_status.{name}": value for name, value in changes.items()}
    statement: dict[str, Any] = {"statement_id": "s1", "text": text}
    return mysql(sessions=[{"statement_id": "s1"}], rates=rates, statements=[statement])


def test_the_statement_of_nearly_all_the_time_scans() -> None:
    finding = found(server())["missing_index"]
    assert (
        said(finding.title)
        == f"Tables are read whole, 120,000 rows at a time, most likely for one statement: {LOOK_UP}"
    )
    assert finding.not_measured


@pytest.mark.parametrize(
    "dataset",
    [
        server(select_scan=0.1, handler_read_rnd_next=1.2e4),
        server(handler_read_rnd_next=1.5e5 - 1),
        server(rows_sent=5e5),
        server(sort_rows=5e5),
        server("select sum(n) from stock where place like ?"),
        server("select id, weight from parcels"),
        server("insert into parcels values (?)"),
    ],
    ids=["seldom", "small tables", "all is wanted", "all is sorted", "a sum", "no condition", "no look-up"],
)
def test_what_is_no_want_of_an_index(dataset: Dataset) -> None:
    assert "missing_index" not in found(dataset)
