import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.dataset.scrub import Dialect, scrub

DIALECTS: tuple[Dialect, ...] = ("postgresql", "mysql", "oracle")
PIECES = st.sampled_from(
    [
        "SELECT ", "a.b1", "x_2", "'", "''", "\\", "\\'", "E'", "e'x'", "U&'", "N'y'", "b'1'", '"', '""', '"Name 1"',
        "$1", "$tag$", "$", "/*", "*/", "--", "\n", "\t", " ", ".5", "1.5e-3", "0x1f", "12", "+", "-", "(", ")", ",",
        "é", "::int", ";", "E", "U&", "X", "SET ", "a.b=", " TO ", "IDENTIFIED BY ", "OPTIONS (", "q'[", "]'", "#", "`",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t WHERE a = $1 AND b = 'x'", "SELECT * FROM t WHERE a = $1 AND b = ?"),
        ("ALTER ROLE ann\n  PASSWORD 'it''s'", "ALTER ROLE ann PASSWORD ?"),
        (r"SELECT E'it\'s secret', 1.5e3", "SELECT ?, ?"),
        (r"SELECT 'a\', 'secret'", "SELECT ?"),
        ("SELECT 1, 'it''s', E'a\\'b', $1, x.y2, 1.5e-3", "SELECT ?, ?, ?, $1, x.y2, ?-?"),
        ("DO $$ BEGIN secret(); END $$", "DO ?"),
        ("DO $x$ a $$ secret $$ $x$ LANGUAGE sql", "DO ? LANGUAGE sql"),
        ('a = $tag$ secret $tag$ AND "Name 1" = .5', 'a = ? AND "Name 1" = ?'),
        ("SELECT 1 /* user 7 */ -- secret\n FROM t2", "SELECT ? FROM t2"),
        ("SELECT /* a /* b */ secret */ 1", "SELECT ?"),
        ("SELECT 'never closed", "SELECT ?"),
        ('SELECT "never closed', "SELECT ?"),
        ('SELECT "It\'s" FROM t', 'SELECT "It\'s" FROM t'),
        ("SELECT U&'secret', B'1', X'ff', N'x'", "SELECT ?, ?, ?, ?"),
        ("SELECT $1, $12 FROM t_1", "SELECT $1, $12 FROM t_1"),
        ("SELECT a$b$c, 0x1F, 1_000", "SELECT a$b$c, ?, ?"),
        ("  SELECT\n\t1 -- secret\n, N'x', U&'y' /* z */ ", "SELECT ? , ?, ?"),
        # What SET gives to a setting, with or without quotes.
        ("set a.b = secret", "set a.b = ?"),
        ('set my.token = "secret"', "set my.token = ?"),
        ('set session "request.jwt.claim" = secret, more', 'set session "request.jwt.claim" = ?'),
        ("SET LOCAL app.key TO 'a', b, -1; SELECT x", "SET LOCAL app.key TO ?; SELECT x"),
        ("set a.b secret", "set a.b ?"),
        ("SET a.b = 'cut off", "SET a.b = ?"),
        ("/* c */ set a.b=secret", "set a.b=?"),
        ("ALTER ROLE ann IN DATABASE shop SET a.b TO secret", "ALTER ROLE ann IN DATABASE shop SET a.b TO ?"),
        ('ALTER SYSTEM SET primary_conninfo = "password=x"', "ALTER SYSTEM SET primary_conninfo = ?"),
        ("ALTER DATABASE d SET a.b secret", "ALTER DATABASE d SET a.b ?"),
        ("CREATE FUNCTION f() RETURNS int SET a.b = secret AS $x$ $x$", "CREATE FUNCTION f() RETURNS int SET a.b = ?"),
        # What is set otherwise are names.
        ("UPDATE t SET a = b, c = 'x' WHERE d = e", "UPDATE t SET a = b, c = ? WHERE d = e"),
        (
            "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
            "INSERT INTO t VALUES (?) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
        ),
        ("SET ROLE admin", "SET ROLE admin"),
        ("SET SESSION AUTHORIZATION bob", "SET SESSION AUTHORIZATION bob"),
        ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        ("SET CONSTRAINTS ALL DEFERRED", "SET CONSTRAINTS ALL DEFERRED"),
        (
            "ALTER TABLE t ALTER c SET NOT NULL, ALTER d SET DEFAULT 7",
            "ALTER TABLE t ALTER c SET NOT NULL, ALTER d SET DEFAULT ?",
        ),
        ("ALTER TABLE t SET (fillfactor = 70)", "ALTER TABLE t SET (fillfactor = ?)"),
        ("ALTER TABLE t SET SCHEMA s", "ALTER TABLE t SET SCHEMA s"),
        (
            "CREATE TABLE t (a int REFERENCES u ON DELETE SET NULL, b text)",
            "CREATE TABLE t (a int REFERENCES u ON DELETE SET NULL, b text)",
        ),
        # Passwords and connections, also where a server refuses them for the missing quotes.
        ("CREATE USER ann WITH ENCRYPTED PASSWORD secret LOGIN", "CREATE USER ann WITH ENCRYPTED PASSWORD ? LOGIN"),
        ('ALTER ROLE ann PASSWORD "secret"', "ALTER ROLE ann PASSWORD ?"),
        ("ALTER ROLE ann PASSWORD NULL", "ALTER ROLE ann PASSWORD NULL"),
        ("SELECT password FROM accounts", "SELECT password FROM accounts"),
        (
            "CREATE USER MAPPING FOR ann SERVER s OPTIONS (user 'bob', password secret)",
            "CREATE USER MAPPING FOR ann SERVER s OPTIONS (user ?, password ?)",
        ),
        (
            'ALTER USER MAPPING FOR ann SERVER s OPTIONS (SET password "a b", DROP user)',
            "ALTER USER MAPPING FOR ann SERVER s OPTIONS (SET password ?, DROP user)",
        ),
        (
            'CREATE SUBSCRIPTION s CONNECTION "host=h password=x" PUBLICATION p',
            "CREATE SUBSCRIPTION s CONNECTION ? PUBLICATION p",
        ),
        ("COPY t FROM PROGRAM 'curl -u me:secret'", "COPY t FROM PROGRAM ?"),
        ("SELECT * FROM dblink('password=x', $$SELECT 1$$)", "SELECT * FROM dblink(?, ?"),
    ],
)
def test_values_and_comments_leave_postgresql(text: str, expected: str) -> None:
    assert scrub(text, "postgresql") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT `a b`, \"x\", 'it\\'s' # x\nFROM t", "SELECT `a b`, ?, ? FROM t"),
        ("SELECT _utf8'x', x'1f', 0x1f, 1e5 -- x", "SELECT _utf8?, ?, ?, ?"),
        ("SELECT /*! STRAIGHT_JOIN */ 'a''b', \"a\"\"b\"", "SELECT ?, ?"),
        ("SELECT 'it\\'s', x'1f' FROM t1 WHERE a=-5", "SELECT ?, ? FROM t1 WHERE a=-?"),
        ("SELECT `never closed", "SELECT ?"),
        ("SET @a = secret, @b := 'x'", "SET @a = ?"),
        ("SET @a := secret", "SET @a := ?"),
        ("SET GLOBAL wsrep_sst_auth = `a:b`", "SET GLOBAL wsrep_sst_auth = ?"),
        ("SET @@session.x = y", "SET @@session.x = ?"),
        ("SET PASSWORD FOR ann@'%' = secret", "SET PASSWORD FOR ann@?"),
        ('SET PASSWORD = PASSWORD("x")', "SET PASSWORD = ?"),
        ("SET NAMES utf8mb4", "SET NAMES utf8mb4"),
        ("SET STATEMENT max_statement_time=1 FOR SELECT secret", "SET STATEMENT max_statement_time=?"),
        (
            "CREATE USER ann IDENTIFIED BY \"x\", bob IDENTIFIED BY 'y'",
            "CREATE USER ann IDENTIFIED BY ? bob IDENTIFIED BY ?",
        ),
        ("CREATE USER ann IDENTIFIED BY secret PASSWORD EXPIRE", "CREATE USER ann IDENTIFIED BY ? PASSWORD EXPIRE"),
        (
            "ALTER USER ann IDENTIFIED WITH caching_sha2_password AS 0xff",
            "ALTER USER ann IDENTIFIED WITH caching_sha2_password AS ?",
        ),
        ("CREATE USER ann IDENTIFIED BY PASSWORD '*94BD'", "CREATE USER ann IDENTIFIED BY PASSWORD ?"),
        (
            "CHANGE MASTER TO MASTER_HOST='h', MASTER_PASSWORD=\"x\"",
            "CHANGE MASTER TO MASTER_HOST=?, MASTER_PASSWORD=?",
        ),
        (
            "CREATE TABLE t (a SET('x')) DEFAULT CHARACTER SET = utf8 COMMENT 'x'",
            "CREATE TABLE t (a SET(?)) DEFAULT CHARACTER SET = utf8 COMMENT ?",
        ),
        ("INSERT INTO t SET a = 'x', b = c", "INSERT INTO t SET a = ?, b = c"),
    ],
)
def test_values_and_comments_leave_mysql(text: str, expected: str) -> None:
    assert scrub(text, "mysql") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT q'[it's secret]', Q'!no'one's!', nq'(a)', NQ'<b>' FROM t", "SELECT ?, ?, ?, ? FROM t"),
        ("SELECT q'[never closed", "SELECT ?"),
        ("SELECT 'C:\\', sid FROM v$session", "SELECT ?, sid FROM v$session"),
        ('ALTER USER ann IDENTIFIED BY pa#ss$1 REPLACE "old one"', "ALTER USER ann IDENTIFIED BY ? REPLACE ?"),
        ("ALTER USER ann IDENTIFIED BY VALUES 'S:AB;T:CD'", "ALTER USER ann IDENTIFIED BY VALUES ?"),
        (
            "CREATE DATABASE LINK l CONNECT TO ann IDENTIFIED BY 1secret$2 USING 'db'",
            "CREATE DATABASE LINK l CONNECT TO ann IDENTIFIED BY ? USING ?",
        ),
        ("SET ROLE r IDENTIFIED BY secret", "SET ROLE r IDENTIFIED BY ?"),
        ("ALTER SYSTEM SET remote_login = secret SCOPE=BOTH", "ALTER SYSTEM SET remote_login = ?"),
        (
            "ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY secret",
            "ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY ?",
        ),
    ],
)
def test_values_and_comments_leave_oracle(text: str, expected: str) -> None:
    assert scrub(text, "oracle") == expected


@given(st.text(alphabet="'\\ $x", max_size=12))
def test_no_string_constant_survives(rest: str) -> None:
    quoted = "'" + ("SECRET" + rest.replace("\\", "")).replace("'", "''") + "'"
    for dialect in DIALECTS:
        assert "SECRET" not in scrub(f"ALTER ROLE a PASSWORD {quoted} VALID UNTIL 'x'", dialect)


@given(st.lists(PIECES, max_size=15).map("".join) | st.text(max_size=60), st.sampled_from(DIALECTS))
def test_any_text_is_scrubbed_onto_one_line(text: str, dialect: Dialect) -> None:
    assert "\n" not in scrub(text, dialect)


@given(st.lists(PIECES, max_size=8).map("".join), st.integers(0, 80), st.sampled_from(DIALECTS))
def test_a_setting_s_value_goes_wherever_the_text_is_cut(value: str, cut: int, dialect: Dialect) -> None:
    """As a server cuts it at track_activity_query_size."""
    text = f"SET app.token = SECRET{value.replace(';', '')}SECRET"[: len("SET app.token = ") + cut]
    assert scrub(text, dialect).startswith("SET app.token =")
    assert "SEC" not in scrub(text, dialect).removeprefix("SET")
