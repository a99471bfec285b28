"""Published anomalies as faults of the lab."""

from collections import Counter
from pathlib import Path

from benchmark_modules import benchmark
from support.shared import CORPUS, needs_corpus

anomalies = benchmark("published_anomalies")
RIGHT, Case, cases, replay = anomalies.RIGHT, anomalies.Case, anomalies.cases, anomalies.replay

HEAD = "case,label,anomaly,threads,columns,rows,column_size,indexes,warehouses\n"


def test_parameters_are_scaled_to_this_machine(tmp_path: Path) -> None:
    parameters = tmp_path / "parameters.csv"
    parameters.write_text(
        f"{HEAD}4,too many indexes,REDUNDANT_INDEX,9,57,799006,56,6,\n"
        '6,joins,"POOR_JOIN_PERFORMANCE,CPU_CONTENTION",,,,,,\n'
    )
    indexes, joins = cases(parameters)
    assert indexes == Case(4, "too many indexes", "REDUNDANT_INDEX", 9, 57, 799006, 56, 6, 0)
    assert (indexes.clients, indexes.table_rows) == (2, 39950)
    assert (joins.clients, joins.table_rows) == (2, 0)
    assert replay(indexes).cause == "indexes_unused"


def test_threads_meet_on_as_many_rows_each() -> None:
    case = Case(2, "updates", "LOCK_CONTENTION", 191, 78, 305, 90, 0, 0)
    assert (case.clients, case.table_rows) == (47, 76)


def test_what_is_right_are_causes_that_there_are() -> None:
    known = (Path(__file__).parents[1] / "diagnose/cause_names.txt").read_text().split()
    assert {name for names in RIGHT.values() for name in names} <= {*known}


def test_three_cases_of_each_of_the_eight_sets_of_labels_can_be_replayed() -> None:
    found = Counter(case.label for case in cases())
    assert [*found.values()] == [3] * 8
    assert {case.anomaly for case in cases()} == {*RIGHT}
    assert all(replay(case).cause in RIGHT[case.anomaly] for case in cases())


def test_the_rows_of_an_update_are_locked_until_another_statement_commits() -> None:
    scripts = anomalies._changes(cases()[3])
    assert len(scripts) == 78
    assert scripts[77] == "update published set name77 = (select substr(md5(random()::text), 1, 90)) where id = :id;"


@needs_corpus
def test_the_parameters_are_those_of_the_corpus() -> None:
    published = {case.number: case for case in cases(CORPUS / "dbot/parameters.csv")}
    ours = [case for case in cases() if case.number in published]
    assert len(ours) == 15
    assert ours == [published[case.number] for case in ours]
