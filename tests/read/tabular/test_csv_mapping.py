"""CSV by a mapping."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from latency_files import reasons
from oracle_files import frame
from shared import CASEBOOK, sample

WAITS = """[csv]
file = "waits.csv"

[[row]]
table = "wait"
host = "before"
db = "oracle:DW"
event = "{event}"
waits_per_s = "before_waits_per_s"
avg_wait_ms = "before_avg_ms"

[[row]]
table = "wait"
host = "after"
db = "oracle:DW"
event = "{event}"
waits_per_s = "after_waits_per_s"
avg_wait_ms = "after_avg_ms"
"""
DAYS = """[csv]
file = "days.csv"
time = "day"
interval_s = 86400
[[row]]
table = "statistic"
component = "shop"
name = "orders"
value = { column = "orders", factor = 0.001, strip = ["k", "~"] }
unit = "{unit}"
where = { kind = "sold" }
"""
LINES = "day;kind;orders;unit\n2024-05-30;sold;~1,5k;pieces\n2024-05-31;returned;7;\n2024-06-01 12:00;sold;;\n"


def read_mapped(tmp_path: Path, mapping: str, csv: str | Path, name: str = "waits.csv") -> Reading:
    if isinstance(csv, Path):
        shutil.copy(sample(csv), tmp_path / name)
    else:
        (tmp_path / name).write_text(csv)
    os.utime(tmp_path / name, (1_000_000, 1_000_000))
    (tmp_path / "mapping.toml").write_text(mapping)
    return read_file(tmp_path / "mapping.toml", zone="UTC")


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    decimal = DAYS.replace("[[row]]", 'decimal = ","\n[[row]]')
    reading = read_mapped(tmp_path, decimal, LINES, "days.csv")
    found = frame(reading, "statistic")
    assert found.select(pl.col("ts").dt.to_string(), "interval_s", "name", "value", "unit").rows() == [
        ("2024-05-30 00:00:00.000000+00:00", 86400.0, "orders", 0.0015, "pieces")
    ]
    assert reasons(reading) == []


def test_bad_lines_cost_themselves(tmp_path: Path) -> None:
    reading = read_mapped(
        tmp_path, DAYS, LINES + "soon;sold;1;\n2024-06-02;sold;many;\n2024-06-03;sold;5;\n", "days.csv"
    )
    assert frame(reading, "statistic")["value"].to_list() == [0.005]
    assert [(skipped.line, skipped.reason[:22]) for skipped in reading.skipped] == [
        (2, "no figure in the CSV: "),
        (5, "no date and time of da"),
        (6, "no figure in the CSV: "),
    ]


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        (WAITS.replace('"waits.csv"', '"../waits.csv"'), "must lie in the folder"),
        (WAITS.replace('"waits.csv"', '"/etc/passwd"'), "must lie in the folder"),
        (WAITS.replace('"waits.csv"', '"missing.csv"'), "cannot be read"),
        (WAITS.replace('table = "wait"', 'table = "waits"'), "a .*row.* of no table: 'waits'"),
        (WAITS.replace("avg_wait_ms", "average"), "has no key 'average'"),
        (WAITS.replace('"before"', "before"), "not a mapping"),
        (WAITS.replace("[csv]", "[csv]\nlines = 3"), "has no key 'lines'"),
        (WAITS.replace('table = "wait"', 'table = "wait"\nwhere = 1', 1), "where is no table"),
        (WAITS.replace("[csv]", '[csv]\ninterval_s = "day"'), "interval_s is no number"),
        (WAITS.replace("[[row]]", "[row]", 1).partition("[[row]]")[0] + "#[[row]]", "there is no"),
    ],
)
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, mapping: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        read_mapped(tmp_path, mapping, "event,before_waits_per_s\na,1\n")


def test_the_casebook_s_waits_before_and_after(tmp_path: Path) -> None:
    found = frame(read_mapped(tmp_path, WAITS, CASEBOOK / "redo/waits.csv"), "wait")
    sync = {row["host"]: row for row in found.filter(event="log file sync").iter_rows(named=True)}
    assert (sync["before"]["waits_per_s"], sync["before"]["avg_wait_ms"]) == (72.0, 26.45)
    assert (sync["after"]["waits_per_s"], sync["after"]["avg_wait_ms"]) == (519.0, 2.13)
    assert sync["before"]["average_active_sessions"] == pytest.approx(72 * 0.02645)
    # Not measured before: no row, and not zero.
    assert found.filter(event="latch: redo writing")["host"].to_list() == ["after"]
    assert found.height == 14


def test_the_casebook_s_profile_of_waits_in_centiseconds(tmp_path: Path) -> None:
    days = {"d90_cs": 90, "d30_cs": 30, "d7_cs": 7, "today_cs": 0}
    mapping = '[csv]\nfile = "waits.csv"\n' + "".join(
        f'[[row]]\ntable = "wait"\ndb = "oracle:DW"\nevent = "{{event}}"\nwait_class = "{{class}}"\n'
        f"ago_s = {86400 * ago}\n"
        f'avg_wait_ms = {{ column = "{column}", factor = 10 }}\n'
        for column, ago in days.items()
    )
    found = frame(read_mapped(tmp_path, mapping, CASEBOOK / "capacity/dw_profile.csv"), "wait").sort("ts")
    read = found.filter(event="direct path read temp")
    assert read["avg_wait_ms"].to_list() == pytest.approx([15.6, 18.0, 16.0, 16.0])
    assert read["ts"].diff().dt.total_days().to_list() == [None, 60, 23, 7]
    assert found.filter(event="log file sync")["avg_wait_ms"].to_list() == [5.0, 10.0]


def test_the_casebook_s_tablespaces_by_day(tmp_path: Path) -> None:
    mapping = (
        '[csv]\nfile = "waits.csv"\ntime = "date"\n[[row]]\ntable = "space"\nkind = "tablespace"\n'
        'name = "{tablespace}"\n'
        'db = "oracle:DW"\nused_bytes = { column = "used_mb", factor = 1048576 }\n'
        'available_bytes = { column = "available_mb", factor = 1048576 }\n'
    )
    found = frame(read_mapped(tmp_path, mapping, CASEBOOK / "capacity/tablespace_daily.csv"), "space")
    second = found.filter(name="Tablespace2").sort("ts")
    assert second["available_bytes"].to_list()[-1] == 2000 << 20
    daily = (second["used_bytes"][-1] - second["used_bytes"][0]) / 3 / (1 << 20)
    assert daily == pytest.approx(667, abs=1)


@pytest.mark.parametrize(
    ("file", "mapping"),
    [
        (
            "redo/stats_before.csv",
            'table = "statistic"\ncomponent = "oracle"\nname = "v$sysstat.{statistic}"\nentity = "{class}"\n'
            'value = "value"\nunit = "{unit}"\nkind = "gauge"',
        ),
        (
            "redo/system.csv",
            'table = "statistic"\ncomponent = "system"\nname = "{parameter}"\nvalue = { column = "before", '
            'strip = ["%", "ms"] }',
        ),
        ("redo/config.csv", 'table = "setting"\ncomponent = "oracle"\nname = "{setting}"\nvalue = "{before}"'),
        (
            "redo/profile.csv",
            'table = "statistic"\ncomponent = "oracle"\nname = "{statistic}"\nvalue = "before"\nunit = "{unit}"',
        ),
        ("capacity/oracle_statistics.csv", 'table = "setting"\ncomponent = "wanted"\nname = "{source}.{name}"'),
        (
            "caching/fs_vs_db_cache.csv",
            'table = "cpu"\nhost = "{cache} cache, {os}"\nusr_pct = "usr_pct"\nsys_pct = "sys_pct"\n'
            'xcalls_per_s = "xcalls_per_s"',
        ),
        (
            "consolidation/timeouts.csv",
            'table = "timing"\nrun = "{case}"\nduration_s = { column = "measurement_hours", factor = 3600 }\n'
            'over_limit = "requests_over_60s"',
        ),
        (
            "consolidation/bandwidth_steps.csv",
            'table = "disk"\ndevice = "{step}"\nread_bytes_per_s = { column = "bandwidth_mb_per_s", factor = 1e6 }',
        ),
    ],
)
def test_the_casebook_s_tables_are_read_whole(tmp_path: Path, file: str, mapping: str) -> None:
    reading = read_mapped(tmp_path, f'[csv]\nfile = "waits.csv"\n[[row]]\n{mapping}\n', CASEBOOK / file)
    lines = (CASEBOOK / file).read_text().splitlines()
    assert sum(len(batch) for batch in reading.batches) == len(lines) - 1
    assert reading.skipped == []


def test_durations_are_hours_minutes_and_seconds(tmp_path: Path) -> None:
    mapping = '[csv]\nfile = "runs.csv"\n[[row]]\ntable = "timing"\nrun = "{run}"\n'
    mapping += 'duration_s = { column = "took", unit = "h:mm:ss" }\n'
    reading = read_mapped(tmp_path, mapping, "run,took\na,05:03:04\nb,\nc,5:3\nd,100:00:59.5\n", "runs.csv")
    assert frame(reading, "timing").select("run", "duration_s").rows() == [("a", 18184.0), ("d", 360059.5)]
    assert reasons(reading)[0] == "no figure in the CSV: '5:3' is not of the form h:mm:ss"
    with pytest.raises(UserError, match="there is no unit 'fortnights'"):
        read_mapped(tmp_path, mapping.replace("h:mm:ss", "fortnights"), "run,took\na,1\n", "runs.csv")
