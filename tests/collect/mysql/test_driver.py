import configparser
import sys

import pymysql
import pytest

from doctord.collect.mysql.driver import MySQLDriver
from doctord.errors import UserError


@pytest.mark.parametrize(
    ("address", "db"),
    [
        ("mysql://scott@db.example:3307", "mysql:db.example:3307"),
        ("mysql://scott@db.example", "mysql:db.example:3306"),
        ("mysql://scott@127.0.0.1:3307", "mysql:3307"),
        ("mysql://localhost", "mysql:3306"),
        ("mysql://", "mysql:3306"),
        ("mysql://scott@/run/mysqld/mysqld.sock", "mysql:/run/mysqld/mysqld.sock"),
    ],
)
def test_the_server_is_named_after_its_port(address: str, db: str) -> None:
    assert MySQLDriver.from_address(address).db == db


def test_the_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "tiger")
    known = MySQLDriver.from_address("mysql://sc%40tt@db.example")
    assert (known.user, known.password) == ("sc@tt", "tiger")
    assert not [secret for secret in ("tiger", "sc@tt") if secret in repr(known)]


@pytest.mark.parametrize(
    "address", ["mysql://scott:tiger@db", "mysql://scott:tiger@/run/s", "scott:tiger@db", "mysql://db:tiger"]
)
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UserError) as refused:
        MySQLDriver.from_address(address)
    assert "mysql://USER@" in refused.value.hint
    assert "tiger" not in f"{refused.value} {refused.value.hint}"


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(UserError, match="not installed") as refused:
        MySQLDriver.from_address("mysql://scott@db")
    assert refused.value.hint == "pip install 'doctord[mysql]'"


@pytest.mark.parametrize(
    ("raised", "text", "lost"),
    [
        (pymysql.OperationalError(1142, "SELECT command denied to user 'scott'"), "no right to read it (1142)", False),
        (pymysql.OperationalError(3024, "maximum statement execution time"), "it takes longer than 2 s (3024)", False),
        (pymysql.OperationalError(2006, "gone away, says scott"), "the server closed it (2006)", True),
        (pymysql.OperationalError(2026, "SSL error at db.example"), "the server or driver reports error 2026", True),
        (pymysql.InterfaceError(0, ""), "the server or driver reports error 0", True),
        (configparser.ParsingError("scott"), "~/.my.cnf cannot be understood", True),
    ],
)
def test_errors_are_put_into_words_of_ours(raised: Exception, text: str, *, lost: bool) -> None:
    trouble = MySQLDriver("db.example").trouble(raised)
    assert (trouble.text, trouble.lost) == (text, lost)
    assert not [secret for secret in ("scott", "db.example") if secret in f"{trouble}"]


@pytest.mark.parametrize(
    ("code", "refused", "gone"), [(1040, True, False), (1053, True, False), (2003, False, True), (1045, False, False)]
)
def test_who_lets_nobody_in_is_told_from_who_refuses_us(code: int, *, refused: bool, gone: bool) -> None:
    trouble = MySQLDriver("db.example").trouble(pymysql.OperationalError(code, "no"))
    assert (trouble.refused, trouble.gone) == (refused, gone)
