"""The lab's own listener: as large as it is told to be, and serving its clients one after the other."""

import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from doctord.analyse.host.parents import parents
from doctord.collect.linux import LinuxCollector
from doctord.dataset.dataset import Dataset
from doctord.lab.errors import LabError
from doctord.lab.load.listener import MIB, listener


def own_memory(pid: int) -> int:
    """Memory of its own, bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def served(port: int) -> None:
    """Where the queue is full, the kernel lets a client try again after 1, 2, 4... s: another one may be luckier."""
    for _ in range(10):
        with suppress(TimeoutError), socket.create_connection(("127.0.0.1", port), timeout=8) as client:
            assert client.recv(16) == b"served"
            return
    pytest.fail("it served nobody of ours in 80 s")


def test_it_serves_its_clients_and_is_as_large_as_told(tmp_path: Path) -> None:
    with listener(tmp_path, clients=2, client_pause_s=0.05, memory_mib=40) as listening:
        served(listening.port)
        assert own_memory(listening.pid) > 40 * MIB
    assert not Path(f"/proc/{listening.pid}").exists()


def test_those_who_find_no_place_in_the_queue_wait(tmp_path: Path) -> None:
    with listener(tmp_path, clients=8, client_pause_s=0.0, backlog=1, pause_s=0.3) as listening:
        time.sleep(1)
        began = time.monotonic()
        served(listening.port)
        assert time.monotonic() - began >= 0.3


def test_one_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(LabError, match="the listener did not start") as raised,
        listener(tmp_path, clients=1, client_pause_s=0.1, memory_mib=1 << 40),
    ):
        pytest.fail("it has a million times the memory of this machine")
    assert "Error" in raised.value.hint


@pytest.mark.root
def test_the_sampler_tells_two_of_them_apart_by_number_and_size(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    (tmp_path / "small").mkdir()
    large = listener(tmp_path, clients=4, client_pause_s=0.1, memory_mib=80)
    small = listener(tmp_path / "small", clients=2, client_pause_s=0.2)
    with large as first, small as second:
        sampler, rows = LinuxCollector(), []
        for _ in range(5):
            rows += sampler.sample()
            time.sleep(1)
    told = {one.pid: one for one in parents(Dataset.from_batches(rows))}
    of_first, of_second = told[first.pid], told[second.pid]
    assert None not in {of_first.cpu_s, of_second.cpu_s}
    assert of_first.children > of_second.children > 4
    assert (of_first.anon_bytes or 0) > 80 * MIB > (of_second.anon_bytes or 1 << 40)
    tables = (of_first.page_table_bytes or 0) - (of_second.page_table_bytes or 0)
    assert tables > 0.9 * 80 * MIB / 512  # eight bytes for each page of 4 KiB
