"""Histograms as tracers print them."""

import re
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.tracing.histogram_text import ASSUMED_UNIT
from latency_files import buckets, latencies, read_text, reasons
from shared import CASEBOOK, CORPUS, sample

BCC = """Tracing block device I/O... Hit Ctrl-C to end.

08:00:01
disk = vda
     usecs               : count    distribution
         0 -> 1          : 4        |****                                    |
         2 -> 3          : 9        |*********                               |

08:00:06
disk = vda
     usecs               : count    distribution
         0 -> 1          : 1        |*                                       |

disk = vdb
     usecs               : count    distribution
         4 -> 7          : 2        |**                                      |

"""
DTRACE = """ 18 92927 :tick-5s
tnslsnr 25351
value ------------- Distribution ------------- count
< 0 | 0
0 |@@@@ 16
1 |@@ 7
2 | 0
tnslsnr 25351
value ------------- Distribution ------------- count
0 |@@@@ 3
1 | 0
"""


def test_stamps_end_intervals_and_a_subject_that_is_not_printed_had_none(tmp_path: Path) -> None:
    reading = read_text(tmp_path, BCC)
    found = latencies(reading).sort("ts", "subject", "gt_us").select("ts", "interval_s", "subject", "gt_us", "count")
    assert [(str(row[0])[11:19], *row[1:]) for row in found.rows()] == [
        ("08:00:01", 5.0, "vda", 0.0, 4),
        ("08:00:01", 5.0, "vda", 2.0, 9),
        ("08:00:01", 5.0, "vdb", 0.0, 0),
        ("08:00:06", 5.0, "vda", 0.0, 1),
        ("08:00:06", 5.0, "vdb", 4.0, 2),
    ]
    assert reasons(reading) == [
        "no date beside its times of day: 1970-01-01, when it was last written, is taken (--day tells)"
    ]


def test_what_was_known_and_is_not_printed_again_counts_none(tmp_path: Path) -> None:
    found = latencies(read_text(tmp_path, BCC + "08:00:11\n08:00:16\n"))
    assert found.filter(count=0).group_by("ts").len().sort("ts")["len"].to_list() == [1, 2, 2]


def test_a_clock_that_passes_midnight_goes_on(tmp_path: Path) -> None:
    text = BCC.replace("08:00:01", "23:59:58").replace("08:00:06", "00:00:03")
    assert set(latencies(read_text(tmp_path, text))["interval_s"]) == {5.0}


def test_ticks_count_intervals_and_the_unit_is_the_users(tmp_path: Path) -> None:
    reading = read_text(tmp_path, DTRACE, unit_us=10_000)
    assert buckets(reading, "interval_s", "subject") == [
        (5.0, "tnslsnr 25351", 0.0, 10_000.0, 16),
        (5.0, "tnslsnr 25351", 10_000.0, 20_000.0, 7),
        (5.0, "tnslsnr 25351", 0.0, 10_000.0, 3),
    ]
    assert [ts.timestamp() for ts in latencies(reading)["ts"].unique().sort()] == [5, 10]
    assert ASSUMED_UNIT not in reasons(reading)


def test_without_a_unit_nanoseconds_are_taken_and_said(tmp_path: Path) -> None:
    reading = read_text(tmp_path, DTRACE)
    assert buckets(reading)[0] == (0.0, 0.001, 16)
    assert reasons(reading).count(ASSUMED_UNIT) == 1


def test_systemtap_leaves_out_empty_rows(tmp_path: Path) -> None:
    text = "pread us\nvalue |-------- count\n    1 |@ 3\n    2 |   0\n      ~\n   64 |@@ 5\n  128 |   0\n"
    assert buckets(read_text(tmp_path, text, unit_us=1.0), "subject") == [
        ("pread us", 1.0, 2.0, 3),
        ("pread us", 64.0, 128.0, 5),
    ]


def test_dates_without_a_zone_are_placed_and_that_is_said(tmp_path: Path) -> None:
    histogram = "pread us\nvalue |-------- count\n    1 |@ 3\n    2 |   0\n\n"
    text = f"Tue Aug 27 10:54:53 2013\n{histogram}Tue Aug 27 10:55:03 2013\n{histogram}"
    reading = read_text(tmp_path, text, unit_us=1.0)
    assert reasons(reading) == [ZONE_ASSUMED]
    assert set(latencies(reading)["subject"]) == {"pread us"}
    assert set(latencies(reading)["interval_s"]) == {10.0}
    assert str(latencies(reading)["ts"].min()) == "2013-08-27 10:54:53+00:00"
    assert reasons(read_text(tmp_path, text, unit_us=1.0, zone="Europe/Paris")) == []


