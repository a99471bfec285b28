"""The native scrubber leaves exactly what `doctord.chart.scrub` leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord._native import scrubbed
from doctord.chart.scrub import scrub

PIECES = st.sampled_from(
    [
        "SELECT ", "a.b1", "x_2", "'", "''", "\\", "\\'", "E'", "e'x'", "U&'", "N'y'", "b'1'", '"', '""', '"Name 1"',
        "$1", "$tag$", "$", "/*", "*/", "--", "\n", "\t", " ", ".5", "1.5e-3", "0x1f", "12", "+", "-", "(", ")", ",",
        "é", "::int", ";", "E", "U&", "X",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=15).map("".join))
def test_both_leave_the_same(text: str) -> None:
    # A backslash that ends the text within E'...' is looked at again by the expression, and taken by neither.
    text = text.rstrip("\\") + ";"
    assert scrubbed(text) == scrub(text)


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_scrubbed(text: str, mysql: bool) -> None:  # noqa: FBT001 - hypothesis calls it
    assert "\n" not in scrubbed(text, mysql=mysql)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("SELECT `a b`, \"x\", 'it\\'s' # x\nFROM t", "SELECT `a b`, ?, ? FROM t"),
        ("SELECT _utf8'x', x'1f', 0x1f, 1e5 -- x", "SELECT _utf8?, ?, ?, ?"),
        ("SELECT /*! STRAIGHT_JOIN */ 'a''b', \"a\"\"b\"", "SELECT ?, ?"),
    ],
)
def test_constants_of_mysql(text: str, left: str) -> None:
    assert scrubbed(text, mysql=True) == left
