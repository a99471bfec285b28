"""Who holds the time: statements, programs, users, services, segments."""

import pytest

from diagnose.hosts import host
from diagnose.oracle_hosts import oracle_host
from doctord.analyse.sql.top_time import Holder, first, top_time
from doctord.dataset.dataset import Dataset

HEAVY = {"statement_id": "abc", "text": "select * from sale", "elapsed_s_per_s": 0.7, "cpu_s_per_s": 0.4,
         "calls_per_s": 10.0, "read_blocks_per_s": 32.0}  # fmt: skip
LIGHT = {"statement_id": "xyz", "elapsed_s_per_s": 0.001}
FIGURES = {
    ("v$sqlstats.gets", "abc"): 45e3,
    ("v$segment_statistics.logical reads", "APP.SALE"): 42e3,
    ("v$segment_statistics.physical reads", "APP.SALE"): 160.0,
    ("v$service_stats.DB time", "till"): 0.7,
    ("v$service_stats.DB CPU", "till"): 0.6,
}


def _named(dataset: Dataset, kind: str) -> list[Holder]:
    return [one for one in top_time(dataset) if one.kind == kind]


def test_a_statement_by_all_that_its_server_counts() -> None:
    (one,) = _named(oracle_host(statements=[HEAVY, LIGHT], figures=FIGURES, cpu_s_per_s=1.2), "statement")
    assert (one.db, one.name, one.text) == ("oracle:PROD", "abc", "select * from sale")
    assert one.cpu_share == pytest.approx(0.4 / 1.2)
    assert one.gets_share == pytest.approx(45e3 / 60e3)
    assert one.reads_share == pytest.approx(32 / 320)
    assert (one.calls_per_s, one.elapsed_ms) == (10.0, pytest.approx(70.0))


def test_segments_and_services_of_a_report() -> None:
    dataset = oracle_host(figures=FIGURES)
    (segment,) = _named(dataset, "segment")
    assert (segment.name, segment.share, segment.gets_share, segment.reads_share) == ("APP.SALE", None, 0.7, 0.5)
    (service,) = _named(dataset, "service")
    assert service.cpu_share == pytest.approx(0.5)
    assert service.share is not None


def test_programs_of_a_report_are_the_modules_of_its_statements() -> None:
    figures = {("sql_module.elapsed time", "till"): 0.7, ("sql_module.cpu time", "till"): 0.3}
    (program,) = _named(oracle_host(figures=figures, cpu_s_per_s=1.2), "program")
    assert (program.name, program.cpu_share) == ("till", pytest.approx(0.25))
    assert program.share is not None


def test_sampled_sessions_tell_programs_users_and_the_cpu_of_statements() -> None:
    session = {"user": "app", "program": "till", "statement_id": "42"}
    dataset = host(sessions=[session | {"event": "CPU", "wait_class": "CPU"}] * 3)
    (statement,) = _named(dataset, "statement")
    assert statement.cpu_share == pytest.approx(3 / 3.08, abs=0.05)
    assert "till" in [one.name for one in _named(dataset, "program")]
    assert "app" in [one.name for one in _named(dataset, "user")]


def test_blocks_of_tables_against_those_of_the_server() -> None:
    dataset = host(
        postgres={
            ("bench", "pg_stat_database.blks_hit"): 900.0,
            ("bench", "pg_stat_database.blks_read"): 100.0,
            ("public.sale", "pg_statio_user_tables.heap_blks_hit"): 700.0,
            ("public.sale", "pg_statio_user_tables.heap_blks_read"): 80.0,
        }
    )
    (segment,) = _named(dataset, "segment")
    assert segment.gets_share == pytest.approx(0.78)
    assert segment.reads_share == pytest.approx(0.8)


def test_the_order_is_of_time_and_the_first_few_of_each_kind_are_picked() -> None:
    many = [HEAVY | {"statement_id": str(number), "elapsed_s_per_s": 0.1 + number / 100} for number in range(9)]
    found = top_time(oracle_host(statements=many, figures=FIGURES))
    assert [one.name for one in first(found) if one.kind == "statement"] == ["8", "7", "6", "5", "4"]
    assert [one.kind for one in first(found, 1)] == ["statement", "service", "segment"]


def test_nothing_is_held_where_no_time_was_measured() -> None:
    assert top_time(Dataset.from_rows()) == ()
