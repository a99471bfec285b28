"""Published anomalies as faults of the lab."""

from pathlib import Path

from benchmark_modules import benchmark
from support.shared import CORPUS, needs_corpus

anomalies = benchmark("published_anomalies")
RIGHT, Case, cases, replay = anomalies.RIGHT, anomalies.Case, anomalies.cases, anomalies.replay

HEAD = "case,label,anomaly,threads,columns,rows,column_size,indexes,tpcc_tables,tpcc_scale,tpcc_threads,duration_s\n"


def test_parameters_are_scaled_to_this_machine(tmp_path: Path) -> None:
    parameters = tmp_path / "parameters.csv"
    parameters.write_text(
        f"{HEAD}4,too many indexes,REDUNDANT_INDEX,9,57,799006,56,6,,,,115\n"
        '6,joins,"POOR_JOIN_PERFORMANCE,CPU_CONTENTION",,,,,,,,,60\n'
    )
    indexes, joins = cases(parameters)
    assert indexes == Case(4, "too many indexes", "REDUNDANT_INDEX", 9, 57, 799006, 56, 6)
    assert (indexes.clients, indexes.table_rows) == (2, 39950)
    assert (joins.clients, joins.table_rows) == (2, 0)
    assert replay(indexes).cause == "indexes_unused"


def test_threads_meet_on_as_many_rows_each() -> None:
    case = Case(2, "updates", "LOCK_CONTENTION", 191, 78, 305, 90, 0)
    assert (case.clients, case.table_rows) == (47, 76)


def test_what_is_right_are_causes_that_there_are() -> None:
    known = (Path(__file__).parents[1] / "diagnose/cause_names.txt").read_text().split()
    assert {name for names in RIGHT.values() for name in names} <= {*known}


@needs_corpus
def test_all_published_cases_can_be_replayed() -> None:
    found = cases(CORPUS / "dbot/parameters.csv")
    assert len(found) == 270
    assert {case.anomaly for case in found} == {*RIGHT}
