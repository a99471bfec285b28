"""What nobody can have measured: named by line, left out and counted, in every format; zeros of what is not known."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from doctord.read.archive import Piece
from doctord.read.gather import FileRead, read_piece
from doctord.read.plausible import fault
from doctord.read.source import ReadOptions
from reading import SAMPLES

SAR = """Linux 5.14.0-1 (db1) 	2026-03-10 	_x86_64_	(4 CPU)

00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
00:10:01        all     10.00      0.00      5.00      1.00      0.00     84.00
00:20:01        all   8397.00      0.00      5.00      1.00      0.00     84.00

00:00:01          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
00:10:01          sda     10.00    100.00     50.00     15.00      0.10     12.00      5.00
00:20:01          sda     10.00    100.00     50.00     15.00      0.10 30689886.00    5.00
"""
VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 1  0      0 500000  10000 900000    0    0     1     1  100  200  5  2 93  0  0 2026-03-10 00:00:01
 1  0      0 500000  10000 900000    0    0     1     1  100  200  5  2 93  0  0 2026-03-10 00:00:02
 1  0      0 500000  10000 900000    0    0     1     1  100  200 8397  5  2 93  0 2026-03-10 00:00:03
 1  0      0 500000  10000 900000    0    0     1     1  100  200  5  2 93  0  0 0 2026-03-10 00:00:04
"""
MPSTAT = """Linux 5.14.0-1 (db1) 	2026-03-10 	_x86_64_	(2 CPU)

00:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
00:00:02     all   10.00    0.00    5.00    0.00    0.00    0.00    0.00    0.00    0.00   85.00
00:00:03     all   95.00    0.00   95.00    0.00    0.00    0.00    0.00    0.00    0.00   85.00
"""
IOSTAT = """Linux 5.14.0-1 (db1) 	2026-03-10 	_x86_64_	(2 CPU)

2026-03-10 00:00:01
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz  aqu-sz  %util
sda              1.00      4.00     0.00   0.00    1.00     4.00    0.00   1.00

2026-03-10 00:00:02
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz  aqu-sz  %util
sda              1.00      4.00     0.00   0.00    1.00     4.00    0.00   1.00
sdb              1.00      4.00     0.00   0.00    1.00     4.00    0.00   5400.00
"""
PIDSTAT = """Linux 5.14.0-1 (db1) 	2026-03-10 	_x86_64_	(2 CPU)

00:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
00:00:02      999      1234   10.00    1.00    0.00    0.00   11.00     0  postgres
00:00:02      999      1235 9000000.00  1.00    0.00    0.00   11.00     0  postgres
"""
DSTAT = """"Dstat 0.7.4 CSV output"
"Author:","Dag Wieers <dag@wieers.com>",,,,"URL:","http://dag.wieers.com/home-made/dstat/"
"Host:","db1",,,,"User:","root"
"Cmdline:","dstat -Tc --output x.csv 1",,,,"Date:","10 Mar 2026 00:00:00 UTC"

"epoch","total cpu usage",,,,
"epoch","usr","sys","idl","wai","stl"
1773100800.0,10,5,85,0,0
1773100801.0,10,5,85,0,0
1773100802.0,10,8397,85,0,0
"""


def read(tmp_path: Path, text: str) -> FileRead:
    file = tmp_path / "file"
    file.write_text(text)
    return read_piece(Piece(file, "file"), ReadOptions(zone=UTC))


def frame(read_file: FileRead, table: str) -> pl.DataFrame:
    found = pl.from_arrow(read_file.tables[table])
    assert isinstance(found, pl.DataFrame)
    return found


@pytest.mark.parametrize(
    ("text", "table", "rows", "told"),
    [
        (SAR, "cpu", 1, ["file:5: usr_pct above 110 cannot be", "file:9: request_ms above 3600000 cannot be"]),
        (SAR, "disk", 1, ["file:5: usr_pct above 110 cannot be", "file:9: request_ms above 3600000 cannot be"]),
        (
            VMSTAT,
            "cpu",
            1,
            [
                "file:5: usr_pct above 110 cannot be",
                "file:6: more figures than columns, and what is too much is no time",
            ],
        ),
        (MPSTAT, "cpu", 1, ["file:5: shares of a CPU that add up to more than 110 % cannot be"]),
        (IOSTAT, "disk", 1, ["file:10: util_pct above 1000 cannot be"]),
        (PIDSTAT, "process", 1, ["file:5: usr_pct above 819200 cannot be"]),
        (DSTAT, "cpu", 1, ["file:10: sys_pct above 110 cannot be"]),
    ],
)
def test_a_line_that_cannot_be_is_named_and_left_out(
    tmp_path: Path, text: str, table: str, rows: int, told: list[str]
) -> None:
    found = read(tmp_path, text)
    assert list(map(str, found.skipped)) == told
    assert found.skipped_lines == len(told)
    assert frame(found, table).height == rows


