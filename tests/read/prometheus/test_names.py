"""Names of metrics, by version of their exporter, and where they belong."""

from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.dataset.mysql_names import is_gauge
from doctord.dataset.tables import TABLES
from doctord.read.formats import read_file
from doctord.read.prometheus.names import CPU_MODES, places
from doctord.read.prometheus.samples import Sample, Series, is_counter

# Of node_exporter 0.16, by what 0.15 called it, and what that counted in.
BEFORE = {
    "node_cpu_seconds_total": ("node_cpu", 1),
    "node_disk_read_time_seconds_total": ("node_disk_read_time_ms", 1000),
    "node_disk_reads_completed_total": ("node_disk_reads_completed", 1),
    "node_disk_read_bytes_total": ("node_disk_sectors_read", 1 / 512),
    "node_disk_io_time_seconds_total": ("node_disk_io_time_ms", 1000),
    "node_memory_MemFree_bytes": ("node_memory_MemFree", 1),
    "node_network_receive_bytes_total": ("node_network_receive_bytes", 1),
    "node_filesystem_size_bytes": ("node_filesystem_size", 1),
    "node_filesystem_free_bytes": ("node_filesystem_free", 1),
}


@pytest.mark.parametrize("metric", places())
def test_each_belongs_where_the_dataset_has_a_place(metric: str) -> None:
    for one in places()[metric]:
        columns = TABLES[one.table].columns_named
        assert one.kind in {"counter", "gauge", "since"}
        if one.table == "statistic":
            assert one.unit is not None or one.component == "mysql"
        else:
            assert one.column in columns or one.column[0] in "_{"
            assert {pair.partition("=")[0] for pair in one.entity.split(";") if pair} <= {*columns}


def test_old_names_of_node_exporter_tell_the_same(tmp_path: Path) -> None:
    def text(factors: dict[str, tuple[str, float]], cpu: str) -> str:
        lines = []
        for number, moment in enumerate((1732180000, 1732180010)):
            for name, (before, factor) in BEFORE.items():
                called, times = (before, factor) if factors else (name, 1)
                labels = f'cpu="{cpu}0",mode="user"' if "cpu" in name else 'device="sda",mountpoint="/"'
                lines.append(f"{called}{{{labels}}} {(5120 + 5 * number) * times} {moment}000\n")
        return "# TYPE x gauge\n" + "".join(lines)

    (tmp_path / "new").write_text(text({}, ""))
    (tmp_path / "old").write_text(text(BEFORE, "cpu"))
    new, old = (Dataset.from_batches(read_file(tmp_path / name).batches) for name in ("new", "old"))
    for table in ("cpu", "disk", "memory", "network", "filesystem"):
        assert new.frame(table).height > 0, table
        assert new.frame(table).equals(old.frame(table)), table


def test_counters_of_checkpoints_have_one_name_in_all_versions(tmp_path: Path) -> None:
    for number, name in enumerate(("pg_stat_bgwriter_checkpoints_req", "pg_stat_bgwriter_checkpoints_req_total",
                                   "pg_stat_checkpointer_num_requested_total")):  # fmt: skip
        file = tmp_path / str(number)
        file.write_text(f"# TYPE {name} counter\n{name} 4 1732180000000\n{name} 6 1732180010000\n")
        (row,) = Dataset.from_batches(read_file(file).batches).frame("statistic").rows(named=True)
        assert (row["name"], row["value"], row["db"]) == ("pg_stat_checkpointer.num_requested", 0.2, "postgresql")


