"""vmstat of four systems: one line a report."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.errors import UserError
from doctord.read.formats import read_file
from latency_files import read_text
from read.texts import dataset_of, dataset_of_sample, values
from reading import read_sample
from shared import CASEBOOK, CORPUS, sample

HEADING = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
"""
LINUX = ["jc_centos-7.7_vmstat.out", "jc_centos-7.7_vmstat-a.out", "jc_centos-7.7_vmstat-w.out"]


def test_a_long_log_agrees_with_its_text() -> None:
    file = sample(CORPUS / "testbed/vmstat.txt")
    lines = [line.split() for line in file.read_text().splitlines()]
    names = lines[1]
    texts = [dict(zip(names, map(int, words), strict=True)) for words in lines if words and words[0].isdigit()][1:]
    found = dataset_of(file)
    cpu, memory = found.frame("cpu"), found.frame("memory")
    assert cpu.height == memory.height == len(texts) > 50
    assert cpu["run_queue"].to_list() == [text["r"] for text in texts]
    assert cpu["csw_per_s"].sum() == sum(text["cs"] for text in texts)
    assert memory["page_cache_bytes"].to_list() == [(text["buff"] + text["cache"]) * 1024 for text in texts]
    assert memory["page_in_kib_per_s"].sum() == sum(text["bi"] for text in texts)
    assert cpu["blocked_tasks"].to_list() == [text["b"] for text in texts]


def test_long_logs_repeat_their_heading() -> None:
    file = sample(CORPUS / "linux_text/jc_ubuntu-18.04_vmstat-1-long.out")
    figures = [line.split() for line in file.read_text().splitlines() if line.split() and line.split()[0].isdigit()]
    assert dataset_of(file).frame("cpu")["interrupts_per_s"].to_list() == [float(words[10]) for words in figures][1:]


def test_its_stamps_are_in_the_zone_of_the_heading() -> None:
    found = dataset_of(sample(CORPUS / "linux_text/jc_centos-7.7_vmstat-at-5-10.out"), zone=None).frame("cpu")
    first = datetime(2021, 9, 17, 3, 33, 18, tzinfo=UTC)  # 20:33:18 PDT
    assert found["ts"].to_list() == [first + timedelta(seconds=5 * number) for number in range(3)]
    assert found["interval_s"].to_list() == [5.0] * 3


@pytest.mark.parametrize("name", LINUX)
def test_one_look_alone_is_since_boot(name: str) -> None:
    found = dataset_of(sample(CORPUS / "linux_text" / name))
    (cpu,) = found.frame("cpu").to_dicts()
    assert (cpu["interval_s"], cpu["idle_pct"], cpu["run_queue"]) == (None, 99.0, 2.0)
    assert found.frame("memory")["free_bytes"][0] > 2794000 * 1024


def test_started_again_and_again_each_line_is_since_boot() -> None:
    found = dataset_of_sample("vmstat.again.txt")
    assert found.frame("cpu").select("run_queue", "idle_pct").rows() == [(1.0, None), (9.0, None), (0.0, None)]
    assert found.frame("memory")["free_bytes"].to_list() == [812340 * 1024, 799120 * 1024, 804412 * 1024]
    assert values(found, "since_boot.cpu.idle_pct") == [84.0] * 3
    assert diagnose(found).health == "not_judged"


def test_a_second_line_of_each_start_is_of_its_time(tmp_path: Path) -> None:
    """vmstat 1 2, made again and again."""
    heading, first = (
        HEADING.splitlines(),
        " 1  0      0 812340 102340 4123400    0    0    41    90  300  500 11  3 84  2  0",
    )
    runs = ["\n".join([*heading, first, first.replace(" 84 ", f" {idle} ")]) for idle in (50, 60, 70)]
    cpu = Dataset.from_batches(read_text(tmp_path, "\n".join(runs) + "\n").batches).frame("cpu")
    assert cpu["idle_pct"].to_list() == [50.0, 60.0, 70.0]


def test_solaris_counts_faults_system_calls_and_disks() -> None:
    found = dataset_of(sample(CASEBOOK / "cpu/vmstat.txt"))
    cpu, memory = found.frame("cpu"), found.frame("memory")
    assert cpu.select("run_queue", "syscalls_per_s", "usr_pct", "sys_pct", "idle_pct").rows() == [
        (0.0, 31834.0, 27.0, 2.0, 72.0),
        (0.0, 45464.0, 33.0, 3.0, 64.0),
    ]
    assert memory["free_bytes"].to_list() == [93835392 * 1024, 91878616 * 1024]
    assert memory["minor_faults_per_s"].to_list() == [21.0, 146.0]
    assert cpu["blocked_tasks"].to_list() == [19.0, 18.0]
    disks = dataset_of_sample("vmstat.solaris.txt").frame("statistic").filter(name="vmstat.disk")
    assert disks["value"].to_list() == [30.0, 29.0, 0.0, 1.0, 31.0, 30.0, 0.0, 0.0]
    assert disks["entity"].unique().sort().to_list() == ["1 m0", "2 m1", "3 m3", "4 m5"]


