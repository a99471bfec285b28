"""Tables of reports in plain text, from the native scanner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord._native import LongNames, ReportTable, text_tables

PAGES = """\
Wait Events for DB: PROD  Instance: prod  Snaps: 1 -2
-> cs - centisecond -  100th of a second

                                                     Total Wait   wait
Event                               Waits   Timeouts  Time (cs)   (ms)
---------------------------- ------------ ---------- ----------- ------
log file sync                         120          0         600     50
\x0cWait Events for DB: PROD  Instance: prod  Snaps: 1 -2
-> cs - centisecond -  100th of a second

                                                     Total Wait   wait
Event                               Waits   Timeouts  Time (cs)   (ms)
---------------------------- ------------ ---------- ----------- ------
log buffer space                        3          3          12     40
          -------------------------------------------------------------
"""

STATEMENTS = """\
SQL ordered by Gets  DB/Inst: PROD/prod  Snaps: 1-2

  Buffer Gets   Executions   SQL Id
------------- ------------ -------------
        1,200           10 0abcdefghijk1
Module: batch
SELECT one
 FROM two

           30            1 0abcdefghijk2
-- 1,200 is no row without an id
12

          -------------------------------------------------------------
"""

TWO_LINES = """\
Tablespace IO Stats  DB/Inst: PROD/prod  Snaps: 1-2

Tablespace
------------------------------
                 Av
         Reads Reads/s
-------------- -------
A_TABLESPACE_OF_THIRTY_LETTERS
         1,234      12

USERS
             5       0
          -------------------------------------------------------------
"""

LABELLED = """\
Cache Sizes            Begin        End
~~~~~~~~~~~       ---------- ----------
    Buffer Cache:       728M       512M  Std Block Size:         8K

Instance Efficiency Percentages (Target 100%)
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer  Hit   %:   99.86    In-memory Sort %:  100.00

 Shared Pool Statistics        Begin    End
                              ------  ------
             Memory Usage %:   66.48   66.54

SGA Memory Summary  DB/Inst: PROD/prod  Snaps: 1-2

SGA regions                       Begin      End
------------------------------ -------- --------
Fixed Size                            1        2
                               -------- --------
sum                                   1        2
"""


def cells(table: ReportTable) -> list[tuple[str | None, ...]]:
    return list(zip(*(table.texts(column) for column in range(len(table.names))), strict=True))


def test_a_page_that_breaks_does_not_end_a_table() -> None:
    (table,) = text_tables(PAGES.encode())
    assert table.title == "Wait Events"
    assert table.names == ("Event", "Waits", "Timeouts", "Total Wait Time (cs)", "wait (ms)")
    assert cells(table) == [("log file sync", "120", "0", "600", "50"), ("log buffer space", "3", "3", "12", "40")]


def test_the_text_of_a_statement_stands_below_its_row() -> None:
    (table,) = text_tables(STATEMENTS.encode())
    assert table.names == ("Buffer Gets", "Executions", "SQL Id", "SQL Module", "PDB Name", "SQL Text")
    assert cells(table) == [
        ("1,200", "10", "0abcdefghijk1", "batch", None, "SELECT one FROM two"),
        ("30", "1", "0abcdefghijk2", None, None, "-- 1,200 is no row without an id 12"),
    ]


def test_rows_of_two_lines_are_one_row() -> None:
    (table,) = text_tables(TWO_LINES.encode())
    assert cells(table) == [("A_TABLESPACE_OF_THIRTY_LETTERS", "1,234", "12"), ("USERS", "5", "0")]


def test_labels_stand_to_the_left() -> None:
    sizes, efficiency, pool, regions = text_tables(LABELLED.encode())
    assert (sizes.title, cells(sizes)) == (
        "Cache Sizes",
        [("Buffer Cache:", "728M", "512M", "Std Block Size:", "8K")],
    )
    assert cells(efficiency) == [("Buffer Hit %:", "99.86", "In-memory Sort %:", "100.00")]
    assert (pool.title, pool.names[1:]) == ("Shared Pool Statistics", ("Begin", "End"))
    assert cells(regions) == [("Fixed Size", "1", "2"), ("sum", "1", "2")]


def test_a_heading_of_several_columns_is_that_of_each() -> None:
    text = "         ---- Read -----\nFunction  Data   /sec\n-------- ------ ------\nLGWR         4M    .3\n"
    (table,) = text_tables(text.encode())
    assert table.names == ("Function", "Read Data", "Read /sec")


def test_columns_are_counted_in_letters() -> None:
    text = "Name   Value\n------ -----\nÄnglös     7\n"
    (table,) = text_tables(text.encode())
    assert cells(table) == [("Änglös", "7")]


@pytest.mark.parametrize("text", [PAGES, STATEMENTS, TWO_LINES, LABELLED])
def test_line_ends_and_tabs_change_nothing(text: str) -> None:
    plain = [(table.title, table.names, cells(table)) for table in text_tables(text.encode())]
    for changed in (text.replace("\n", "\r\n"), text.replace(" " * 8 + "Av", "\tAv")):
        assert [(table.title, table.names, cells(table)) for table in text_tables(changed.encode())] == plain


@given(st.text("-~> :ab1\n\t\x0cäDB/Inst:", max_size=400).map(str.encode) | st.binary(max_size=200))
def test_no_text_is_too_odd(content: bytes) -> None:
    for table in text_tables(content):
        cells(table)


def test_a_name_that_its_column_cuts_off_is_made_whole() -> None:
    cut = PAGES.replace("log file sync               ", "log file switch (private str")
    known = ["log file switch (private strand flush incomplete)", "log file switch completion"]
    (table,) = text_tables(cut.encode(), LongNames(known))
    assert table.texts(0) == [known[0], "log buffer space"]


def test_names_that_are_cut_off_alike_come_in_their_order() -> None:
    row = "log file switch (private str          1          0         600     50\n"
    known = ["log file switch (private strand flush incomplete)", "log file switch (private string)"]
    begin, _, _ = PAGES.partition("log file sync")
    (table,) = text_tables((begin + 3 * row).encode(), LongNames(known))
    assert table.texts(0) == [*known, "log file switch (private str"]


def test_a_cell_may_reach_into_the_blank_before_its_column() -> None:
    text = "Snap Id End Snap Time\n------- -----------\n   1823 23-Apr-14 18:45\n  182323-Apr-14 18:45\n"
    (table,) = text_tables(text.replace("   1823 23", "  1823 23").encode())
    assert cells(table) == [("1823", "23-Apr-14 18:45"), ("182323", "-Apr-14 18:45")]


def test_the_first_of_two_periods_is_no_part_of_a_title() -> None:
    title = "Wait Events   First DB/Inst: A/a Snaps: 1-2 (Second DB/Inst: A/a)"
    (table,) = text_tables(f"{title}\n\nEvent  Waits\n------ -----\nlatch      7\n".encode())
    assert table.title == "Wait Events"


def test_rulers_over_several_columns_give_their_names_to_each() -> None:
    text = """\
                 % of DB time      Waits
                ----------------   -----------
Event            1st      2nd       1st   2nd
--------------- -------- -------   ----- -----
log file sync        1.5     2.1     202   284
"""
    (table,) = text_tables(text.encode())
    assert table.names == ("Event", "% of DB time 1st", "% of DB time 2nd", "Waits 1st", "Waits 2nd")
    assert cells(table) == [("log file sync", "1.5", "2.1", "202", "284")]
