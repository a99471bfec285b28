"""The handshake of TLS that a recorder puts off importing."""

import socket
import subprocess
import sys
import threading

from doctord.collect.postgres.connection.served_certificate import shaken_hands

NAME = "doctord.collect.postgres.connection.served_certificate"


def test_who_leaves_during_the_handshake_shows_no_certificate() -> None:
    here, there = socket.socketpair()
    leaving = threading.Timer(0.05, there.close)
    leaving.start()
    with here:
        assert shaken_hands(here) is None, "nobody answered, and nothing was raised"
    leaving.join()


def test_tls_is_imported_when_a_server_is_willing() -> None:
    code = f"import sys, {NAME}; print('ssl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
