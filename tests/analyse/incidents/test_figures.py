import numpy as np
import pytest

from doctord.analyse.incidents.figures import figures_of
from doctord.dataset.dataset import Dataset
from incident_recordings import BEGIN, END, SECONDS, dataset, moment


def test_what_is_counted_is_told_by_commit_and_by_second() -> None:
    figures = figures_of(dataset(event=None))
    assert figures
    assert figures.steps == pytest.approx(SECONDS, abs=1)
    by_commit = figures.values[:, figures.names.index("pg_stat_wal.wal_records per commit")]
    by_second = figures.values[:, figures.names.index("pg_stat_wal.wal_records per second")]
    assert np.nanmean(by_commit) == pytest.approx(5.5, abs=0.1)
    assert np.nanmean(by_second) == pytest.approx(550, abs=10)
    is_cost = dict(zip(figures.names, figures.is_cost, strict=True))
    assert is_cost["pg_stat_wal.wal_records per commit"]
    assert not is_cost["pg_stat_wal.wal_records per second"]


def test_clients_suffer_by_database_time_of_each_commit() -> None:
    figures = figures_of(dataset())
    assert figures
    assert figures.suffers is not None
    assert figures.names[figures.suffers] == "database time"
    wait = figures.values[:, figures.suffers]
    assert np.nanmean(wait[BEGIN + 1 : END - 1]) / np.nanmean(wait[:BEGIN]) == pytest.approx(9, abs=1)


def test_time_that_goes_on_with_nothing_committed_is_the_longest_wait() -> None:
    figures = figures_of(dataset(ill_commits=0.0))
    assert figures
    assert np.isinf(figures.values[BEGIN + 1 : END - 1, figures.suffers]).all()


def test_a_wait_that_no_sample_meets_is_none_where_it_was_looked_for() -> None:
    figures = figures_of(dataset())
    assert figures
    waited = figures.values[:, figures.names.index("Application: tuple")]
    assert waited[: BEGIN - 1].tolist() == [0.0] * (BEGIN - 1)
    assert np.nanmean(waited[BEGIN + 1 : END - 1]) == pytest.approx(2, abs=0.1)


def test_a_gap_is_unknown_and_not_nothing() -> None:
    whole = dataset(event=None)
    parts = [whole.between(moment(0), moment(50)), whole.between(moment(90), moment(SECONDS))]
    figures = figures_of(Dataset.joined(parts))
    assert figures
    assert np.isnan(figures.values[55:85]).all()


def test_nothing_tells_nothing() -> None:
    assert figures_of(Dataset()) is None
    assert figures_of(Dataset.from_rows(cpu=[{"host": "a", "usr_pct": 1.0}])) is None