def test_bpftrace_names_what_and_unit_by_the_map(tmp_path: Path) -> None:
    text = "Attaching 2 probes...\n\n@read_ms[postgres, 3]: \n[1]   2 |@@ |\n[4K, ...)  1 |@ |\n\n@c[postgres]: 7\n"
    reading = read_text(tmp_path, text)
    assert buckets(reading, "subject") == [
        ("read postgres 3", 1_000.0, 2_000.0, 2),
        ("read postgres 3", 4_096_000.0, None, 1),
    ]
    assert [str(skipped) for skipped in reading.skipped if skipped.line] == [
        f"{tmp_path}/file:7: not part of a histogram"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("     bytes : count distribution\n 0 -> 1 : 4 |**|\n", "a histogram of bytes, not of time"),
        ("@us:\n(..., 0)  4 |@@ |\n", "times below zero"),
        ("@us:\n[4, 9)  4 |@@ |\n[8, 16) 1 |@ |\n", "a histogram whose buckets overlap"),
    ],
)
def test_what_are_no_times_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        read_text(tmp_path, text)
    assert reason in reasons(read_text(tmp_path, BCC + text))


def test_lines_that_say_nothing_are_counted(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "The tool says\nwhat it is.\n" + BCC + "strange\n\n" * 30 + BCC)
    assert reasons(reading).count("not part of a histogram") == 20
    assert reading.skipped_lines == 30
    assert reading.skipped[-1].reason == "10 more lines: not part of a histogram"


def test_windows_lines_and_any_truncation(tmp_path: Path) -> None:
    assert buckets(read_text(tmp_path, BCC.replace("\n", "\r\n"))) == buckets(read_text(tmp_path, BCC))
    for length in range(BCC.index("|") + 1, len(BCC), 7):
        counted = latencies(read_text(tmp_path, BCC[:length]))["count"].sum()
        assert 0 < counted <= 16


SAMPLES = (
    ("bpf/LucaCanali_ora_logicalIO_histogram_example.txt", "kcbgtcr latency"),
    ("bpf/LucaCanali_ora_wait_histogram_example.txt", "db file sequential read"),
    ("testbed/bpftrace_biolatency.txt", "266338304 WS"),
    ("testbed/bpftrace_runqlat.txt", "latency"),
    ("testbed/bpftrace_usdt_pg_lwlock.txt", "WALWrite"),
    ("testbed/bpftrace_usdt_pg_smgr_read.txt", "latency"),
    ("testbed/libbpf_biolatency.txt", "block device I/O"),
    ("testbed/libbpf_biolatency_D.txt", "vda"),
    ("testbed/libbpf_runqlat.txt", "run queue"),
)


@pytest.mark.parametrize(("name", "subject"), SAMPLES)
def test_the_samples_sum_as_their_texts_do(name: str, subject: str) -> None:
    file = sample(CORPUS / name)
    rows = re.findall(r"^(?:\[[^)\]]+[)\]] +|\s+\d+ -> \d+\s+: )(\d+) +\|", file.read_text(), re.MULTILINE)
    found = latencies(read_file(file))
    assert found["count"].sum() == sum(map(int, rows))
    assert subject in set(found["subject"])


def test_the_listener_of_the_casebook_shows_its_two_processes() -> None:
    """L08: the one that leaks takes 90 to 130 ms a pass, the fresh one 20 to 30 ms."""
    found = latencies(read_file(sample(CASEBOOK / "listener/loop_times.dtrace"), unit_us=10_000))
    slow = found.filter(found["gt_us"] >= 80_000)
    assert set(slow["subject"]) == {"tnslsnr 15697"}
    assert slow["count"].sum() == 213
    assert set(found["interval_s"]) == {5.0}


BITESIZE = """Tracing... Hit Ctrl-C to end.

     PID  CMD
    7110  -bash

           value  ------------- Distribution ------------- count
             512 |                                         0
            1024 |@@@@@@@@@@                               2
            2048 |                                         0

"""
PRIORITIES = """ CMD: oracle           PID: 2190

           value  ------------- Distribution ------------- count
              -5 |                                         0
               0 |@@@@@@@@@                                662
               5 |                                         0
"""


@pytest.mark.parametrize(
    ("text", "of"),
    [
        (BITESIZE, "bytes"),
        (PRIORITIES, "priorities"),
        (BITESIZE.replace("     PID  CMD\n", "").replace("7110  -bash", "read size (bytes)"), "size"),
    ],
)
def test_bytes_and_priorities_are_no_latencies(tmp_path: Path, text: str, of: str) -> None:
    with pytest.raises(UserError, match=f"a histogram of {of}, not of time"):
        read_text(tmp_path, text)


def test_keys_before_a_blank_line_belong_to_the_histogram(tmp_path: Path) -> None:
    text = BITESIZE.replace("     PID  CMD\n", "").replace("    7110  -bash", "  pread64")
    reading = read_text(tmp_path, text + text.replace("pread64", "pwrite64").partition("end.")[2])
    assert set(latencies(reading)["subject"]) == {"pread64", "pwrite64"}
    assert not any("not part of a histogram" in reason for reason in reasons(reading))


def test_a_unit_of_time_beside_it_makes_it_one(tmp_path: Path) -> None:
    text = "@block_io_us:\n[1, 2)                 4 |@@@@|\n"
    assert set(latencies(read_text(tmp_path, text))["subject"]) == {"block_io"}
