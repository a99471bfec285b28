"""The sampler against this very host: processes whose doings are known, and what it says when it may not look."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from doctord._native import HostSampler
from doctord.collect.linux import LinuxCollector
from doctord.dataset.tables import TABLES
from servers import PACKAGED, PostgresServer

Rows = dict[str, list[dict[str, Any]]]
Start = Callable[..., int]

LAYOUTS = {name: table.layout for name, table in TABLES.items()}
SPIN = "while True: pass"
WRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(file, bytes(1 << 20), 0)
    os.fsync(file)
"""


def take(sampler: HostSampler | LinuxCollector) -> Rows:
    found: Rows = {}
    for batch in sampler.sample():
        found.setdefault(batch.table, []).extend(pa.record_batch(batch).to_pylist())
    return found


def take_after(sampler: HostSampler | LinuxCollector, seconds: float) -> Rows:
    time.sleep(seconds)
    return take(sampler)


def of(found: Rows, pid: int) -> dict[str, Any]:
    return next(row for row in found["process"] if row["pid"] == pid)


@pytest.fixture
def sampler() -> HostSampler:
    return HostSampler("here", LAYOUTS)


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def run(*command: str) -> int:
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        return started[-1].pid

    yield run
    for process in started:
        process.kill()
        process.wait()


def test_the_first_sample_has_gauges_and_no_rates(sampler: HostSampler) -> None:
    found = take(sampler)
    assert "process" not in found
    assert "disk" not in found
    memory = found["memory"][0]
    assert memory["interval_s"] is None
    assert memory["page_in_kib_per_s"] is None
    expected = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert memory["total_bytes"] == expected
    assert {row["name"] for row in found["setting"]} >= {"vm.swappiness", "vm.overcommit_memory"}
    root = next(row for row in found["filesystem"] if row["mount"] == "/")
    space = os.statvfs("/")
    near = pytest.approx(space.f_bavail * space.f_frsize, rel=0.01)
    assert root["available_bytes"] == near
    assert root["size_bytes"] - root["used_bytes"] == pytest.approx(space.f_bfree * space.f_frsize, rel=0.01)


def test_a_busy_process_is_busy_or_waits_for_a_cpu(sampler: HostSampler, start: Start) -> None:
    pid = start(sys.executable, "-c", SPIN)
    take_after(sampler, 0.2)
    row = of(take_after(sampler, 0.8), pid)
    # A wait for a CPU counts when it ends, so on a crowded machine the last one may be missing.
    assert row["usr_pct"] + row["sys_pct"] + row["run_wait_pct"] == pytest.approx(100, abs=20)
    assert row["usr_pct"] > row["sys_pct"]
    assert row["sleep_pct"] < 20
    assert row["threads"] == 1
    assert row["ppid"] == os.getpid()


def test_a_sleeping_process_sleeps(sampler: HostSampler, start: Start) -> None:
    pid = start("sleep", "60")
    take_after(sampler, 0.2)
    row = of(take_after(sampler, 0.3), pid)
    assert (row["usr_pct"], row["sys_pct"], row["run_wait_pct"], row["sleep_pct"]) == (0, 0, 0, 100)
    assert (row["vcsw_per_s"], row["minor_faults_per_s"], row["write_bytes_per_s"]) == (0, 0, 0)
    assert row["command"] == "sleep"
    assert row["rss_bytes"] > 0


GROW = """
import time
held = []
while True:
    held.append(bytearray(b"x" * (1 << 20)))
    time.sleep(0.05)
"""


def test_memory_of_their_own_is_told_of_a_databases_processes(
    sampler: HostSampler, start: Start, tmp_path: Path
) -> None:
    """A process is known by the name of its program."""
    named = tmp_path / "mysqld"
    named.symlink_to(sys.executable)
    grows, other = start(str(named), "-c", GROW), start(sys.executable, "-c", GROW)
    time.sleep(0.5)  # until it has its name
    take(sampler)
    told = [of(take_after(sampler, 0.3), grows)["anon_bytes"] for _ in range(8)]
    assert told[-1] - told[0] >= 4 << 20
    row = of(take_after(sampler, 0.3), grows)
    assert 0 < row["anon_bytes"] <= row["rss_bytes"]
    assert row["swap_bytes"] is not None
    assert of(take_after(sampler, 0.3), other)["anon_bytes"] is None


