"""Commits that wait for a standby that is not there."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import ONE, fault
from doctord.lab.server import PrivateServer


@fault(cause="standby_slows_commits", intensities=ONE)  # it is there, or it is not
def synchronous_standby_missing(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """synchronous_standby_names asks for a standby, and none is connected.

    Each commit waits for a word that nobody gives, and keeps the rows that it changed locked meanwhile.

    Seen: sessions in `IPC: SyncRep`, and behind them others in `Lock: transactionid`; the light load stands still.
    """
    server.set(synchronous_standby_names="standby1")
    yield
