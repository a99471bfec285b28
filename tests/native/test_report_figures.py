"""Rows made of the columns of a report's table, natively."""

import pytest

from doctord._native import ReportFigure, ReportTable, Rows
from doctord.dataset.tables import TABLES

TABLE = ReportTable.made(
    "Latches", ["Name", "Gets", "Time (ms)"], [["a", "1,000", "5"], ["", "7", ""], ["c", "N/A", "1s"]]
)
GETS = ReportFigure(1, {"name": "gets", "unit": "per_s"}, is_total=True)
TIME = ReportFigure(2, {"name": "time"}, bare="ms", to="ms")


def filled(**arguments: object) -> tuple[int, list[tuple[object, ...]]]:
    rows = Rows("statistic", TABLES["statistic"].layout)
    values = {"entity": TABLE.texts(0), "component": "oracle"}
    count = rows.add_figures(TABLE, [GETS, TIME], "value", values, **{"seconds": 10.0} | arguments)  # type: ignore[arg-type]
    columns = (rows.column(name) for name in ("component", "name", "entity", "value", "unit"))
    return count, list(zip(*columns, strict=True))


def test_each_number_is_a_row_and_totals_are_rates() -> None:
    count, rows = filled()
    assert count == 4
    assert rows == [
        ("oracle", "gets", "a", 100.0, "per_s"),
        ("oracle", "gets", None, 0.7, "per_s"),
        ("oracle", "time", "a", 5.0, None),
        ("oracle", "time", "c", 1000.0, None),
    ]


def test_rows_may_have_lengths_and_factors_of_their_own_and_need_an_entity() -> None:
    _, rows = filled(seconds=[10.0, 1.0, 1.0], factors=[2.0, 1.0, 0.5], needed="entity")
    assert [value for _, _, _, value, _ in rows] == [200.0, 10.0, 500.0]


def test_lists_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values for 3 rows"):
        filled(seconds=[1.0, 2.0])
