"""mpstat of Linux, of Solaris and of AIX."""

import polars as pl
import pytest

from read.texts import dataset_of, dataset_of_sample, table_under, values
from shared import CASEBOOK, CORPUS, sample

SHARES = ("%usr", "%nice", "%guest", "%gnice")


def test_each_cpu_agrees_with_the_text() -> None:
    file = sample(CORPUS / "testbed/mpstat-PALL.txt")
    texts = [
        row
        for row in table_under(file.read_text(), "CPU")
        if ":" in next(iter(row.values())) and "Average:" not in row.values()
    ]
    cpu = dataset_of(file).frame("cpu")
    for name, number in (("all", None), ("0", 0), ("1", 1)):
        mine = cpu.filter(pl.col("cpu").is_null() if number is None else pl.col("cpu") == number)
        text = [row for row in texts if row["CPU"] == name]
        assert mine.height == len(text) == 60
        assert mine["usr_pct"].sum() == pytest.approx(sum(float(row[share]) for row in text for share in SHARES))
        assert mine["irq_pct"].sum() == pytest.approx(sum(float(row["%irq"]) + float(row["%soft"]) for row in text))
        assert mine["idle_pct"].sum() == pytest.approx(sum(float(row["%idle"]) for row in text))
    assert cpu["interval_s"].unique().to_list() == [1.0]


def test_the_averages_of_the_text_are_those_of_the_rows() -> None:
    file = sample(CORPUS / "testbed/mpstat-PALL.txt")
    average = next(line.split() for line in file.read_text().splitlines() if line.startswith("Average:     all"))
    host = dataset_of(file).frame("cpu").filter(pl.col("cpu").is_null())
    assert host["sys_pct"].mean() == pytest.approx(float(average[4]), abs=0.5)
    assert host["idle_pct"].mean() == pytest.approx(float(average[-1]), abs=0.5)


def test_all_its_tables_are_one_report_a_moment() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_mpstat-A-2-5.out"))
    cpu = found.frame("cpu").filter(pl.col("cpu").is_null())
    assert cpu["ts"].dt.strftime("%H:%M:%S").to_list() == [f"15:16:{second}" for second in (17, 19, 21, 23, 25)]
    assert cpu["interval_s"].to_list() == [2.0] * 5
    assert cpu["interrupts_per_s"][0] == 55.5
    assert values(found, "mpstat.softirq", "0 TIMER")[0] == 35.0
    assert values(found, "mpstat.irq", "0 16")[0] == 4.5


def test_without_an_interval_it_is_since_boot() -> None:
    (row,) = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_mpstat.out")).frame("cpu").to_dicts()
    assert (row["interval_s"], row["cpu"], row["idle_pct"]) == (None, None, 99.39)


def test_nodes_stand_apart_from_cpus() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_ubuntu-18.04_mpstat-A.out"))
    assert found.frame("cpu")["cpu"].to_list() == [None, 0]
    assert values(found, "mpstat.%usr", "node 0") == [26.15]


def test_solaris_tells_who_lost_the_cpu() -> None:
    found = dataset_of(sample(CASEBOOK / "cpu/mpstat.txt"))
    cpu = found.frame("cpu").sort("cpu", nulls_last=True)
    assert cpu["xcalls_per_s"].to_list() == [926.0, 914.0, 1840.0]
    assert cpu["icsw_per_s"].to_list() == [14.0, 13.0, 27.0]
    assert cpu["wait_io_pct"].to_list() == [30.0, 34.0, 32.0]
    assert values(found, "mpstat.smtx", "cpu 1") == [71.0]


def test_aix_tells_all_cpus_itself() -> None:
    cpu = dataset_of_sample("mpstat_unix.aix.txt").frame("cpu").sort("cpu", nulls_last=True)
    assert cpu["cpu"].to_list() == [0, 1, None]
    assert cpu["icsw_per_s"].to_list() == [100.0, 2.0, 102.0]
    assert cpu["migrations_per_s"].to_list() == [5.0, 1.0, 6.0]
