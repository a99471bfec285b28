"""Prometheus: metrics under the dataset's names, counters as rates, and nothing made up of a single scrape."""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.prometheus.names import places
from doctord.read.prometheus.prometheus_text import NO_RATES, _sample
from doctord.read.prometheus.samples import Sample, Series, is_counter
from doctord.read.prometheus.scrapes import ONE_SCRAPE
from latency_files import read_text
from reading import SAMPLES, figure, frame, picked, read_sample
from shared import CORPUS, sample

CPU_TIME = "node_cpu_seconds_total"
TWO = "prometheus_text.two_scrapes.txt"
DATABASES = "prometheus_text.databases.txt"


def metrics(name: str) -> list[float]:
    """The values of a series in the two scrapes, taken from the text by other means."""
    pattern = rf"^{re.escape(name)} (\S+)$"
    return [float(value) for value in re.findall(pattern, (SAMPLES / TWO).read_text(), re.MULTILINE)]


def rate(name: str) -> float:
    (begin, end), (first, last) = metrics("node_time_seconds"), metrics(name)
    return (last - first) / (end - begin)


def test_counters_of_node_exporter_are_rates() -> None:
    reading = read_sample(TWO)
    assert (reading.format, reading.skipped_lines, reading.notes) == ("Prometheus' text format", 0, [])
    begin, end = metrics("node_time_seconds")
    assert frame(reading, "disk")["interval_s"].to_list() == [pytest.approx(end - begin, abs=1e-5)]
    assert set(frame(reading, "cpu")["host"]) == {"vm"}
    reads = rate('node_disk_reads_completed_total{device="vda"}')
    ((reads_per_s, read_ms, util_pct),) = picked(reading, "disk", "reads_per_s", "read_ms", "util_pct", device="vda")
    assert reads_per_s == pytest.approx(reads, rel=1e-5)
    assert read_ms == pytest.approx(rate('node_disk_read_time_seconds_total{device="vda"}') / reads * 1000, rel=1e-5)
    assert util_pct == pytest.approx(rate('node_disk_io_time_seconds_total{device="vda"}') * 100, rel=1e-5)


def test_the_whole_host_is_the_mean_of_its_cpus() -> None:
    cpus = [rate(f'{CPU_TIME}{{cpu="{cpu}",mode="system"}}') * 100 for cpu in (0, 1)]
    reading = read_sample(TWO)
    assert [value for (value,) in picked(reading, "cpu", "sys_pct", cpu=0)] == [pytest.approx(cpus[0], rel=1e-5)]
    assert picked(reading, "cpu", "sys_pct", cpu=None)[-1] == (pytest.approx(sum(cpus) / 2, rel=1e-5),)


def test_readings_are_there_from_the_first_scrape() -> None:
    reading = read_sample(TWO)
    assert [free for (free,) in picked(reading, "memory", "free_bytes")] == metrics("node_memory_MemFree_bytes")
    cache = [sum(metrics(f"node_memory_{name}_bytes")[:1]) for name in ("Cached", "Buffers", "Shmem")]
    assert picked(reading, "memory", "page_cache_bytes")[0] == (cache[0] + cache[1] - cache[2],)
    assert picked(reading, "memory", "minor_faults_per_s")[0] == (None,)
    faults = rate("node_vmstat_pgfault") - rate("node_vmstat_pgmajfault")
    assert picked(reading, "memory", "minor_faults_per_s")[1] == (pytest.approx(faults, rel=1e-5),)


def test_one_scrape_gives_no_rate() -> None:
    reading = read_sample("prometheus_text.one_scrape.txt")
    assert reading.notes == [ONE_SCRAPE]
    assert "cpu" not in {batch.table for batch in reading.batches}
    idle = frame(reading, "statistic").filter(name=CPU_TIME, entity="cpu=0,mode=idle")
    assert idle.select("kind", "unit", "interval_s").rows() == [("gauge", "total", None)]
    assert set(frame(reading, "statistic")["kind"]) == {"gauge"}


def test_a_histogram_of_one_scrape_is_a_distribution_since_the_target_began(tmp_path: Path) -> None:
    file = tmp_path / "metrics.txt"
    name = "app_wal_fsync_duration_seconds"
    edges = {"0.016": 100, "0.032": 900, "+Inf": 1000}
    file.write_text(
        f"# TYPE {name} histogram\n" + "".join(f'{name}_bucket{{le="{le}"}} {n}\n' for le, n in edges.items())
    )
    reading = read_file(file)
    assert ONE_SCRAPE in reading.notes
    rows = frame(reading, "latency").select("subject", "gt_us", "le_us", "count", "interval_s").rows()
    subject = name.removesuffix("_seconds")
    assert rows == [
        (subject, 0.0, 16e3, 100, None),
        (subject, 16e3, 32e3, 800, None),
        (subject, 32e3, None, 100, None),
    ]


def test_the_corpus() -> None:
    reading = read_file(sample(CORPUS / "testbed/metrics.txt"))
    assert (reading.skipped_lines, reading.notes) == (0, [ONE_SCRAPE])
    (memory,) = picked(reading, "memory", "total_bytes")
    text = (CORPUS / "testbed/metrics.txt").read_text()
    total = re.search(r"^node_memory_MemTotal_bytes (\S+)$", text, re.MULTILINE)
    assert total
    assert memory == (float(total[1]),)
    totals = re.findall(r"^[a-z_A-Z]+_total(?:\{.*\})? ", text, re.MULTILINE)
    assert len(frame(reading, "statistic").filter(unit="total")) >= len(totals)