def test_what_is_only_bad_stays() -> None:
    assert fault("disk", {"util_pct": 212.8, "read_ms": 40_000.0, "host_queue": 4230.0}) is None
    assert fault("cpu", {"usr_pct": 60.0, "sys_pct": 40.5, "run_queue": 900.0}) is None
    assert fault("wait", {"avg_wait_ms": 9e9}) is None


def dataset_csv(rows: str) -> str:
    return f"ts,interval_s,host,device,request_ms,util_pct\n{rows}"


def test_an_interval_longer_than_counters_run_is_left_out(tmp_path: Path) -> None:
    begin = datetime(2026, 3, 10, tzinfo=UTC)
    times = [f"{begin + timedelta(minutes=10 * number):%Y-%m-%dT%H:%M:%SZ}" for number in range(5)]
    lines = [f"{time},{1.8e17 if number == 3 else 600},db1,sda,5,10\n" for number, time in enumerate(times)]
    found = read(tmp_path, dataset_csv("".join(lines)))
    assert frame(found, "disk")["interval_s"].to_list() == [600.0] * 4
    assert [str(skipped) for skipped in found.skipped] == [
        "file: interval_s above 31622400 cannot be: a row of disk (sda, 2026-03-10 00:30:00) left out"
    ]


def test_one_record_of_the_future_is_left_out_but_a_file_of_it_is_noted(tmp_path: Path) -> None:
    future = datetime.now(UTC) + timedelta(days=5000)
    past = [f"2026-03-10T00:{minute:02}:00Z,60,db1,sda,5,10\n" for minute in range(4)]
    found = read(tmp_path, dataset_csv("".join([*past, f"{future:%Y-%m-%dT%H:%M:%SZ},60,db1,sda,5,10\n"])))
    assert (frame(found, "disk").height, found.skipped_lines) == (4, 1)
    assert "a time in the future cannot be" in str(found.skipped[0])
    found = read(tmp_path, dataset_csv(f"{future:%Y-%m-%dT%H:%M:%SZ},60,db1,sda,5,10\n"))
    assert (frame(found, "disk").height, found.skipped_lines) == (1, 0)
    assert "its times are in the future" in found.notes[0]


def test_a_file_of_which_nothing_can_be_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, dataset_csv("2026-03-10T00:00:00Z,60,db1,sda,5,100000\n"))
    assert found.refusal is not None
    assert "nothing in it can be used: util_pct above 1000 cannot be" in found.refusal[0]


MEMORY = """Linux 2.6.32-431.el6.x86_64 (db1) 	2026-03-10 	_x86_64_	(2 CPU)

00:00:01    kbmemfree   kbavail kbmemused  %memused kbbuffers  kbcached  kbcommit   %commit  kbactive   kbinact   kbdirty  kbanonpg    kbslab  kbkstack   kbpgtbl  kbvmused
00:10:01       104000  {avail}   3800000     97.34    120000   1800000   2500000     40.00   1900000    900000        40 {anon}         0         0         0         0
00:20:01       105000  {avail}   3799000     97.31    120000   1801000   2500000     40.00   1900000    900000        40 {anon}         0         0         0         0
"""  # noqa: E501 - as sar prints it


def test_zeros_of_what_an_old_sysstat_did_not_count_are_not_measured(tmp_path: Path) -> None:
    found = read(tmp_path, MEMORY.format(avail="     0", anon="     0"))
    memory = frame(found, "memory")
    for column in ("available_bytes", "anon_bytes", "page_tables_bytes"):
        assert memory[column].to_list() == [None, None]
    assert memory["free_bytes"].to_list() == [104000 * 1024, 105000 * 1024]
    names = frame(found, "statistic")["name"].unique().to_list()
    assert "sar.kbactive" in names
    assert not {"sar.kbslab", "sar.kbkstack", "sar.kbvmused"} & set(names)
    assert any(
        note.startswith("anon_bytes, page_tables_bytes, available_bytes: 0 in every row") for note in found.notes
    )


def test_memory_that_is_short_indeed_stays(tmp_path: Path) -> None:
    text = (
        MEMORY.format(avail="     0", anon="3500000")
        .replace(" 1800000 ", "    9000 ")
        .replace(" 1801000 ", "    9000 ")
    )
    memory = frame(read(tmp_path, text.replace("120000", "  1000")), "memory")
    assert memory["available_bytes"].to_list() == [0, 0]
    assert memory["anon_bytes"].to_list() == [3500000 * 1024] * 2


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.suffix != ".md"))
def test_no_sample_is_accused(sample: str) -> None:
    found = read_piece(Piece(SAMPLES / sample, sample), ReadOptions(zone=UTC))
    assert not [told for told in map(str, found.skipped) if "cannot be" in told]
