"""Statements by digest, of real servers whose performance_schema is on."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pymysql
import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.mysql import statements
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.statements import FIGURES, Cost, MySQLStatements
from doctord.dataset.mysql_names import FAILED_BY_DIGEST, RAISED
from mariadb_server import MariaDBServer, running_mariadb
from mysql_server import running_mysql
from postgres_samples import rows_of

pytestmark = pytest.mark.server


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def server(request: pytest.FixtureRequest) -> Iterator[MariaDBServer]:
    on = {"performance_schema": "ON", "performance_schema_instrument": "statement/%=ON"}
    with running_mysql() if request.param == "mysql" else running_mariadb(**on) as started:
        started.execute("grant process on *.* to doctord@'127.0.0.1'")
        yield started


def grown(server: MariaDBServer, *while_looking: str) -> list[dict[str, Any]]:
    """Rows of a second reading, between which some statements ran."""
    driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
    with closing(MySQLStatements(driver, Notices())) as collector:
        assert rows_of("statement", collector.sample()) == []
        server.execute(*while_looking)
        last = time.monotonic() + 30
        while time.monotonic() < last:
            if found := rows_of("statement", collector.sample()):
                return found
            time.sleep(0.1)
    raise AssertionError("no statement was seen")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "EARLY", (0.5, 1.0))


def test_a_statement_is_told_without_its_values_by_what_it_cost(server: MariaDBServer) -> None:
    found = {row["text"]: row for row in grown(server, "select sleep(0.2), 'a secret'", "select sleep(0.1), 'another'")}
    (text,) = (text for text in found if "sleep" in text.lower())
    row = found[text]
    assert "secret" not in text
    assert row["calls_per_s"] * row["interval_s"] == pytest.approx(2.0)
    assert 0.3 <= row["elapsed_s_per_s"] * row["interval_s"] < 3
    assert row["db"] == f"mysql:{server.port}"


def test_what_failed_is_counted_by_statement_and_where_the_server_tells_by_number(server: MariaDBServer) -> None:
    driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
    with closing(MySQLStatements(driver, Notices())) as collector:
        collector.sample()
        for _ in range(3):
            with pytest.raises(pymysql.err.ProgrammingError):
                server.execute("select a from mysql.not_there")
        figures = until_told(collector, FAILED_BY_DIGEST)
    counted = {row["name"].rpartition(".")[2]: row for row in figures}
    assert counted["sum_errors"]["value"] * counted["sum_errors"]["interval_s"] == pytest.approx(3.0)
    raised = [row for row in figures if row["name"] == RAISED]
    is_mysql = type(server).__name__ == "MySQLServer"
    assert ("1146 42S02 ER_NO_SUCH_TABLE" in [row["entity"] for row in raised]) is is_mysql


def test_temporary_tables_that_went_to_disk_are_counted_by_statement(server: MariaDBServer) -> None:
    driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
    with closing(MySQLStatements(driver, Notices())) as collector:
        collector.sample()
        server.execute(
            "set tmp_table_size = 1024, max_heap_table_size = 16384",
            *(["set internal_tmp_mem_storage_engine = MEMORY"] if type(server).__name__ == "MySQLServer" else []),
            "select table_name, count(*) from information_schema.columns group by table_name order by count(*)",
        )
        figures = until_told(collector, f"{FIGURES}sum_created_tmp_disk_tables")
    assert all(row["value"] * row["interval_s"] >= 1 for row in figures if "disk_tables" in row["name"])


def until_told(collector: MySQLStatements, name: str) -> list[dict[str, Any]]:
    """The figures of the first reading that has some of that name."""
    last = time.monotonic() + 30
    while time.monotonic() < last:
        figures = rows_of("statistic", collector.sample())
        if any(row["name"] == name for row in figures):
            return figures
        time.sleep(0.1)
    raise AssertionError(f"no {name} was seen")


def test_our_own_statements_are_left_out(server: MariaDBServer) -> None:
    assert not any("performance_schema" in (row["text"] or "") for row in grown(server, "select 1"))


def test_a_counter_that_went_down_began_anew() -> None:
    collector = MySQLStatements(MySQLDriver("127.0.0.1:1", "nobody"), Notices())
    assert collector._grown([("shop", "d", 10, 10**12, 5, 900, 10, 4, 7, 3, None)], is_first=True) == {}
    again = collector._grown([("shop", "d", 2, 10**11, 1, 90, 2, 1, 1, 0, None)], is_first=False)
    assert again == {("shop", "d"): Cost(2.0, 0.1, 1.0, 90.0, 2.0, 1.0, 1.0, 0.0, None)}


def test_a_statement_that_takes_longer_than_ever_before_is_told_with_its_past(server: MariaDBServer) -> None:
    server.execute(*["select sleep(0.0001)"] * 150)
    driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
    found: dict[str, float] = {}
    with closing(MySQLStatements(driver, Notices())) as collector:
        collector.sample()
        last = time.monotonic() + 30
        while not found and time.monotonic() < last:
            server.execute(*["select sleep(0.05)"] * 3)
            time.sleep(0.3)
            told = rows_of("statistic", collector.sample())
            found = {row["name"].partition(".past_")[2]: row["value"] for row in told if ".past_" in row["name"]}
    assert found["calls"] >= 150
    assert found["ms_per_call"] < 25
    assert found["rows_per_call"] == 1.0
