"""AWR-miner's output."""

import re
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.awr_miner.about import NO_PATCH_TIME
from doctord.read.oracle.awr_miner.awr_miner import CUT_OFF, NO_MOMENT, NO_SNAPSHOT
from doctord.read.oracle.awr_miner.sections import NO_POWER_OF_TWO
from latency_files import buckets, latencies, read_text, reasons
from oracle_files import SAMPLES, figures, frame, read_sample
from shared import CORPUS, sample

GIB = 1 << 30
FILES = ("1592044769-BIPRD-23613-23822", "1836093013-FLAVIA-799-804")

OUTPUT = """~~BEGIN-OS-INFORMATION~~
DB_NAME                                                      PRD
~~END-OS-INFORMATION~~
~~BEGIN-MAIN-METRICS~~
      snap      dur_m end                  inst     os_cpu
---------- ---------- -------------- ---------- ----------
       800         60 13/11/23 21:59          1       27.6
       801         30 13/11/23 22:29          1       27.4
~~END-MAIN-METRICS~~
~~BEGIN-IO-WAIT-HISTOGRAM~~

   SNAP_ID WAIT_CLASS           EVENT_NAME                            WAIT_TIME_MILLI WAIT_COUNT
---------- -------------------- ------------------------------------- --------------- ----------
       800 User I/O             db file scattered read                              1          3
       800 User I/O             db file scattered read                              4          8
       801 Commit               log file sync                                       2          5
       802 Commit               log file sync                                       2          5
       801 Commit               log fi
~~END-IO-WAIT-HISTOGRAM~~
"""


def miner_file(name: str) -> Path:
    return sample(CORPUS / f"awrminer/sfurlong_awr-hist-{name}.out")


def section(file: Path, name: str) -> str:
    """The text of a section, by nothing that the reader uses."""
    return file.read_text().partition(f"~~BEGIN-{name}~~")[2].partition("~~END")[0]


def test_each_snapshot_is_an_interval(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OUTPUT.replace("\n", "\r\n"))
    assert sorted(buckets(reading, "interval_s", "subject")) == [
        (1800.0, "log file sync", 1000.0, 2000.0, 5),
        (3600.0, "db file scattered read", 0.0, 1000.0, 3),
        (3600.0, "db file scattered read", 2000.0, 4000.0, 8),
    ]
    assert latencies(reading).filter(count=0).height == 2
    assert reasons(reading) == [NO_SNAPSHOT, NO_POWER_OF_TWO, ZONE_ASSUMED]


def test_dates_and_edges_that_are_none_are_told(tmp_path: Path) -> None:
    text = OUTPUT.replace("13/11/23 22:29", "13/11/54 22:29").replace("    4          8", "    5          8")
    reading = read_text(tmp_path, text)
    assert latencies(reading)["count"].sum() == 3
    assert {NO_MOMENT, NO_POWER_OF_TWO} < set(reasons(reading))


def test_a_cut_off_line_is_not_used(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OUTPUT[: OUTPUT.index("          8\n") + 10], zone="UTC")
    assert latencies(reading)["count"].to_list() == [3]
    assert reasons(reading) == [CUT_OFF]


def test_two_reports_in_one_file_are_two_databases(tmp_path: Path) -> None:
    whole = (SAMPLES / "awr_miner.out").read_text()
    reading = read_text(tmp_path, whole + whole.replace("SHOP", "BANK"), zone="UTC")
    by_db = frame(reading, "statistic").group_by("db").len().sort("db")
    assert by_db.rows() == [("oracle:BANK", by_db["len"][0]), ("oracle:SHOP", by_db["len"][0])]


def test_decimals_may_be_commas(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OUTPUT.replace("27.6", "27,6"))
    assert sorted(figures(reading, "v$sysmetric.Host CPU Utilization (%)", "at").values()) == [27.4, 27.6]


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing in it can be used"):
        read_text(tmp_path, "~~BEGIN-MEMORY~~\n~~END-MEMORY~~\n")


