"""A Unix socket whose file was removed while the server listens at it, and a client that looks in the wrong place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from psycopg.conninfo import make_conninfo

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import ONE, fault
from doctord.lab.load.logins import clients_that_log_in
from doctord.lab.server import PrivateServer

_SETTINGS: Final = {"unix_socket_directories": "{folder}, {folder}/data"}


def _without_file(server: PrivateServer) -> float:
    return float(not _file(server).exists())


def _file(server: PrivateServer) -> Path:
    return server.data / f".s.PGSQL.{server.port}"


_MISSING = Figure("sockets without a file", "sockets", 1, _without_file)


@fault(cause="socket_file_missing", intensities=ONE, effect=_MISSING, settings=_SETTINGS)
def socket_file_removed(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The server listens at two Unix sockets, and a clean-up job has removed the file of the one that clients use.

    Who came in before is served; nobody comes in there any more. We come in by the other one.

    Seen: "No such file or directory" for each client, and nothing in the server's log.
    """
    _file(server).unlink()
    _file(server).with_name(f"{_file(server).name}.lock").unlink()
    with _coming(server, server.data):
        yield


@fault(cause=None, settings=_SETTINGS)
def socket_looked_for_elsewhere(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of socket_file_removed: both sockets have their files, and a client looks in a third folder.

    It fails as often; nothing of the server's is missing.
    """
    with _coming(server, server.data / "elsewhere"):
        yield


@contextmanager
def _coming(server: PrivateServer, folder: Path) -> Iterator[None]:
    with clients_that_log_in(server, make_conninfo(server.dsn, host=str(folder))):
        yield
