import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from doctord.app.fleet.engine import Failed
from doctord.fleet.processes import Processes
from fleet_jobs import doubled, slow, threads


def by_task(done: Iterable[tuple[int, int | Failed]]) -> dict[int, int | Failed]:
    return dict(done)


def test_each_task_is_done_once() -> None:
    assert by_task(Processes(2).each(doubled, range(6))) == {number: 2 * number for number in range(6)}


def test_what_fails_costs_itself() -> None:
    found = by_task(Processes(2).each(doubled, [1, 13, 14, 2]))
    assert (found[1], found[2]) == (2, 4)
    assert found[13] == Failed("13 is not doubled", "take another")
    assert found[14] == Failed("ValueError: a bug", "a fault of Doctor D's: please report it")


def test_a_process_that_is_killed_costs_its_own_task_alone() -> None:
    found = by_task(Processes(2).each(doubled, [1, 2, 15, 3, 4, 5]))
    killed = found.pop(15)
    assert found == {number: 2 * number for number in (1, 2, 3, 4, 5)}
    assert isinstance(killed, Failed)
    assert "was ended" in killed.reason


def test_who_stops_listening_does_not_wait_for_all() -> None:
    each = Processes(1).each(slow, range(1000))
    assert isinstance(next(each)[1], int)
    each.close()  # type: ignore[attr-defined]


def test_a_process_has_one_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    assert by_task(Processes(1).each(threads, [1])) == {1: "1"}


FOR_EVER = """
from doctord.fleet.processes import Processes
from fleet_jobs import own_pid
if __name__ == "__main__":
    for _, pid in Processes(1).each(own_pid, range(10_000)):
        print(pid, flush=True)
"""


def test_workers_end_with_who_began_them_however_that_ends(tmp_path: Path) -> None:
    program = tmp_path / "for_ever.py"
    program.write_text(FOR_EVER)
    places = os.pathsep.join(path for path in sys.path if path)
    command, environment = [sys.executable, str(program)], os.environ | {"PYTHONPATH": places}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        worker = int(process.stdout.readline())
        process.kill()
    ends_s = time.monotonic() + 60
    while Path(f"/proc/{worker}").exists() and time.monotonic() < ends_s:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
