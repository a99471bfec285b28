"""What a syslog daemon does with what programs send to /dev/log, as far as a reader of its files can tell."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from alone import alone

SOCKET = Path("/dev/log")


@contextmanager
def syslog_file(file: Path, host: str = "db1") -> Iterator[None]:
    """Receives as long as the block lasts; lines end up in the file as rsyslog's traditional format has them."""
    with alone("syslog"), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        if SOCKET.exists():
            pytest.skip(f"a syslog daemon is at {SOCKET}")
        try:
            listening.bind(str(SOCKET))
        except PermissionError:
            pytest.skip(f"only root may listen at {SOCKET}")
        SOCKET.chmod(0o666)
        writing = threading.Thread(target=_write, args=(listening, file, host))
        writing.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"", str(SOCKET))
            writing.join()
            SOCKET.unlink()


def _write(listening: socket.socket, file: Path, host: str) -> None:
    with file.open("w") as lines:
        while message := listening.recv(1 << 16):
            text = message.decode().partition(">")[2].rstrip("\n\0").replace("\t", "#011")
            lines.write(f"{text[:15]} {host}{text[15:]}\n")
