"""Tables of reports: what the native crate makes of HTML, and of figures as reports print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord._native import ReportTable, html_tables

PAGE = b"""<html><head><title>AWR Report for DB: X</title><style>h3 {color: red}</style></head><body>
<h3 class="awr"><a name="1"></a>Global Cache &amp; more</h3>
<ul><li> first word </li><li><a href="#top">Back to Top</a></li></ul>
<table border="0" summary="cache transfer">
<tr><td>&nbsp;</td><th colspan="2">CR</th><th id=">=1us" rowspan="2">Time</th></tr>
<tr><th>I#</th><th>Pct&#160;Miss</th><th>Pct Miss</th></tr>
<tr><td rowspan="2">1</td><td>1,234.5</td><td>12.3K</td><td>353.90us</td></tr>
<tr><td>&nbsp;</td><td>&lt;1</td><td>8</td></tr>
<tr><td>&nbsp;</td></tr>
</table><p>a section of words only</p></body></html>"""


def test_html_gives_titles_names_and_cells() -> None:
    title, (table, words) = html_tables(PAGE)
    assert title == "AWR Report for DB: X"
    assert (table.title, table.summary, table.above) == ("Global Cache & more", "cache transfer", ["first word"])
    assert table.names == ("I#", "CR Pct Miss", "CR Pct Miss", "Time")
    assert len(table) == 2
    assert table.texts(0) == ["1", "1"]
    assert table.numbers(1) == [1234.5, None]
    assert table.numbers(2, over=100) == [123.0, 0.005]
    assert table.times(3, bare="ms", to="ms") == [0.3539, 8.0]
    assert (table.find("none", "cr pctmiss"), table.find("CR Pct Miss#2"), table.find("none")) == (1, 2, None)
    assert (words.names, len(words), words.above) == ((), 0, ["a section of words only"])


def test_a_table_is_cut_by_columns_and_rows() -> None:
    table = ReportTable.made("t", ["a", "b", "c"], [["1", "2", "3"], ["4", "5"]])
    cut = table.select([2, 0], ["x", "y"]).only([1])
    assert cut.names == ("x", "y")
    assert (cut.texts(0), cut.texts(1)) == ([None], ["4"])
    with pytest.raises(IndexError):
        cut.texts(2)


def test_a_histogram_cell_is_a_share_or_a_count() -> None:
    table = ReportTable.made("t", [], [[cell, "x"] for cell in ("12.5", ".0", "0.0(6)", "", "<0.01(902)")])
    assert table.counts(0, [200.0, 1e6, 1e6, 1e6, None]) == [25, 1, 6, None, 902]


@pytest.mark.parametrize(("cell", "value"), [("1.234,5", 1234.5), ("0,5", 0.5), ("1.234", 1234.0)])
def test_decimals_have_a_comma_where_the_whole_report_has(cell: str, value: float) -> None:
    rows = "".join(f"<tr><td>{each}</td></tr>" for each in (cell, "99.999,75", "7,25"))
    _, (table,) = html_tables(f"<table>{rows}</table>".encode())
    assert table.numbers(0)[0] == value


@given(st.floats(min_value=0, max_value=1e15), st.integers(0, 3))
def test_a_number_comes_back_as_it_was_printed(value: float, decimals: int) -> None:
    printed = f"{value:,.{decimals}f}"
    table = ReportTable.made("t", ["a"], [[printed]])
    assert table.numbers(0) == [float(printed.replace(",", ""))]


@given(st.binary(max_size=300) | st.text("<>tdhrable/='\" &;#x0 ", max_size=300).map(str.encode))
def test_no_bytes_are_too_odd(content: bytes) -> None:
    for table in html_tables(content)[1]:
        for column in range(len(table.names)):
            table.numbers(column)
            table.times(column)