def test_written_bytes_are_seen(sampler: HostSampler, start: Start, tmp_path: Path) -> None:
    pid = start(sys.executable, "-c", WRITE, str(tmp_path / "file"))
    take_after(sampler, 0.3)
    found, deadline = take_after(sampler, 0.7), time.monotonic() + 60
    while not _are_written(found, pid) and time.monotonic() < deadline:  # a disk may stand still for a second
        found = take_after(sampler, 0.7)
    assert _are_written(found, pid)
    for disk in found["disk"]:
        assert disk["host_queue"] is None or disk["host_queue"] >= 0
        assert disk["util_pct"] <= 100


def _are_written(found: Rows, pid: int) -> bool:
    on_disks = sum(row["write_bytes_per_s"] for row in found["disk"])
    return of(found, pid)["write_bytes_per_s"] > 1 << 20 and on_disks > 1 << 20


def test_all_threads_of_a_process_count(sampler: HostSampler, start: Start) -> None:
    # Hashing outside the interpreter's lock keeps two threads running at once.
    work = "import hashlib, threading\ndata = bytes(1 << 24)\ndef spin():\n while True: hashlib.sha256(data)\n"
    pid = start(sys.executable, "-c", work + "for _ in range(2): threading.Thread(target=spin).start()")
    deadline = time.monotonic() + 60
    # On a busy machine an interpreter takes long to begin: what is measured begins once all of them run.
    threads = Path(f"/proc/{pid}/task")
    while len([*threads.iterdir()]) != 3:
        assert time.monotonic() < deadline, "the threads did not begin"
        time.sleep(0.05)
    take(sampler)
    take_after(sampler, 0.4)
    row = of(take_after(sampler, 0.8), pid)
    assert row["threads"] == 3
    assert row["usr_pct"] + row["sys_pct"] + row["run_wait_pct"] == pytest.approx(200, abs=50)


def test_a_process_born_between_two_samples_has_its_whole_life_in_the_row(sampler: HostSampler, start: Start) -> None:
    take(sampler)
    pid = start(sys.executable, "-c", SPIN)
    row = of(take_after(sampler, 0.5), pid)
    assert row["usr_pct"] + row["sys_pct"] + row["run_wait_pct"] > 50


def test_processes_that_end_are_no_error(sampler: HostSampler) -> None:
    take(sampler)
    for _ in range(5):
        crowd = [subprocess.Popen(["true"]) for _ in range(20)]
        found = take(sampler)
        for process in crowd:
            process.wait()
        assert "restart" not in {row["kind"] for row in found.get("event", [])}
    assert not [row for row in take(sampler)["process"] if row["command"] == "true"]


def test_cpu_shares_are_whole(sampler: HostSampler) -> None:
    take(sampler)
    rows = take_after(sampler, 0.5)["cpu"]
    assert [row["cpu"] for row in rows] == [None, *sorted(os.sched_getaffinity(0))]
    shares = ("usr_pct", "sys_pct", "wait_io_pct", "irq_pct", "steal_pct", "idle_pct")
    for row in rows:
        assert sum(row[share] for share in shares) == pytest.approx(100, abs=0.05)
    assert rows[0]["csw_per_s"] > 0
    assert rows[0]["run_queue"] >= 0


def test_the_arguments_of_processes_are_never_recorded(sampler: HostSampler, start: Start) -> None:
    start("sleep", "61.0042")
    take_after(sampler, 0.1)
    assert "61.0042" not in json.dumps(take_after(sampler, 0.1), default=str)


def test_what_cannot_be_read_is_said_once(tmp_path: Path) -> None:
    sampler = HostSampler("here", LAYOUTS, proc=tmp_path, sys=tmp_path)
    events = take(sampler)["event"]
    not_measured = {row["subject"] for row in events}
    assert not_measured >= {"/proc/stat", "/proc/meminfo", "/proc/diskstats"}
    assert all(row["kind"] == "not measured" and row["hint"] for row in events)
    assert "event" not in take(sampler)