def test_solaris_with_swapping_and_with_kinds_of_pages(tmp_path: Path) -> None:
    swapping = """ kthr      memory            page            disk          faults      cpu
 r b w   swap  free  si  so pi po fr de sr s0 -- -- --   in   sy   cs us sy id
 1 0 0 812345 412345  3   4 40  8  8  0 50 -0  0  0  0  800 4000 2100 12  5 83
"""
    found = Dataset.from_batches(read_text(tmp_path, swapping).batches)
    assert (values(found, "vmstat.si"), values(found, "vmstat.so")) == ([3.0], [4.0])
    assert values(found, "vmstat.disk") == [0.0], "-- is no disk, -0 none of its operations"
    kinds = """     memory           page          executable      anonymous      filesystem
   swap  free  re  mf  fr  de  sr  epi  epo  epf  api  apo  apf  fpi  fpo  fpf
 812345 412345 20 120   8   0   5    1    0    0   16    8    0   40    0    8
"""
    found = Dataset.from_batches(read_text(tmp_path, kinds).batches)
    assert (values(found, "vmstat.api"), values(found, "vmstat.fpi")) == ([16.0 * 1024], [40.0 * 1024])
    assert found.frame("memory")["scan_per_s"].to_list() == [5.0]


def test_aix_counts_pages_of_4_kib_and_tells_capacity() -> None:
    found = dataset_of_sample("vmstat.aix.txt")
    (cpu,) = found.frame("cpu").to_dicts()
    assert (cpu["run_queue"], cpu["syscalls_per_s"], cpu["sys_pct"], cpu["wait_io_pct"]) == (9.0, 9000.0, 25.0, 5.0)
    assert (cpu["ts"].time().isoformat(), cpu["interval_s"]) == ("10:11:17", 5.0)
    (memory,) = found.frame("memory").to_dicts()
    assert (memory["free_bytes"], memory["swap_in_per_s"], memory["scan_per_s"]) == (190000 * 4096, 5.0, 400.0)
    assert values(found, "vmstat.cpu pc") == [1.4]


def test_hp_ux_counts_pages() -> None:
    (memory,) = dataset_of_sample("vmstat.hpux.txt").frame("memory").to_dicts()
    assert (memory["free_bytes"], memory["page_in_kib_per_s"], memory["scan_per_s"]) == (80000 * 4096, 48.0, 50.0)


def test_guests_are_part_of_user_time() -> None:
    cpu = dataset_of_sample("vmstat.w.txt").frame("cpu")
    parts = cpu.select(pl.sum_horizontal("usr_pct", "sys_pct", "idle_pct", "wait_io_pct", "steal_pct"))
    assert parts.item() == pytest.approx(100, abs=1)


@pytest.mark.parametrize(
    ("name", "cpu", "memory"),
    [
        ("aix_times", (79.0, 8.0, 13.0, 10.0), ("swap_out_per_s", 2.0)),
        ("aix_no_heading", (98.0, 2.0, 0.0, 19.0), ("free_bytes", 24992 * 4096)),
        ("linux_no_heading", (20.0, 5.0, 70.0, 0.0), ("free_bytes", 812345 * 1024)),
        ("solaris_no_heading", (20.0, 5.0, 75.0, 0.0), ("free_bytes", 810022 * 1024)),
    ],
)
def test_columns_without_their_heading_are_known_by_their_shape(
    name: str, cpu: tuple[float, ...], memory: tuple[str, float]
) -> None:
    found = dataset_of_sample(f"vmstat.{name}.txt")
    assert found.frame("cpu").select("usr_pct", "sys_pct", "idle_pct", "run_queue").row(0) == cpu
    assert found.frame("memory")[memory[0]][0] == memory[1]
    assert any("no heading above its figures" in note for note in read_sample(f"vmstat.{name}.txt").notes)


def test_a_time_before_the_figures_is_their_time() -> None:
    found = dataset_of_sample("vmstat.aix_times.txt").frame("cpu")
    assert found["ts"].dt.strftime("%H:%M:%S").to_list() == ["18:43:40", "18:43:45", "18:43:50", "18:43:55"]
    assert found["interval_s"].to_list() == [None, 5.0, 5.0, 5.0]


@pytest.mark.parametrize(
    "rows",
    [
        ["1 0 9000 70 0 0 0 0 0 0 60 90 80 20 5 70 0"] * 4,  # shares that make up 95 %
        ["1 0 9000 70 3 0 0 0 0 0 60 90 80 20 5 75 0"] * 4,  # reclaims on AIX, and no Linux: four shares are 100
        ["1 0 9000 70 0 0 0 0 0 0 60 90 80 20 5 75 0"] * 2,  # too few
    ],
)
def test_figures_that_are_no_vmstat_are_not_taken_for_one(tmp_path: Path, rows: list[str]) -> None:
    (tmp_path / "file").write_text("\n".join(rows) + "\n")
    with pytest.raises(UserError):
        read_file(tmp_path / "file")
