"""The lab's own listener: as large as it is told to be, and serving its clients one after the other."""

import socket
import time
from pathlib import Path

import pytest

from doctord.lab import listener as module
from doctord.lab.errors import LabError
from doctord.lab.listener import MIB, listener


def own_memory(port: int) -> list[int]:
    """Memory of its own of the process that listens there, and of its children, bytes."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            arguments = (status.parent / "cmdline").read_bytes().split(b"\0")
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if b"serve" in arguments and str(port).encode() in arguments and "RssAnon" in lines:
            found.append(int(lines["RssAnon"].split()[0]) * 1024)
    return found


def test_it_serves_its_clients_and_is_as_large_as_told(tmp_path: Path) -> None:
    with listener(tmp_path, clients=2, client_pause_s=0.05, memory_mib=40) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            assert client.recv(16) == b"served"
        assert max(own_memory(port)) > 40 * MIB
    assert not own_memory(port)


def test_those_who_find_no_place_in_the_queue_wait(tmp_path: Path) -> None:
    with listener(tmp_path, clients=8, client_pause_s=0.0, backlog=1, pause_s=0.3) as port:
        time.sleep(1)
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            assert client.recv(16) == b"served"
        assert time.monotonic() - began >= 0.3


def test_one_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(module, "_free_port", lambda: port)
        monkeypatch.setattr(module, "_answers", lambda _: False)
        with (
            pytest.raises(LabError, match="the listener did not start"),
            listener(tmp_path, clients=1, client_pause_s=0.1),
        ):
            pytest.fail("two listen at one port")
    assert "in use" in (tmp_path / "listener.log").read_text()
