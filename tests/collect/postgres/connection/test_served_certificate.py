"""The handshake of TLS that a recorder puts off importing."""

import socket
import sys
import threading

import pytest

from doctord.collect.postgres.connection.served_certificate import shaken_hands


def test_a_recorder_imports_tls_when_a_server_is_willing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ssl", None)
    here, there = socket.socketpair()
    leaving = threading.Timer(0.05, there.close)
    leaving.start()
    with here:
        assert shaken_hands(here) is None, "nobody answered, and nothing was raised"
    leaving.join()
    assert sys.modules["ssl"] is not None
