"""sysbench's output: what the client of a load test saw."""

from datetime import timedelta
from pathlib import Path

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.read.loadtest.sysbench import NAME, NOT_THE_SERVER
from reading import figure, frame, picked, read_sample

SAMPLE = "sysbench.txt"


def test_reports_of_runs_one_after_the_other() -> None:
    reading = read_sample(SAMPLE)
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert reading.notes[0] == NOT_THE_SERVER
    rows = frame(reading, "statistic").filter(name="sysbench.tps")
    assert rows["value"].to_list() == [250.5, 230.0, 260.0]
    assert rows["entity"].to_list() == ["8 threads", "8 threads", "16 threads"]
    first, second, third = rows["ts"].to_list()
    assert second - first == timedelta(seconds=10)
    assert third - second == timedelta(seconds=10.005)
    assert figure(reading, "sysbench.latency_95_ms") == [51.94, 57.87, 106.75]
    assert figure(reading, "sysbench.errors") == [0.1, 0.0, 0.0]


def test_sums_are_over_the_whole_run() -> None:
    reading = read_sample(SAMPLE)
    assert picked(reading, "statistic", "value", "interval_s", "entity", name="sysbench.run_transactions") == [
        (240.2, 20.005, "8 threads")
    ]
    assert figure(reading, "sysbench.run_latency_avg_ms") == [33.25]
    assert figure(reading, "sysbench.run_latency_95_ms") == [55.82]


def test_reports_of_before_1_0(tmp_path: Path) -> None:
    file = tmp_path / "sysbench.txt"
    file.write_text(
        "sysbench 0.5:  multi-threaded system evaluation benchmark\n\nNumber of threads: 4\n\n"
        "[  10s] threads: 4, tps: 100.00, reads/s: 1400.00, writes/s: 400.00, response time: 12.34ms (95%)\n"
    )
    reading = read_file(file)
    assert figure(reading, "sysbench.tps") == [100.0]
    assert figure(reading, "sysbench.latency_95_ms") == [12.34]


def test_it_is_no_verdict_on_the_server() -> None:
    assert diagnose(Dataset.from_batches(read_sample(SAMPLE).batches)).findings == ()


def test_runs_whose_titles_were_filtered_out_follow_each_other(tmp_path: Path) -> None:
    line = "[ {}s ] thds: {} tps: 100.00 qps: 2000.00 (r/w/o: 1400/400/200) lat (ms,95%): 12.34 err/s: 0.00\n"
    file = tmp_path / "sysbench.txt"
    file.write_text("".join(line.format(second, threads) for threads in (8, 16) for second in (10, 20)))
    reports = picked(read_file(file), "statistic", "ts", "interval_s", "entity", name="sysbench.tps")
    assert [row[1:] for row in reports] == [(10.0, "8 threads")] * 2 + [(10.0, "16 threads")] * 2
    assert [row[0] - reports[0][0] for row in reports] == [timedelta(seconds=at) for at in (0, 10, 20, 30)]
