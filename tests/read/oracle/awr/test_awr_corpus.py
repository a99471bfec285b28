"""AWR reports of others: figures against those taken from the raw file by other means."""

from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from plain_html import milliseconds, number, section, tables
from shared import CORPUS, sample

pytestmark = pytest.mark.slow

REPORTS = ("DBS", "DBU", "DBY")
CLUSTERS = ("DBU", "DBY")


@pytest.fixture(scope="module", params=REPORTS)
def report(request: pytest.FixtureRequest) -> tuple[Path, Dataset]:
    file = sample(CORPUS / f"awr/Azure_AWR_{request.param}.html")
    reading = read_file(file)
    assert reading.skipped_lines == 0
    return file, Dataset.from_batches(reading.batches)


def statistic(dataset: Dataset, name: str) -> pl.DataFrame:
    return dataset.frame("statistic").filter(pl.col("name") == name)


def is_cluster(file: Path) -> bool:
    return file.stem.rpartition("_")[2] in CLUSTERS


def waits(file: Path, kind: str) -> list[tuple[str, float, float, float]]:
    """Event, waits, total seconds, mean milliseconds of the section's events that were waited for."""
    rows = section(file, f"{kind} Wait Events")
    names = next(row for row in rows if {"Event", "Waits"} <= set(row))
    at = [names.index(name) for name in ("Event", "Waits")]
    time = next(place for place, name in enumerate(names) if name.startswith("Total"))
    mean = next(place for place, name in enumerate(names) if name.lower() == "avg wait")
    return [
        (row[at[0]], number(row[at[1]]), number(row[time]), milliseconds(row[mean]) if row[mean] else 0.0)
        for row in rows
        if row is not names and len(row) == len(names) and row[at[1]]
    ]


def test_database_time_and_cpu(report: tuple[Path, Dataset]) -> None:
    file, dataset = report
    if is_cluster(file):
        rows = section(file, "Time Model")
        totals = next(row for row in rows if row[0] == "Sum")
        printed = {"DB time": totals[1], "DB CPU": totals[2], "background cpu time": totals[9]}
    else:
        printed = {row[0]: row[1] for row in section(file, "Time Model Statistics")[1:]}
    for name in ("DB time", "DB CPU", "background cpu time"):
        found = statistic(dataset, f"v$sys_time_model.{name}")
        seconds = (found["value"] * found["interval_s"]).sum()
        assert seconds == pytest.approx(number(printed[name]), abs=0.02)
        assert found["instance"].null_count() == 0
    cpu = dataset.frame("wait").filter(event="CPU", kind="foreground")
    assert (cpu["average_active_sessions"] * cpu["interval_s"])[0] == pytest.approx(number(printed["DB CPU"]), rel=1e-4)


def test_redo_per_second(report: tuple[Path, Dataset]) -> None:
    file, dataset = report
    named = "System Statistics (Global)" if is_cluster(file) else "Instance Activity Stats"
    redo = next(row for row in section(file, named) if row[0] == "redo size")
    found = statistic(dataset, "v$sysstat.redo size")
    assert found["value"].sum() == pytest.approx(number(redo[2]), rel=2e-5)
    assert set(found["unit"]) == {"bytes_per_s"}
    if not is_cluster(file):
        profile = next(row for row in section(file, "load profile") if row[0].startswith("Redo size"))
        assert found["value"][0] == pytest.approx(number(profile[1]), abs=0.06)


@pytest.mark.parametrize("kind", ["foreground", "background"])
def test_the_top_waits(report: tuple[Path, Dataset], kind: str) -> None:
    file, dataset = report
    printed = sorted(waits(file, kind.capitalize()), key=lambda row: -row[2])[:10]
    assert len(printed) == 10
    found = dataset.frame("wait").filter(kind=kind)
    for event, count, seconds, mean_ms in printed:
        row = found.filter(event=event).row(0, named=True)
        assert row["waits_per_s"] * row["interval_s"] == pytest.approx(count, rel=1e-9)
        assert row["average_active_sessions"] * row["interval_s"] == pytest.approx(seconds, abs=0.51)
        assert row["avg_wait_ms"] == pytest.approx(mean_ms, rel=0.001)


def test_all_events_are_there_with_their_classes(report: tuple[Path, Dataset]) -> None:
    file, dataset = report
    for kind in ("foreground", "background"):
        found = dataset.frame("wait").filter((pl.col("kind") == kind) & (pl.col("event") != "CPU"))
        printed = {" ".join(event.split()) for event, *_ in waits(file, kind.capitalize())}
        assert sorted(found["event"]) == sorted(printed)
        assert found["wait_class"].null_count() == 0


def test_histograms_sum_to_the_waits(report: tuple[Path, Dataset]) -> None:
    file, dataset = report
    rows = [row for row in section(file, "Wait Event Histogram") if len(row) > 8 and row[0] and row[1][:1].isdigit()]
    sums = dict(dataset.frame("latency").group_by("subject").agg(pl.col("count").sum()).iter_rows())
    counted = 0
    for event, total, *_ in rows:
        waited = number(total)
        if waited > 10_000:
            counted += 1
            assert sums[event] == pytest.approx(waited, rel=0.012), event
    assert counted > 50


def test_database_time_is_cpu_and_waits(report: tuple[Path, Dataset]) -> None:
    """The difference is that of the report's own shares: it is above 100 % where background waits are counted in."""
    file, dataset = report
    (rest,) = statistic(dataset, "reconcile.unaccounted")["value"]
    db_time = statistic(dataset, "v$sys_time_model.DB time")["value"].sum()
    if is_cluster(file):
        shares = section(file, "Foreground Wait Classes -")[1]
    else:
        shares = [row[-1] for row in section(file, "foreground wait class statistics")[1:]]
    printed = sum(float(share) for share in shares if share)
    assert rest / db_time * 100 == pytest.approx(100 - printed, abs=0.2)


def test_what_is_not_read_are_words(report: tuple[Path, Dataset]) -> None:
    file, _ = report
    notes = [note for note in read_file(file).notes if note.startswith("section not read")]
    worded = ("Storage Server Version", "Flash Cache Configuration", "Cluster Interconnect", "IORM Objective")
    assert [note for note in notes if not any(words in note for words in worded)] == []
    assert len(tables(file)) > 100
