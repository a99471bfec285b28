"""pidstat in both its layouts."""

import polars as pl
import pytest

from read.texts import dataset_of, dataset_of_sample, table_under, values
from shared import CORPUS, sample

COLUMNS = {
    "%usr": ("usr_pct", 1.0),
    "%wait": ("run_wait_pct", 1.0),
    "minflt/s": ("minor_faults_per_s", 1.0),
    "kB_wr/s": ("write_bytes_per_s", 1024.0),
    "nvcswch/s": ("icsw_per_s", 1.0),
}


def test_the_tables_of_a_moment_make_one_row_of_each_process() -> None:
    file = sample(CORPUS / "testbed/pidstat-urdw.txt")
    before_averages = file.read_text().split("Average:")[0]
    texts = table_under(before_averages, "PID")
    process = dataset_of(file).frame("process")
    for name, (column, factor) in COLUMNS.items():
        expected = sum(max(float(row[name]), 0.0) for row in texts if name in row and row[name] != name)
        assert process[column].sum() == pytest.approx(expected * factor), name
    assert process.select("ts", "pid").is_duplicated().sum() == 0
    assert process["interval_s"].unique().to_list() == [1.0]


def test_one_line_a_process() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_pidstat-hdlrsuw-2-5.out"))
    process = found.frame("process")
    mine = process.filter(pid=2297)
    assert mine["minor_faults_per_s"].to_list() == [74.75, 82.5, 73.23, 72.5, 72.14]
    assert mine["rss_bytes"].to_list()[:2] == [1072 * 1024, 1152 * 1024]
    assert mine["command"].unique().to_list() == ["pidstat"]
    assert mine["interval_s"].to_list() == [None, 2.0, 2.0, 2.0, 2.0]
    kernel = process.filter(pid=6)
    assert kernel["read_bytes_per_s"].null_count() == kernel.height > 0, "what pidstat may not see is no zero"
    assert values(found, "pidstat.StkSize", "2297 pidstat")[0] == 132 * 1024


def test_arguments_are_left_out() -> None:
    commands = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_pidstat-hl.out")).frame("process")["command"]
    assert {"systemd", "auditd", "login", "kworker/u256:4"} <= set(commands)
    assert not commands.str.contains(" ").any()


def test_a_process_counts_once_beside_its_threads() -> None:
    found = dataset_of_sample("pidstat.t.txt")
    assert found.frame("process").select("pid", "sys_pct").rows() == [(2866, 0.98)]
    assert values(found, "pidstat.thread.%system", "2866 pidstat") == [0.98]


def test_without_an_interval_it_is_the_life_of_the_processes() -> None:
    process = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_pidstat.out")).frame("process")
    assert process["interval_s"].null_count() == process.height == 41
    assert process.filter(pl.col("command") == "systemd")["sys_pct"].to_list() == [0.05]


def test_times_of_children() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_generic_pidstat-ht.out"))
    assert values(found, "pidstat.usr-ms", "1 systemd") == [2890.0]
    assert found.frame("process")["run_wait_pct"].to_list() == [0.08]