def recorded(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_counter_that_goes_down_is_an_event_and_no_rate(tmp_path: Path) -> None:
    line = "  eth0: {0} 1 0 0 0 0 0 0 {0} 1 0 0 0 0 0 0\n"
    disk = "254 0 vda {0} 0 8 1 {0} 0 8 1 0 1 1\n"
    (tmp_path / "block/vda").mkdir(parents=True)
    recorded(tmp_path, net__dev=line.format(5000), diskstats=disk.format(100))
    sampler = HostSampler("here", LAYOUTS, proc=tmp_path, sys=tmp_path)
    take(sampler)
    recorded(tmp_path, net__dev=line.format(10), diskstats=disk.format(3))
    found = take_after(sampler, 0.01)
    assert {row["subject"] for row in found["event"] if row["kind"] == "restart"} == {"eth0", "vda"}
    assert "disk" not in found
    assert [row["interface"] for row in found["network"]] == [None]


def test_a_layout_that_lacks_a_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no layout for table"):
        HostSampler("here", {})


def test_the_collector_reports_its_cost() -> None:
    collector = LinuxCollector()
    collector.sample()
    found = take_after(collector, 0.2)["statistic"]
    cost = {row["name"]: row for row in found if row["component"] == "doctord"}
    assert cost.keys() == {"cpu_ms_per_s", "sample_ms"}
    assert cost["sample_ms"]["value"] > 0
    assert cost["cpu_ms_per_s"]["kind"] == "rate"
    collector.close()


# A session of its own: where sessions share the CPUs (autogroups), it does not have to share with the tests.
ALONE = ["setsid"]
CALL = "import os\nwhile True: os.getppid()"
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TWO_SAMPLES = """
import json, os, sys, time
sys.path[:0] = json.loads(sys.argv[1])
from test_linux import LAYOUTS, HostSampler, take, take_after
sampler = HostSampler("here", LAYOUTS)
first, second = take(sampler), take_after(sampler, 0.3)
events = first.get("event", []) + second.get("event", [])
print(json.dumps([events, second["process"], os.getpid(), second["cpu"]], default=str))
"""


def two_samples(*prefix: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int, list[dict[str, Any]]]:
    """Events, processes, the own pid and CPUs as an interpreter sees them that is started behind `prefix`."""
    if os.geteuid() != 0 or not shutil.which(prefix[0]):
        pytest.skip(f"needs root and {prefix[0]}")
    paths = json.dumps([str(Path(__file__).parent), *sys.path])
    command = [*prefix, sys.executable, "-c", TWO_SAMPLES, paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    events, processes, own, cpu = json.loads(done.stdout)
    return events, processes, own, cpu


@pytest.mark.root
def test_without_privileges_the_rest_goes_on() -> None:
    events, processes, own, _ = two_samples(*UNPRIVILEGED)
    assert {row["subject"] for row in events} >= {"taskstats", "/proc/PID/io of other users' processes"}
    mine = next(row for row in processes if row["pid"] == own)
    assert mine["write_bytes_per_s"] is not None
    assert mine["user"] == "nobody"
    first = next(row for row in processes if row["pid"] == 1)
    assert first["write_bytes_per_s"] is None
    assert first["usr_pct"] is not None
    # Others come and go, and gain and lose threads, between two samples of a busy machine.
    steady = [row for row in processes if row["threads"] == 1 and row["pid"] in {*range(1, 50), own}]
    assert steady
    assert all(row["vcsw_per_s"] is not None for row in steady)


@pytest.mark.root
def test_that_system_calls_may_not_be_counted_is_said_once_there_is_reason_to(start: Start) -> None:
    start(*ALONE, sys.executable, "-c", CALL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        events, processes, *_ = two_samples(*UNPRIVILEGED)
        told = [row for row in events if row["subject"].startswith("system calls of processes")]
        if told:
            break
    assert len(told) == 1
    assert "CAP_PERFMON" in told[0]["hint"]
    assert {row["syscalls_per_s"] for row in processes} == {None}


@pytest.mark.root
def test_hidden_processes_are_said() -> None:
    mount = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    # A user of its own: processes of nobody that other tests start beside this one are not hidden from nobody.
    user = [word.replace("65534", "65532") for word in UNPRIVILEGED]
    events, processes, own, cpu = two_samples("unshare", "--mount", "sh", "-c", mount, "sh", *user)
    assert "processes of other users" in {row["subject"] for row in events}
    assert [row["pid"] for row in processes] == [own]
    # Their switches are not those of the host, whose sum is then unknown.
    assert {row["icsw_per_s"] for row in cpu} == {None}


@pytest.mark.root
def test_few_open_files_are_enough() -> None:
    events, processes, _, _ = two_samples("prlimit", "--nofile=64:64")
    assert len(processes) > 30
    assert "some processes" not in {row["subject"] for row in events}


@pytest.fixture
def throttled_group() -> Iterator[Path]:
    cpu = Path("/sys/fs/cgroup/cpu")
    if os.geteuid() != 0 or not (cpu / "cpu.cfs_quota_us").exists():
        pytest.skip("needs root and cgroup v1's cpu controller at /sys/fs/cgroup/cpu")
    group = cpu / f"doctord-test-{os.getpid()}"
    group.mkdir()
    (group / "cpu.cfs_quota_us").write_text("10000")
    yield group
    deadline = time.monotonic() + 60
    while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    group.rmdir()


LOOKS = 10


def looked_at(pid: int, column: str, least: float) -> bool:
    """Whether a closer look at a process finds so much: on a busy machine that may take a while."""
    sampler = HostSampler("here", LAYOUTS)
    take(sampler)
    found = (of(take_after(sampler, 0.5), pid)[column] for _ in range(4 * LOOKS))
    return any(value is not None and value >= least for value in found)


@pytest.mark.root
def test_calls_of_a_process_that_is_busy_in_the_kernel_are_counted(start: Start) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    assert looked_at(start(*ALONE, sys.executable, "-c", CALL), "syscalls_per_s", 5000)


@pytest.mark.root
def test_calls_of_the_whole_host_are_counted_in_one_interval_of_twenty(sampler: HostSampler, start: Start) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    start(*ALONE, sys.executable, "-c", CALL)
    take(sampler)
    rows = take_after(sampler, 1.0)["cpu"]
    (whole,) = (row["syscalls_per_s"] for row in rows if row["cpu"] is None)
    by_cpu = [row["syscalls_per_s"] for row in rows if row["cpu"] is not None]
    assert whole >= 5000
    assert sum(by_cpu) == pytest.approx(whole, rel=0.01)


@pytest.mark.root
def test_calls_of_the_host_that_may_not_be_counted_are_null_and_said_once() -> None:
    events, _, _, cpu = two_samples(*UNPRIVILEGED)
    told = [row for row in events if row["subject"] == "system calls of the host"]
    if not told:
        pytest.skip("everybody may count system calls here")
    assert len(told) == 1
    assert "CAP_PERFMON" in told[0]["hint"]
    assert all(row["syscalls_per_s"] is None for row in cpu)


def test_moves_of_a_busy_process_are_counted(sampler: HostSampler, start: Start, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    server = tmp_path / "mysqld"
    shutil.copy(shutil.which("bash") or "/bin/bash", server)
    pid = start(*ALONE, str(server), "-c", "while :; do :; done")
    take(sampler)
    found = []
    for _ in range(3 * LOOKS):
        for number in range(100):
            os.sched_setaffinity(pid, {cpus[number % 2]})
            time.sleep(0.003)
        found.append(of(take(sampler), pid)["migrations_per_s"])
        if found[-1]:
            break
    assert max(value or 0.0 for value in found) > 10
    assert None in found


@pytest.mark.root
def test_involuntary_switches_of_the_host_are_those_of_its_processes(sampler: HostSampler, start: Start) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    for _ in range(2 * (os.cpu_count() or 1)):
        start(sys.executable, "-c", SPIN)
    take(sampler)
    found = take_after(sampler, 1.0)
    (whole,) = (row for row in found["cpu"] if row["cpu"] is None)
    own = sum(row["icsw_per_s"] or 0.0 for row in found["process"])
    assert 10 < whole["icsw_per_s"] <= 1.1 * whole["csw_per_s"]
    assert whole["icsw_per_s"] == pytest.approx(own, rel=0.05)


def test_how_a_listener_is_scheduled_is_told_once_and_when_it_changes(
    sampler: HostSampler, start: Start, tmp_path: Path
) -> None:
    listener = tmp_path / "tnslsnr"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", listener)
    pid = start("nice", "-n", "5", str(listener), "60")
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}/comm").read_text() != "tnslsnr\n" and time.monotonic() < deadline:
        time.sleep(0.02)
    begins = f"{pid} tnslsnr."
    told = [row for row in take(sampler)["setting"] if row["name"].startswith(begins)]
    values = {row["name"].removeprefix(begins): row["value"] for row in told}
    assert {row["component"] for row in told} == {"process"}
    assert values["policy"] == "SCHED_OTHER"
    assert int(values["nice"]) >= 5
    assert values["cpus"]
    assert "setting" not in take(sampler)


def test_nodes_of_memory_of_a_host_that_has_several(tmp_path: Path) -> None:
    """Written by hand after Documentation/ABI/stable/sysfs-devices-node: two nodes of four CPUs."""
    for node, distance in enumerate(("10 21\n", "21 10\n")):
        folder = f"devices__system__node__node{node}__"
        cpus = f"{4 * node}-{4 * node + 3}\n"
        recorded(tmp_path, **{f"{folder}distance": distance, f"{folder}cpulist": cpus})
    rows = take(HostSampler("here", LAYOUTS, proc=tmp_path, sys=tmp_path))["setting"]
    told = {row["name"]: row["value"] for row in rows}
    assert told["numa.node1.distance"] == "21 10"
    assert told["numa.node1.cpulist"] == "4-7"


@pytest.mark.root
def test_a_throttled_server_is_seen_throttled(throttled_group: Path, start: Start, tmp_path: Path) -> None:
    server = tmp_path / "postgres"
    shutil.copy(shutil.which("bash") or "/bin/bash", server)
    pid = start(str(server), "-c", "while :; do :; done", "secret")
    (throttled_group / "cgroup.procs").write_text(str(pid))
    sampler = HostSampler("here", LAYOUTS)
    take(sampler)
    for _ in range(LOOKS):  # on a busy machine it waits for a CPU meanwhile, rather than for its quota
        found = take_after(sampler, 0.8)
        figures = {row["name"]: row for row in found["statistic"] if row["entity"] == f"/{throttled_group.name}"}
        if figures["cpu.throttled_s_per_s"]["value"] > 0.1:
            break
    assert of(found, pid)["command"] == "postgres: postmaster"
    assert of(found, pid)["usr_pct"] < 40
    assert figures["cpu.limit_cpus"]["value"] == 0.1
    assert figures["cpu.limit_cpus"]["kind"] == "gauge"
    assert figures["cpu.throttled_s_per_s"]["value"] > 0.1
    assert figures["cpu.nr_throttled_per_s"]["kind"] == "rate"


@pytest.mark.server
def test_processes_of_a_server_go_by_their_roles(
    sampler: HostSampler, postgres_server: Callable[..., PostgresServer]
) -> None:
    server = postgres_server(PACKAGED, {"cluster_name": "15/main"})
    assert server.process is not None
    with server.connect():
        take(sampler)
        found = take_after(sampler, 0.2)
        found = take_after(sampler, 0.2)
    own = {row["command"] for row in found["process"] if server.process.pid in (row["pid"], row["ppid"])}
    assert own >= {"postgres: postmaster", "postgres: checkpointer", "postgres: walwriter", "postgres: client backend"}
    assert f"127.0.0.1:{server.port}" in {row["entity"] for row in found["statistic"]}
