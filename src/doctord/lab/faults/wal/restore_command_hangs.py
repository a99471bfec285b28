"""A standby that lost its primary for a moment: its restore_command hangs, or says at once that there is nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.errors import LabError
from doctord.lab.fault import ONE, fault
from doctord.lab.figures import answer
from doctord.lab.server import PrivateServer
from doctord.lab.standby import standby_of

_STREAMS_S = 30.0
_IS_GONE = "gone"
_streaming = answer("select count(*) from pg_stat_replication")


def _missing(server: PrivateServer) -> float | None:
    """How many standbys do not stream; null before there is one that has."""
    is_there = (server.folder / "standby/data" / _IS_GONE).exists()
    return 1 - (_streaming(server) or 0.0) if is_there else None


_MISSING = Figure("standbys that do not stream", "standbys", 1, _missing)


@fault(cause="standby_stands_still", effect=_MISSING, intensities=ONE, warm_up_s=25.0)
def restore_command_hangs(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The archive of a standby does not answer any more: restore_command waits for it, and the standby with it.

    It streamed until its connection to the primary was ended once; the primary is there, and would let it in.

    Seen: pg_stat_wal_receiver is empty, the wait event RestoreCommand, a process `sleep` below `startup`.
    """
    with _following(server, f"! test -e {_IS_GONE} || sleep 3600; false"):
        yield


@fault(cause=None, warm_up_s=10.0)
def restore_command_finds_nothing(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of restore_command_hangs: the same standby, and an archive that has nothing for it.

    It streams again a few seconds later.
    """
    with _following(server, "false"):
        yield


@contextmanager
def _following(server: PrivateServer, restore_command: str) -> Iterator[None]:
    with standby_of(server, {"restore_command": restore_command}) as standby:
        _wait_for_receiver(standby)
        (standby.data / _IS_GONE).touch()
        server.execute("select pg_terminate_backend(pid) from pg_stat_replication")
        server.beside.append(standby.dsn)
        yield


def _wait_for_receiver(standby: PrivateServer) -> None:
    deadline = monotonic() + _STREAMS_S
    with standby.connect() as session:
        while session.execute("select from pg_stat_wal_receiver where status = 'streaming'").fetchone() is None:
            if monotonic() > deadline:
                raise LabError("the standby does not stream", "look at its postgresql.log (--keep)")
            sleep(0.1)
