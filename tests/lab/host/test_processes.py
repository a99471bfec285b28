import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from doctord.lab.host.processes import orderly_end, running, tied


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_exit_and_a_second_one_does_not_disturb_it(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    cleaned: list[bool] = []

    def signalled_twice() -> None:
        with orderly_end():
            try:
                signal.raise_signal(number)
            finally:
                signal.raise_signal(number)
                cleaned.append(True)

    with pytest.raises(SystemExit) as raised:
        signalled_twice()
    assert raised.value.code == 128 + number
    assert cleaned
    assert signal.getsignal(number) == before


def test_a_process_ends_with_its_context(tmp_path: Path) -> None:
    with running(["sleep", "60"], tmp_path / "log") as process:
        assert process.poll() is None
    assert process.returncode == -signal.SIGKILL


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_tied_process_dies_with_its_parent() -> None:
    parent = f"import subprocess; print(subprocess.Popen({tied(['sleep', '60'])}).pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        child = os.pidfd_open(pid)
        wait_for(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")  # only then is it tied
        process.kill()
    ended, _, _ = select.select([child], [], [], 10)  # a pidfd becomes readable when its process ends
    os.close(child)
    assert ended
