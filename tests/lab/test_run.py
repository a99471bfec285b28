import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from doctord.lab.dose import Dose
from doctord.lab.effect import Effect
from doctord.lab.fault import Fault, all_faults
from doctord.lab.run import run
from doctord.lab.server import PrivateServer

pytestmark = pytest.mark.server


def test_the_healthy_run_reaches_its_pace_and_leaves_nothing_behind() -> None:
    seen: list[PrivateServer] = []

    def look(server: PrivateServer) -> None:
        seen.append(server)
        with server.connect() as connection:
            assert connection.execute("select current_setting('fsync')").fetchone() == ("on",)
        time.sleep(1.5)

    outcome = run(all_faults()["none"], look)
    assert outcome.skipped is None
    assert outcome.effect is None
    assert outcome.before is not None
    assert 30 < outcome.before.tps < 140
    assert outcome.disk is not None
    assert outcome.disk.before_ms is not None
    assert outcome.disk.during_ms is not None
    assert not seen[0].folder.exists()
    assert seen[0].process.poll() is not None


def test_an_exception_in_the_look_leaves_nothing_behind() -> None:
    seen: list[PrivateServer] = []

    def look(server: PrivateServer) -> None:
        seen.append(server)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(all_faults()["cpu_hog"], look)
    assert not seen[0].folder.exists()
    assert not _processes_of(seen[0].folder)


def test_the_check_up_names_the_injected_fault_first() -> None:
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", "ddl_queue", "--for", "5s"]
    command += ["--intensity", "severe"]
    ended = subprocess.run([*command, "--diagnose", "--json"], capture_output=True, text=True, check=False)
    document = json.loads(ended.stdout)
    assert (document["first_cause"], document["correct"], document["skipped"]) == ("table_locks", True, None)
    assert document["diagnosis"]["findings"][0]["cause"] == "table_locks"
    assert (document["intensity"], document["effect"]["found"]) == ("severe", True)
    assert document["effect"]["what"].endswith("of the light load")
    assert ended.returncode == 1


def test_a_fault_whose_effect_the_light_load_does_not_feel_names_a_figure() -> None:
    outcome = run(all_faults()["clients_do_not_take_results"], lambda _server: time.sleep(1), dose=Dose(1, "mild"))
    assert outcome.effect == Effect("sessions that wait for their client", "sessions", 0.0, 2.0, 1.0, found=True)


def test_a_server_runs_where_its_fault_wants_it() -> None:
    fault = Fault("elsewhere", "", None, all_faults()["none"].inject, warm_up_s=0, entrance=("env", "ELSEWHERE=yes"))
    outcome = run(fault, lambda server: Path(f"/proc/{server.process.pid}/environ").read_bytes())
    assert outcome.seen is not None
    assert b"ELSEWHERE=yes" in outcome.seen.split(b"\0")


@pytest.mark.root
def test_a_throttled_disk_slows_the_load_and_its_group_is_gone_afterwards() -> None:
    if os.geteuid() != 0:
        pytest.skip("control groups need root")
    seen: list[PrivateServer] = []

    def look(server: PrivateServer) -> None:
        seen.append(server)
        time.sleep(4)

    outcome = run(all_faults()["disk_throttled"], look)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert outcome.before is not None
    assert outcome.during is not None
    assert outcome.during.tps < outcome.before.tps / 2
    assert seen[0].group is not None
    assert not seen[0].group.folder.exists()


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("memory_squeeze", "a control group of the server's own"),
        ("requests_split", "a loop device"),
        ("shared_memory_small", "a /dev/shm of its own"),
        ("far_clients", "a network of its own"),
        ("huge_pages_reserved", "vm.nr_hugepages"),
        ("huge_page_stalls", "the settings of transparent huge pages"),
    ],
)
def test_without_root_a_fault_that_needs_it_is_skipped_and_says_what_for(
    fault: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    outcome = run(all_faults()[fault], lambda _server: None)
    assert outcome.skipped == f"it needs root, for {what}"
    assert outcome.seen is None


def test_ctrl_c_ends_the_run_and_leaves_nothing_behind() -> None:
    with _started("row_lock_convoy") as (process, folder):
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 128 + signal.SIGINT
        assert not folder.exists()
        assert not _processes_of(folder)


@pytest.mark.parametrize("fault", ["cpu_hog", "log_read_slowly"])
def test_after_kill_9_no_process_lives_on_and_the_next_run_sweeps_the_folder(fault: str) -> None:
    with _started(fault) as (process, folder):
        children = _children(process.pid)
        process.kill()
        process.wait()
        _wait_until_gone(children)
        assert folder.exists()
        run(Fault("nothing", "", None, all_faults()["none"].inject, warm_up_s=0), lambda _server: None)
        assert not folder.exists()


@contextmanager
def _started(fault: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """`doctord lab run` once the fault bites, and the server's folder."""
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", fault, "--for", "60s"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "psql" in line:
                break
        folder = re.search(r"host=(\S+)", said[-1] if said else "")
        assert folder is not None, said
        yield process, Path(folder[1])
    finally:
        process.kill()
        process.communicate()


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def _processes_of(folder: Path) -> list[str]:
    """Command lines that name the folder."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder) in line:
            lines.append(line)
    return lines


def _wait_until_gone(pids: list[int]) -> None:
    assert pids
    deadline = time.monotonic() + 60
    while living := [pid for pid in pids if _is_running(pid)]:
        assert time.monotonic() < deadline, f"still running: {living}"
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
