"""Tables of reports that compare two periods, taken apart."""

from doctord._native import ReportTable
from doctord.read.oracle.awr.compare import period_of


def test_columns_of_a_period_have_their_usual_names() -> None:
    names = ["Event", "Waits 1st", "Waits 1st Total", "Waits 2nd", "Waits %Diff", "1st per sec", "2nd per sec"]
    table = ReportTable.made("t", names, [["read", "1", "1", "2", "100", "3", "4"]])
    for period, waits, rate in ((1, "1", "3"), (2, "2", "4")):
        own = period_of(table, period)
        assert own is not None
        assert own.names == ("Event", "Waits", "per sec")
        assert [own.texts(column) for column in range(3)] == [["read"], [waits], [rate]]


def test_rows_of_a_period_are_told_by_their_marks() -> None:
    table = ReportTable.made("t", ["", "MTTR"], [["B1", "1"], ["E1", "2"], ["B2", "3"], ["E2", "4"]])
    own = period_of(table, 2)
    assert own is not None
    assert own.texts(1) == ["3", "4"]


def test_a_table_that_tells_no_periods_apart_is_left_out() -> None:
    assert period_of(ReportTable.made("t", ["SQL Id", "SQL Text"], [["a", "select 1"]]), 1) is None