def test_metrics_go_where_awr_reports_put_them() -> None:
    reading = read_sample("awr_miner.out")
    assert figures(reading, "v$sys_time_model.DB time", "at", "instance") == pytest.approx(
        {("11:00", "1"): 0.705, ("11:01", "2"): 0.105, ("12:00", "1"): 2.5}  # what did not fit its column is not known
    )
    assert figures(reading, "v$sysstat.redo size", "at", "instance")["12:00", "1"] == 8.5 * (1 << 20)
    assert figures(reading, "v$sysmetric.SQL Service Response Time", "at", "instance")["12:00", "1"] == 14.0
    assert figures(reading, "v$sysmetric.Host CPU Utilization (%).max", "at", "instance")["11:00", "1"] == 80.0
    assert set(figures(reading, "awr_miner.new_column").values()) == {7.0}
    cpu = frame(reading, "wait").filter(event="CPU").select("instance", "kind", "average_active_sessions")
    assert cpu.rows() == [("1", "foreground", 0.25), ("2", "foreground", 0.1), ("1", "foreground", 1.25)]


def test_events_and_statements_are_rates() -> None:
    reading = read_sample("awr_miner.out")
    waits = (
        frame(reading, "wait")
        .filter(pl.col("event") != "CPU")
        .select("db", "wait_class", "event", "average_active_sessions")
    )
    assert waits.rows() == [
        ("oracle:SHOP", "User I/O", "db file sequential read", 0.45),
        ("oracle:SHOP", "Commit", "log file sync", 0.5),
    ]
    assert figures(reading, "v$sys_time_model.DB CPU", "at") == {("11:01",): 0.35}
    one, other = frame(reading, "statement").sort("ts").rows(named=True)
    assert (one["statement_id"], one["plan_id"], one["text"]) == (
        "7ws837zynp1zv",
        "1234567890",
        "/* SELECT, SHOP, app */",  # and not where it connected to
    )
    assert one["calls_per_s"] == pytest.approx(1.01)
    assert one["elapsed_s_per_s"] == pytest.approx(756 / 3600)
    assert one["read_blocks_per_s"] == 20.0
    assert other["statement_id"] == "0v05qxsc1dyaq"
    assert figures(reading, "v$sqlstats.user_io_wait_time", "at", "entity")["11:01", "7ws837zynp1zv"] == 0.1
    assert figures(reading, "top_sql.executions", "entity") == pytest.approx({("7ws837zynp1zv",): 7320 / 7260})


def test_hosts_are_known_where_the_report_says_whose_they_are() -> None:
    reading = read_sample("awr_miner.out")
    (cpu,) = frame(reading, "cpu").rows(named=True)  # of the other instance, counters fell
    assert (cpu["host"], cpu["usr_pct"], cpu["sys_pct"], cpu["idle_pct"]) == ("db1", 20.0, 5.0, 75.0)
    assert figures(reading, "v$osstat.BUSY_TIME", "at", "instance") == {("12:00", "1"): 1.0}
    assert set(frame(reading, "memory")["total_bytes"]) == {15872 << 20}


def test_advice_names_targets_that_were_rounded_away() -> None:
    reading = read_sample("awr_miner.out")
    extra = figures(reading, "v$pga_target_advice.estd_extra_bytes_rw", "entity")
    assert extra == {("51",): 64.0 * (1 << 20), ("102",): 32.0 * (1 << 20), ("410",): 0.0}
    assert figures(reading, "v$sga_target_advice.estd_physical_reads", "entity")["3072",] == 9000.0


def test_the_rest_of_the_report() -> None:
    reading = read_sample("awr_miner.out")
    assert frame(reading, "space").select("name", "used_bytes").rows() == [("SHOP", 129117454336)]
    settings = dict(frame(reading, "setting").select("name", "value").rows())
    assert settings["sga_target"] == "6442450944"
    assert settings["database.version"] == "19.0.0.0.0"
    assert settings["instance_groups"] is None
    patches = frame(reading, "event").select(pl.col("ts").dt.to_string(), "subject").rows()
    assert [(ts[:19], subject) for ts, subject in patches] == [
        ("2024-03-02 10:20:30", "RU 19.23"),
        ("2023-01-10 09:08:07", "RU 19.18"),
    ]
    assert figures(reading, "wait_class.waited", "at", "entity")["12:01", "Commit"] == 0.5
    assert figures(reading, "object_type.physical_read_bytes", "entity")["TABLE",] == 2 * GIB / 3600
    assert figures(reading, "v$iostat_function.writes", "entity")["LGWR",] == 1.2
    assert (reading.skipped, reading.notes) == ([], [])


def test_a_patch_without_a_time_is_told(tmp_path: Path) -> None:
    text = (SAMPLES / "awr_miner.out").read_text().replace("2024-03-02 10:20:30", "soon               ")
    reading = read_text(tmp_path, text, zone="UTC")
    assert (frame(reading, "event").height, reasons(reading)) == (1, [NO_PATCH_TIME])


