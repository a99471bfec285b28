"""Errors of logs by message."""

from doctord.analyse.errors import failures, logged
from doctord.dataset.dataset import Dataset
from reading import read_sample


def test_messages_are_counted_and_not_their_rates() -> None:
    rows = [{"ts": minute * 60_000_000, "interval_s": 60.0, "db": "postgresql", "name": "log.errors",
             "entity": "ERROR 40P01 deadlock detected", "value": 0.5} for minute in (1, 5)]  # fmt: skip
    (one,) = logged(Dataset.from_rows(statistic=rows))
    assert (one.severity, one.code, one.message, one.count) == ("ERROR", "40P01", "deadlock detected", 60.0)
    assert one.first < one.last


def test_a_log_without_codes_and_one_of_mysql() -> None:
    bare = logged(Dataset.from_batches(read_sample("pg_log.syslog").batches))
    assert ("ERROR", None, "(raised by a function)") in {(one.severity, one.code, one.message) for one in bare}
    mysql = logged(Dataset.from_batches(read_sample("mysql_error.log").batches))
    assert ("WARNING", "MY-010235", "Too many connections", 2) in {
        (one.severity, one.code, one.message, round(one.count)) for one in mysql
    }
    assert {one.severity for one in failures(mysql)} == {"ERROR"}


def test_without_a_log_there_are_none() -> None:
    assert logged(Dataset.from_rows()) == []
