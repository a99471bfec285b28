"""The certificate that a running server shows: its file may have been replaced since it was read."""

import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Final

# PostgreSQL documentation, "Message Formats", SSLRequest: its length and a number that no version of the protocol has.
SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
WILLING: Final = b"S"
_TIMEOUT_S: Final = 2.0


def served(host: str, port: int) -> bytes | None:
    """The certificate (DER) by which a server answers who asks for TLS; null where it does not, or is not reached.

    It is not verified: that it expired is what is looked for.
    """
    try:
        with socket.create_connection((host, port), _TIMEOUT_S) as plain:
            plain.sendall(SSL_REQUEST)
            return shaken_hands(plain) if plain.recv(1) == WILLING else None
    except OSError:
        return None


def shaken_hands(plain: socket.socket) -> bytes | None:
    """Begin TLS where the server is willing, and end it again; its certificate, null where they do not agree.

    Nobody logs in. Who leaves earlier, or in another way, makes the server log "could not accept SSL connection".
    """
    ssl = _tls()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(plain) as secure:
            shown: bytes | None = secure.getpeercert(binary_form=True)
            with suppress(OSError):
                secure.unwrap()
            return shown
    except OSError:  # ssl.SSLError is one
        return None


def _tls() -> ModuleType:
    """Python's TLS. A recorder keeps it from being imported, 4 MiB, until a server turns out to be willing."""
    if sys.modules.get("ssl", sys) is None:
        del sys.modules["ssl"]
    return import_module("ssl")