def test_a_moment_becomes_an_age(tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    file.write_text("# TYPE a gauge\npg_postmaster_start_time_seconds 1732179000 1732180000000\n")
    (row,) = Dataset.from_batches(read_file(file).batches).frame("statistic").rows(named=True)
    assert (row["name"], row["value"], row["kind"]) == ("pg_postmaster_start_time.age_s", 1000.0, "gauge")


def test_settings_are_as_the_server_writes_them_and_told_when_they_change(tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    lines = ["# TYPE a gauge"]
    for number, fsync in enumerate((1, 1, 0)):
        values = {"fsync": fsync, "shared_buffers_bytes": "1.6777216e+07", "port": 5433}
        lines += [f"pg_settings_{name} {value} {17321800 + number}00000" for name, value in values.items()]
    file.write_text("\n".join(lines))
    rows = Dataset.from_batches(read_file(file).batches).frame("setting")
    assert rows.filter(name="fsync")["value"].to_list() == ["on", "off"]
    assert rows.filter(name="shared_buffers").select("value", "unit").rows() == [("16777216", "B")]
    assert set(rows["db"]) == {"postgresql:5433"}


def test_what_the_exporter_of_mysql_groups_has_the_servers_names_again(tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    event, lines = "wait/io/file/innodb/innodb_log_file", ["# TYPE a gauge"]
    for count, at in ((1, 1732180000000), (6, 1732180010000)):
        lines += [
            f'mysql_global_status_handlers_total{{handler="commit"}} {count} {at}',
            f'mysql_global_status_buffer_pool_pages{{state="free"}} 7 {at}',
            f'mysql_perf_schema_events_waits_total{{event_name="{event}"}} {10 * count} {at}',
            f'mysql_perf_schema_events_waits_seconds_total{{event_name="{event}"}} {count} {at}',
        ]
    file.write_text("\n".join(lines))
    dataset = Dataset.from_batches(read_file(file).batches)
    named = dict(dataset.frame("statistic").select("name", "value").rows())
    assert named["global_status.handler_commit"] == 0.5
    assert named["global_status.innodb_buffer_pool_pages_free"] == 7
    assert is_gauge("innodb_buffer_pool_pages_free")
    (wait,) = dataset.frame("wait").filter(pl.col("interval_s").is_not_null()).rows(named=True)
    assert (wait["waits_per_s"], wait["average_active_sessions"], wait["avg_wait_ms"]) == (5.0, 0.5, 100.0)
    assert wait["wait_kind"] == "log sync"


def test_waits_of_oracle_by_class_are_seconds_or_rise(tmp_path: Path) -> None:
    # By hand, after the sources of both exporters: none of Oracle ran here.
    file = tmp_path / "metrics"
    file.write_text(
        "# TYPE oracledb_up gauge\n"
        'oracledb_wait_time_user_io 0.25 1732180000000\noracledb_wait_time_commit{con_id="1"} 100 1732180000000\n'
        'oracledb_wait_time_user_io 0.75 1732180010000\noracledb_wait_time_commit{con_id="1"} 103 1732180010000\n'
    )
    rows = Dataset.from_batches(read_file(file).batches).frame("wait")
    assert sorted(rows.select("wait_class", "average_active_sessions").rows()) == [("Commit", 0.3), ("User I/O", 0.75)]


ODD = ("", '{le="often"}', '{cpu="all",mode="idle"}', '{state="active",backend_type=""}', '{server=":x",datid="0"}')


@pytest.mark.parametrize("value", ["1", "NaN", "+Inf", "-Inf", "-1", "1e308"])
def test_no_metric_is_too_odd_to_be_read(tmp_path: Path, value: str) -> None:
    metrics = [
        *places(),
        "pg_settings_port",
        "pg_up",
        "pg_stat_activity_count",
        "x_seconds_bucket",
        "node_procs_running",
    ]
    series = [f"{metric}{labels}" for metric in metrics for labels in ODD]
    lines = [f"{one} {value} {at}\n" for at in (1732180000000, 1732180010000) for one in series]
    file = tmp_path / "metrics"
    file.write_text("# TYPE a gauge\nnode_procs_running 1 1732180000000\n" + "".join(lines))
    assert read_file(file).format == "Prometheus' text format"


def test_modes_of_a_cpu_that_are_part_of_others_are_left_out() -> None:
    assert {"guest", "guest_nice"}.isdisjoint(CPU_MODES)
    assert is_counter(Sample(Series("node_cpu", {"mode": "guest"}), 1.0), {})
