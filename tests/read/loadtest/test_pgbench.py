"""pgbench's output: what its client saw, and no verdict on the server."""

from datetime import timedelta

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.loadtest.pgbench import NAME
from doctord.read.loadtest.sysbench import NOT_THE_SERVER
from reading import frame, picked, read_sample


def test_the_run_as_a_whole_and_its_progress() -> None:
    reading = read_sample("pgbench.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert NOT_THE_SERVER in reading.notes
    run = {name: value for name, value in picked(reading, "statistic", "name", "value") if ".run_" in name}
    assert run == {
        "pgbench.run_tps": 801.603206,
        "pgbench.run_latency_avg_ms": 12.475,
        "pgbench.run_latency_stddev_ms": 4.001,
        "pgbench.run_failed": 2.0,
    }
    assert picked(reading, "statistic", "interval_s", "entity", name="pgbench.run_tps") == [(10.0, "10 clients")]
    assert picked(reading, "statistic", "value", name="pgbench.tps") == [(812.4,), (790.0,)]
    first, last = frame(reading, "statistic").filter(name="pgbench.tps")["ts"]
    assert last - first == timedelta(seconds=5)


def test_no_verdict_on_the_server() -> None:
    assert diagnose(Dataset.from_batches(read_sample("pgbench.txt").batches)).health == "not_judged"