def test_databases_under_their_own_names() -> None:
    reading = read_sample(DATABASES)
    where = {"db": "postgresql:5433", "entity": "shop"}
    assert figure(reading, "pg_stat_database.xact_commit", **where) == [60.0]
    assert figure(reading, "pg_stat_database.numbackends", **where) == [12.0, 14.0]
    assert figure(reading, "global_status.questions", db="mysql") == [20.0]
    assert figure(reading, "global_status.threads_running", db="mysql") == [3.0, 5.0]
    settings = picked(reading, "setting", "component", "name", "value", "unit")
    assert ("postgresql", "shared_buffers", "134217728", "B") in settings
    assert ("mysql", "max_connections", "151", None) in settings
    assert picked(reading, "space", "dead_rows", name="public.orders") == [(4711,), (4811,)]
    assert picked(reading, "space", "used_bytes", kind="database", name="shop") == [(8_500_000_000,)]


def test_histograms_of_seconds_are_latencies() -> None:
    reading = read_sample(DATABASES)
    assert picked(reading, "latency", "gt_us", "le_us", "count", "interval_s") == [
        (0.0, 1e5, 5, 10.0),
        (1e5, 1e6, 3, 10.0),
        (1e6, None, 1, 10.0),
    ]
    assert set(frame(reading, "latency")["subject"]) == {'http_request_duration path=/a"b'}


def test_a_counter_that_fell_is_no_rate(tmp_path: Path) -> None:
    text = "# TYPE a_total counter\na_total 5 1732180000000\na_total 2 1732180010000\na_total 4 1732180020000\n"
    reading = read_text(tmp_path, text)
    assert figure(reading, "a_total") == [0.2]
    assert picked(reading, "event", "kind", "subject") == [("restart", "scraped counters")]


def test_scrapes_without_times(tmp_path: Path) -> None:
    text = "# TYPE a_total counter\na_total 5\na_total 7\n"
    reading = read_text(tmp_path, text)
    assert figure(reading, "a_total") == [7.0]
    assert NO_RATES in reading.notes
    assert figure(read_file(tmp_path / "file", every_s=4.0), "a_total") == [0.5]


@pytest.mark.parametrize("line", ["a", "a{", 'a{b="c} 1', "a one", "a 1 2 3", "a 1 1e999"])
def test_lines_that_are_none_are_skipped(tmp_path: Path, line: str) -> None:
    reading = read_text(tmp_path, f"# TYPE x gauge\nx 1\n{line}\n")
    assert [skipped.line for skipped in reading.skipped] == [3]


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(max_size=20)), st.floats(allow_nan=False))
def test_what_is_written_is_read(labels: dict[str, str], value: float) -> None:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    inside = ",".join(f'{name}="{quoted(text)}"' for name, text in labels.items())
    if "\r" not in inside and "\x1c" not in inside:
        found, _ = _sample(f"metric{{{inside}}} {value}")
        assert found is not None
        assert (found.name, dict(found.labels), found.value) == ("metric", labels, value)


def test_an_answer_of_the_api() -> None:
    reading = read_sample("prometheus_json.range.json")
    assert (reading.format, reading.skipped_lines) == ("Prometheus' HTTP API", 0)
    result = json.loads((SAMPLES / "prometheus_json.range.json").read_text())["data"]["result"]
    reads = next(one["values"] for one in result if one["metric"]["__name__"] == "node_disk_reads_completed_total")
    expected = [float(after[1]) - float(before[1]) for before, after in pairwise(reads)]
    assert [value for (value,) in picked(reading, "disk", "reads_per_s")] == pytest.approx(expected)
    assert set(frame(reading, "cpu")["host"]) == {"vm"}
    assert len(picked(reading, "cpu", "idle_pct", cpu=0)) == 3


def test_a_server_has_one_name_though_its_exporter_told_the_port_late(tmp_path: Path) -> None:
    told = {"mysql_global_status_threads_running": [1, 2, 3], "mysql_global_variables_port": [None, None, 3307]}
    result = [
        {
            "metric": {"__name__": name, "instance": "db2:9104"},
            "values": [[1732180000 + 15 * i, str(value)] for i, value in enumerate(values) if value is not None],
        }
        for name, values in told.items()
    ]
    document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    running = frame(read_text(tmp_path, json.dumps(document)), "statistic").filter(name="global_status.threads_running")
    assert running["value"].to_list() == [1.0, 2.0, 3.0]
    assert set(running["db"]) == {"mysql:3307"}


def test_a_result_without_a_name() -> None:
    reading = read_sample("prometheus_json.vector.json")
    (row,) = frame(reading, "statistic").rows(named=True)
    assert (row["name"], row["value"], row["entity"], row["host"]) == ("expression", 0.75, "mode=idle", "db2")
    assert row["ts"] == datetime.fromtimestamp(1732180000.5, UTC)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"status":"error","resultType":"x","error":"too long"}', "the query failed: too long"),
        ('{"status":"success","data":{"resultType":"matrix","result":[{"met', "not a whole answer"),
        ('{"status":"success","data":{"resultType":"matrix","result":7}}', "not a whole answer"),
    ],
)
def test_answers_that_cannot_be_used(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        read_text(tmp_path, text)


def rises(name: str, types: dict[str, str] | None = None) -> bool:
    return is_counter(Sample(Series(name, {}), 1.0), types or {})


def test_what_rises_is_known_without_being_told() -> None:
    assert all(rises(name) == told[-1].counter for name, told in places().items() if told[-1].label is None)
    assert rises("x_total")
    assert not rises("x_total", {"x_total": "gauge"})
    assert not rises("node_load1")
