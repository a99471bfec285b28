import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.chart.scrub import scrub


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t WHERE a = $1 AND b = 'x'", "SELECT * FROM t WHERE a = $1 AND b = ?"),
        ("ALTER ROLE ann\n  PASSWORD 'it''s'", "ALTER ROLE ann PASSWORD ?"),
        (r"SELECT E'it\'s secret', 1.5e3", "SELECT ?, ?"),
        (r"SELECT 'a\', 'secret'", "SELECT ?"),
        ("DO $$ BEGIN secret(); END $$", "DO ?"),
        ("DO $x$ a $$ secret $$ $x$ LANGUAGE sql", "DO ? LANGUAGE sql"),
        ("SELECT 1 /* user 7 */ -- secret\n FROM t2", "SELECT ? FROM t2"),
        ("SELECT /* a /* b */ secret */ 1", "SELECT ?"),
        ("SELECT 'never closed", "SELECT ?"),
        ('SELECT "It\'s" FROM t', 'SELECT "It\'s" FROM t'),
        ("SELECT U&'secret', B'1', X'ff', N'x'", "SELECT ?, ?, ?, ?"),
        ("SELECT $1, $12 FROM t_1", "SELECT $1, $12 FROM t_1"),
        ("SELECT a$b$c, 0x1F, 1_000", "SELECT a$b$c, ?, ?"),
    ],
)
def test_constants_and_comments_go(text: str, expected: str) -> None:
    assert scrub(text) == expected


@given(st.text(alphabet="'\\ $x", max_size=12))
def test_no_string_constant_survives(rest: str) -> None:
    quoted = "'" + ("SECRET" + rest.replace("\\", "")).replace("'", "''") + "'"
    assert "SECRET" not in scrub(f"ALTER ROLE a PASSWORD {quoted} VALID UNTIL 'x'")


def test_oracle_s_own_quotes_hold_constants() -> None:
    assert scrub("SELECT q'[it's secret]', Q'!no'one's!', nq'(a)', NQ'<b>' FROM t") == "SELECT ?, ?, ?, ? FROM t"