@pytest.mark.parametrize(("name", "snapshots"), [(FILES[0], 208), (FILES[1], 5)])
def test_the_samples_sum_as_their_texts_do(name: str, snapshots: int) -> None:
    file = miner_file(name)
    found = latencies(read_file(file))
    counts = re.findall(r"^ +\d+ .* (\d+)$", section(file, "IO-WAIT-HISTOGRAM"), re.MULTILINE)
    assert found["count"].sum() == sum(map(int, counts))
    assert found["ts"].n_unique() == snapshots


@pytest.mark.parametrize("name", FILES)
def test_every_metric_of_the_samples_is_kept(name: str) -> None:
    file = miner_file(name)
    reading = read_file(file)
    db_time: dict[str, float] = defaultdict(float)
    aas: dict[str, float] = defaultdict(float)
    heading, _, *lines = section(file, "MAIN-METRICS").split("\n\n")[1].splitlines()
    for line in lines:
        # By the end of each heading's word: SQL*Plus sets figures to the right.
        ends = {found[0]: found.end() for found in re.finditer(r"\S+", heading)}
        cells = {name: line[:end].split(" ")[-1] for name, end in ends.items()}
        aas[cells["inst"]] += float(cells["aas"])
        db_time[cells["inst"]] += float(cells.get("db_time", "0")) / 100
    found = figures(reading, "v$sysmetric.Average Active Sessions", "ts", "instance")
    assert len(found) == len(lines)
    for instance, total in aas.items():
        assert sum(value for (_, of), value in found.items() if of == instance) == pytest.approx(total)
    if "db_time" in heading:
        found = figures(reading, "v$sys_time_model.DB time", "ts", "instance")
        assert sum(found.values()) == pytest.approx(sum(db_time.values()))


@pytest.mark.parametrize("name", FILES)
def test_time_by_class_and_by_event_is_that_of_the_samples(name: str) -> None:
    file = miner_file(name)
    reading = read_file(file)
    classes = re.findall(r"^ +\d+ .{20} +(\d*\.?\d+)$", section(file, "AVERAGE-ACTIVE-SESSIONS"), re.MULTILINE)
    assert sum(figures(reading, "wait_class.waited", "ts", "entity").values()) == pytest.approx(
        sum(map(float, classes))
    )
    events = re.findall(r"([\d.]+) +(\d+)$", section(file, "TOP-N-TIMED-EVENTS"), re.MULTILINE)
    waits = frame(reading, "wait").filter(pl.col("event") != "CPU")
    waited_us = (waits["average_active_sessions"] * waits["interval_s"]).sum() * 1e6
    assert waited_us == pytest.approx(sum(int(time) for _, time in events))


@pytest.mark.parametrize("name", FILES)
def test_statements_of_the_samples_sum_as_their_texts_do(name: str) -> None:
    file = miner_file(name)
    statements = frame(read_file(file), "statement")
    heading = section(file, "TOP-SQL-BY-SNAPID").split("\n\n")[1].splitlines()[0]
    place = heading.index("ELAP_S") + len("ELAP_S")
    text = section(file, "TOP-SQL-BY-SNAPID").split("\n\n")[1].splitlines()[2:]
    elapsed = sum(float(line[:place].split(" ")[-1]) for line in text)
    assert (statements["elapsed_s_per_s"] * statements["interval_s"]).sum() == pytest.approx(elapsed)


@pytest.mark.parametrize("name", FILES)
def test_the_samples_are_whole_and_no_row_comes_twice(name: str) -> None:
    reading = read_file(miner_file(name), zone="UTC")
    assert (reading.skipped, reading.notes) == ([], [])
    for table in {batch.table for batch in reading.batches}:
        found = frame(reading, table)
        assert not found.select("ts", "host", *TABLES[table].entity).is_duplicated().any(), table
    assert (
        frame(reading, "setting").filter(~pl.col("name").str.starts_with("database.")).height
        == len(
            [line for line in section(miner_file(name), "DATABASE-PARAMETERS").splitlines() if re.match(r"\w", line)]
        )
        - 1
    )


def test_cpu_of_releases_that_have_no_column_for_it(tmp_path: Path) -> None:
    old = (SAMPLES / "awr_miner.out").read_text().replace("cpu_per_s", "cpu_other")
    reading = read_text(tmp_path, old)
    cpu = frame(reading, "wait").filter(event="CPU").select("instance", "average_active_sessions").rows()
    assert cpu == [(None, 0.35), (None, 1.3)]
