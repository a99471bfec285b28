"""sar's text of four systems: clocks, dates, switches that share a row, and averages that must come out again."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.errors import UserError
from doctord.read.formats import Reading, read_source
from doctord.read.source import ReadOptions
from doctord.read.sysstat import sar_text
from reading import SAMPLES, figure, frame, picked, read_sample
from sar_averages import averages, compared
from shared import CASEBOOK, CORPUS, sample
from sources import text_source

LINUX = "Linux 5.14.0 (db1) \t{date} \t_x86_64_\t(2 CPU)\n\n"
LOAD = """{0}      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked
{1}            0       113      0.79      1.11      1.44         0
{2}            8       122      0.79      1.11      1.44         1
"""


def read_text(text: str, name: str = "sar.txt", options: ReadOptions | None = None) -> Reading:
    reading = read_source(text_source(text, name, options))
    assert reading.format == sar_text.NAME
    return reading


def load(day: str, *times: str) -> str:
    return LINUX.format(date=day) + LOAD.format(*times)


def moments(reading: Reading, table: str = "cpu") -> list[datetime]:
    return [moment for (moment,) in frame(reading, table).sort("ts").select("ts").rows()]


def test_switches_of_one_moment_share_a_row() -> None:
    reading = read_sample("sar_text.american.txt")
    first = frame(reading, "cpu").filter(pl.col("cpu").is_null()).to_dicts()[0]
    shown = {name: value for name, value in first.items() if value is not None and name not in {"ts", "host"}}
    assert first["ts"] == datetime(2024, 3, 4, 11, 50, 1, tzinfo=UTC)
    assert shown == {
        "interval_s": 600.0, "usr_pct": 13.0, "sys_pct": 4.0, "wait_io_pct": 3.0, "steal_pct": 0.0, "idle_pct": 80.0,
        "run_queue": 2.0, "csw_per_s": 1200.0, "forks_per_s": 3.5, "interrupts_per_s": 1500.0,
    }  # fmt: skip


def test_memory_comes_together_from_its_switches() -> None:
    reading = read_sample("sar_text.american.txt")
    kib, columns = 1024, ("total_bytes", "free_bytes", "swap_total_bytes", "swap_free_bytes")
    assert picked(reading, "memory", *columns)[0] == (2_000_000 * kib, 500_000 * kib, 2_000_000 * kib, 1_000_000 * kib)
    columns = ("minor_faults_per_s", "major_faults_per_s", "scan_per_s", "page_in_kib_per_s")
    assert picked(reading, "memory", *columns) == [(4990.0, 10.0, 42.0, 100.0), (5100.0, 0.0, 0.0, 110.0)]


def test_a_cpu_that_is_switched_off_has_no_row() -> None:
    reading = read_sample("sar_text.american.txt")
    assert [len(picked(reading, "cpu", "ts", cpu=cpu)) for cpu in (None, 0, 1, 2)] == [2, 2, 2, 1]


def test_without_requests_nothing_was_timed() -> None:
    reading = read_sample("sar_text.american.txt")
    columns = ("requests_per_s", "read_bytes_per_s", "write_bytes_per_s", "request_ms", "queue", "util_pct")
    assert picked(reading, "disk", *columns, device="dev8-0")[0] == (10.0, 81920.0, 163840.0, 50.0, 0.5, 2.0)
    assert picked(reading, "disk", *columns, device="dev8-16")[0] == (0.0, 0.0, 0.0, None, 0.0, 0.0)


def test_errors_and_drops_are_added_up_and_kept_apart() -> None:
    reading = read_sample("sar_text.american.txt")
    assert picked(reading, "network", "interface", "errors_per_s")[0] == ("eth0", 10.0)
    assert figure(reading, "sar.txdrop", entity="eth0") == [4.0, 0.0]


def test_comments_are_events() -> None:
    reading = read_sample("sar_text.american.txt")
    told = (datetime(2024, 3, 4, 11, 45, 7, tzinfo=UTC), "comment", "COM backup begins")
    assert picked(reading, "event", "ts", "kind", "text") == [told]


def test_across_midnight_and_a_restart() -> None:
    reading = read_sample("sar_text.german.txt")
    day = datetime(2024, 4, 30, tzinfo=UTC)
    times = [day + timedelta(hours=23, minutes=50), day + timedelta(days=1), day + timedelta(days=1, minutes=20)]
    assert moments(reading) == moments(reading, "statistic")[::6] == times
    assert [row["interval_s"] for row in frame(reading, "cpu").to_dicts()] == [600.0] * 3
    restart = (day + timedelta(days=1, minutes=4, seconds=12), "restart", "LINUX RESTART (2 CPU)")
    assert picked(reading, "event", "ts", "kind", "text") == [restart]
    assert picked(reading, "cpu", "usr_pct", "steal_pct")[0] == (2.0, 0.25)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("21.11.2026", (2026, 11, 21)),
        ("2026-11-21", (2026, 11, 21)),
        ("2026年11月21日", (2026, 11, 21)),
        ("2026년 11월 21일", (2026, 11, 21)),
        ("11/21/26", (2026, 11, 21)),
        ("21/11/26", (2026, 11, 21)),
        ("21/11/2026", (2026, 11, 21)),
        ("03/04/26", (2026, 3, 4)),
        ("03/04/2026", (2026, 4, 3)),
    ],
)
def test_dates_of_many_places(text: str, day: tuple[int, int, int]) -> None:
    reading = read_text(load(text, "10:00:00", "10:00:10", "10:00:20"))
    assert moments(reading)[0] == datetime(*day, 10, 0, 10, tzinfo=UTC)
    assert any("is taken for" in note for note in reading.notes) == text.startswith("03")


def test_an_american_clock_tells_the_order_of_a_date() -> None:
    reading = read_text(load("03/04/2026", "11:59:50 AM", "12:00:00 PM", "12:00:10 PM"))
    assert moments(reading) == [datetime(2026, 3, 4, 12, 0, s, tzinfo=UTC) for s in (0, 10)]
    assert not any("is taken for" in note for note in reading.notes)


def test_a_comma_tells_the_order_of_a_date() -> None:
    reading = read_text(load("03/04/26", "10:00:00", "10:00:10", "10:00:20").replace(".", ","))
    assert moments(reading)[0].date() == date(2026, 4, 3)


@pytest.mark.parametrize(
    "clock", ["{:02}时{:02}分{:02}秒", "{:02}時{:02}分{:02}秒", "{:02}시 {:02}분 {:02}초", "{:02}.{:02}.{:02}"]
)
def test_clocks_of_many_places(clock: str) -> None:
    times = [clock.format(23, 59, 50), clock.format(0, 0, 0), clock.format(0, 0, 10)]
    reading = read_text(load("2026-11-21", *times))
    assert moments(reading) == [datetime(2026, 11, 22, 0, 0, s, tzinfo=UTC) for s in (0, 10)]


@given(
    begin=st.integers(0, 86_399), steps=st.lists(st.integers(1, 80_000), min_size=1, max_size=8), twelve=st.booleans()
)
def test_time_goes_on(begin: int, steps: list[int], twelve: bool) -> None:  # noqa: FBT001 - drawn
    """Whatever the steps below a day, and with whatever clock, moments and intervals come out."""
    start = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=begin)
    times = [start + timedelta(seconds=sum(steps[:count])) for count in range(len(steps) + 1)]
    clock = "%I:%M:%S %p" if twelve else "%H:%M:%S"
    lines = [f"{time.strftime(clock)}      100.0     200.0" for time in times[1:]]
    text = (
        LINUX.format(date="11/21/2026") + f"{start.strftime(clock)}       proc/s   cswch/s\n" + "\n".join(lines) + "\n"
    )
    rows = frame(read_text(text), "cpu")
    assert rows["ts"].to_list() == times[1:]
    assert rows["interval_s"].to_list() == steps


def test_an_hour_that_comes_twice_is_told_apart() -> None:
    text = load("2026-10-25", "02:30:00", "02:50:00", "02:10:00")
    reading = read_text(text, options=ReadOptions(zone=ZoneInfo("Europe/Paris")))
    assert moments(reading) == [datetime(2026, 10, 25, hour, minute, tzinfo=UTC) for hour, minute in ((0, 50), (1, 10))]


def test_without_a_header_the_name_tells_the_day() -> None:
    reading = read_text(LOAD.format("10:00:00", "10:00:10", "10:00:20"), "sar_20260213.txt")
    assert moments(reading)[0] == datetime(2026, 2, 13, 10, 0, 10, tzinfo=UTC)


def test_the_user_tells_the_day() -> None:
    options = ReadOptions(day=date(2026, 2, 14))
    assert moments(read_text(load("03/04/26", "10:00:00", "10:00:10", "10:00:20"), options=options))[0].day == 14


def test_several_files_in_one() -> None:
    first, second = (
        load("11/20/26", "10:00:00", "10:00:10", "10:00:20"),
        load("11/21/26", "10:00:00", "10:00:10", "10:00:20"),
    )
    reading = read_text(first + second.replace("(db1)", "(db2)"))
    assert picked(reading, "cpu", "host", "ts") == [
        (host, datetime(2026, 11, day, 10, 0, s, tzinfo=UTC))
        for host, day in (("db1", 20), ("db2", 21))
        for s in (10, 20)
    ]


def test_a_report_without_lines_before_another_moves_no_line_number() -> None:
    header = LINUX.format(date="11/20/26").strip() + "\n"
    reading = read_text(header * 3 + LOAD.format("10:00:00", "10:00:10", "10:00:20") + "nothing of sar\n")
    assert len(moments(reading)) == 2
    assert [skipped.line for skipped in reading.skipped] == [7]


def test_switches_printed_one_after_another_are_of_one_day() -> None:
    """What `sar 1 5` prints: each moment under headings of its own, past midnight."""
    text = LINUX.format(date="11/21/26")
    for before, now in (("23:59:58", "23:59:59"), ("23:59:59", "00:00:00"), ("00:00:00", "00:00:01")):
        text += f"{before}       proc/s   cswch/s\n{now}         1.00      2.00\n\n"
        text += f"{before}     pswpin/s pswpout/s\n{now}         3.00      4.00\n\n"
    reading = read_text(text)
    seconds = [(moment - datetime(2026, 11, 22, tzinfo=UTC)).total_seconds() for moment in moments(reading)]
    assert seconds == [-1, 0, 1]
    assert moments(reading, "memory") == moments(reading)


def test_a_file_that_grew_has_the_same_rows() -> None:
    text = load("2026-11-21", "10:00:00", "10:00:10", "10:00:20")
    grown = text + "10:00:30            3       122      0.79      1.11      1.44         1\n"
    assert frame(read_text(grown), "cpu").head(2).equals(frame(read_text(text), "cpu"))


def test_a_figure_that_is_cut_off_is_not_taken() -> None:
    text = load("2026-11-21", "10:00:00", "10:00:10", "10:00:20").rstrip()
    whole, cut = read_text(text), read_text(text[:-1])
    assert (whole.skipped_lines, len(frame(whole, "cpu"))) == (0, 2)
    assert (cut.skipped_lines, len(frame(cut, "cpu"))) == (1, 1)


def test_sizes_with_units_and_names_at_the_end() -> None:
    """What `sar -h` prints: --human and --pretty."""
    text = (
        LINUX.format(date="2026-11-21")
        + "09:42:37          tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV\n"
        + "09:42:38      2786.41      4.5M     54.5k      0.0B     13.7k      3.39      1.22      4.3% vda\n"
    )
    columns = ("device", "requests_per_s", "read_bytes_per_s", "write_bytes_per_s", "util_pct")
    assert picked(read_text(text), "disk", *columns) == [("vda", 2786.41, 4.5 * 1024**2, 54.5 * 1024, 4.3)]


def test_solaris_prints_all_headings_first() -> None:
    reading = read_sample("sar_text.solaris.txt")
    assert reading.skipped_lines == 0
    assert picked(reading, "cpu", "ts", "usr_pct", "run_queue", "csw_per_s", "syscalls_per_s", "forks_per_s") == [
        (datetime(2021, 11, 5, 23, 55, tzinfo=UTC), 30.0, 0.3, 1420.0, 2603.0, 0.07),
        (datetime(2021, 11, 6, tzinfo=UTC), 20.0, 0.0, 1100.0, 2000.0, 0.05),
    ]
    columns = ("device", "requests_per_s", "queue", "host_queue_ms", "device_ms", "util_pct")
    assert picked(reading, "disk", *columns)[:3] == [
        ("sd0", 34.0, 0.6, 1.5, 16.1, 18.0),
        ("sd0,a", 2.0, 0.0, 0.0, 29.8, 1.0),
        ("nfs1", 0.0, 0.0, None, None, 0.0),
    ]
    assert picked(reading, "memory", "free_bytes", "swap_free_bytes", "scan_per_s")[0] == (
        166293 * 8192,
        8348352 * 512,
        12.0,
    )
    assert figure(reading, "sar.lg_mem.fail", component="solaris") == [0.0, 0.0]
    assert figure(reading, "sar.proc-sz") == [63.0, 62.0]


def test_hpux_leaves_columns_blank() -> None:
    reading = read_sample("sar_text.hpux.txt")
    assert figure(reading, "sar.%runocc") == [40.0]
    assert figure(reading, "sar.swpq-sz") == [0.0]
    assert picked(reading, "cpu", "cpu", "usr_pct")[:3] == [(0, 20.0), (1, 18.0), (None, 19.0)]
    assert picked(reading, "cpu", "run_queue", cpu=None) == [(0.8,), (None,)]
    assert figure(reading, "sar.text-sz") == []


def test_aix_counts_what_a_partition_is_entitled_to() -> None:
    reading = read_sample("sar_text.aix.txt")
    assert figure(reading, "sar.physc", entity=None, component="aix") == [0.35, 0.45]
    assert figure(reading, "sar.%entc", entity="CPU0") == [60.0, 80.0]
    assert figure(reading, "sar.physc", entity="U") == [0.15]
    assert picked(reading, "cpu", "usr_pct", cpu=None) == [(30.0,), (50.0,)]
    assert picked(reading, "event", "text") == [("unix restarts",)]


@pytest.mark.parametrize(
    "name", ["sar/vlsi_sar-10.1.5", "sar/vlsi_hpux-sar.txt", "sar/vlsi_testSolaris.txt", "testbed/sa_1s_60.sarA.txt"]
)
def test_averages_of_the_corpus_come_out(name: str) -> None:
    """Every average that the file prints follows from the rows, within what rounding leaves."""
    text = sample(CORPUS / name).read_text()
    reading = read_text(text)
    assert reading.skipped_lines == 0
    wrong, count = compared(reading, averages(text))
    assert not wrong, wrong[:5]
    assert count > 100 or "hpux" in name


@pytest.mark.parametrize(
    "name", ["queue_depth/sar-d.txt", "cpu/sar-q.txt", "cpu/sar-u.txt", "cpu/sar-w.txt", "cpu/sar-c.txt"]
)
def test_the_casebook_is_read(name: str) -> None:
    reading = read_text(sample(CASEBOOK / name).read_text())
    assert (reading.skipped_lines, sum(map(len, reading.batches)) > 0) == (0, True)


@pytest.mark.parametrize(
    "text",
    [
        LINUX + "10:00:00     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal\n",
        LINUX + "10:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n",
        LINUX + "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n",
        "10:00:00 something else happened\n",
    ],
)
def test_what_is_of_others(text: str) -> None:
    assert not sar_text.sniff(text)


def test_nothing_of_sar_below_a_heading() -> None:
    with pytest.raises(UserError, match="nothing in it can be used"):
        read_text(LINUX.format(date="2026-11-21") + "10:00:00       proc/s   cswch/s\nnoise\n")


def test_the_file_of_this_machine() -> None:
    """A sample that was made here holds what its JSON holds: see test_sadf."""
    reading = read_sample("sar_text.linux.txt")
    assert reading.skipped_lines == 0
    wrong, count = compared(reading, averages((SAMPLES / "sar_text.linux.txt").read_text()))
    assert not wrong, wrong[:5]
    assert count > 100


def test_lines_of_sar_u_without_their_heading() -> None:
    reading = read_sample("sar_text.no_heading.txt")
    assert sar_text.NO_HEADING in reading.notes
    assert picked(reading, "cpu", "idle_pct", "usr_pct", cpu=None)[-2:] == [(99.2, 0.5), (59.2, 40.4)]
    shares = "10:13:19 PM     all      0.80      0.00      0.20      0.00      0.00     {}\n"
    assert not sar_text.sniff(shares.format("50.00") * 3), "six shares that do not make a whole"
    assert sar_text.sniff(shares.format("99.00") * 3)
