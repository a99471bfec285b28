"""Somebody who reads an old state of the data while rows are changed again and again."""

from collections.abc import Iterator
from contextlib import closing

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL


def _history(server: PrivateMySQL) -> float | None:
    return server.figure("SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'")


_LONGER = Figure("InnoDB's history", "transactions", 10_000, _history)
_COUNT = Script(("UPDATE counters SET value = value + 1 WHERE id = {counter}",), {"counter": (1, 10)})


@fault(cause="purge_behind", effect=_LONGER, warm_up_s=25.0)
def old_snapshot_hot_row(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """A transaction that began with a consistent snapshot stays open, while ten rows are counted in all the time.

    Purge may remove nothing that is newer than the snapshot: who reads a counter in it goes through all its versions.
    """
    server.execute(
        "CREATE TABLE counters (id INT PRIMARY KEY, value BIGINT NOT NULL) ENGINE=InnoDB",
        "INSERT INTO counters SELECT id, 0 FROM branches",
    )
    with closing(server.connect("app")) as reader:
        reader.cursor().execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        reader.cursor().execute("SELECT COUNT(*) FROM counters")
        with clients(server, [_COUNT], seed=dose.seed, clients=dose.of(2, 4, 8)):
            yield
