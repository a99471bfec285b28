from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from doctord.analyse.study.spent import spent
from doctord.app.asked import Interval
from doctord.app.source import Recorded
from doctord.app.study.recorded import check_apart, interval_of, span_of, twin_spans
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lake.imports import keep
from study_series import START, latencies, of_a_server, of_samples

PERIOD = "2026-11-20T10:00Z..2026-11-20T10:05Z"


def lake_of(folder: Path, *datasets: Dataset) -> Recorded:
    for dataset in datasets:
        keep(folder / "lake", {name: dataset.arrow(name) for name in dataset.tables})
    return Recorded(folder / "lake")


def test_sums_of_sampling_stand_for_the_samples_which_are_not_read(tmp_path: Path) -> None:
    told = of_samples(300)
    found = span_of(lake_of(tmp_path, told), PERIOD).dataset
    assert {"session", "process"} <= set(told.tables)
    assert not {"session", "process"} & set(found.tables)
    whole, summed = spent(told), spent(found)
    assert whole
    assert summed
    assert summed.is_sampled
    assert summed.by_event.keys() >= whole.by_event.keys()
    for event, seconds in whole.by_event.items():
        assert summed.by_event[event] == pytest.approx(seconds)


def test_samples_without_sums_are_read(tmp_path: Path) -> None:
    told = of_samples(60)
    recorded = lake_of(tmp_path, Dataset({"session": told.arrow("session"), "statistic": told.arrow("statistic")}))
    found = spent(span_of(recorded, PERIOD).dataset)
    assert found
    assert found.whole.sum() == pytest.approx(told.frame("session").filter(pl.col("state") == "active").height * 0.5)


def test_periods_that_meet_do_not_overlap_whatever_a_row_of_the_second_covers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    recorded = lake_of(tmp_path, of_a_server(latencies(rng, 600), np.full(600, 100.0)))
    first, second = (span_of(recorded, text) for text in (PERIOD, "2026-11-20T10:05Z..2026-11-20T10:10Z"))
    assert second.since == first.until == START + timedelta(minutes=5)
    check_apart(first, second)
    with pytest.raises(UserError, match="overlap"):
        check_apart(first, span_of(recorded, "2026-11-20T10:04Z..2026-11-20T10:10Z"))


def test_a_period_is_written_from_and_to() -> None:
    assert isinstance(interval_of("2026-11-20T10:00Z..2026-11-20T11:00Z"), Interval)
    for text in ("2026-11-20T10:00Z", "..2026-11-20T10:00Z", "2026-11-20T10:00Z..2026-11-20T09:00Z"):
        with pytest.raises(UserError):
            interval_of(text)


def test_a_twin_is_another_host_of_the_lake_or_another_lake(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    told = [of_a_server(latencies(rng, 600), np.full(600, 100.0), host=host) for host in ("db1", "db2")]
    both, alone = lake_of(tmp_path / "both", *told), lake_of(tmp_path / "alone", told[1])
    own = Recorded(both.lake, "db1")
    spans = span_of(own, PERIOD), span_of(own, "2026-11-20T10:05Z..2026-11-20T10:10Z")
    for twin in ("db2", str(alone.lake)):
        assert [one.dataset.hosts for one in twin_spans(own, twin, spans)] == [{"db2"}] * 2
    with pytest.raises(UserError, match="db1 is the server itself"):
        twin_spans(own, "db1", spans)
    with pytest.raises(UserError, match="no host 'db3'"):
        twin_spans(own, "db3", spans)
