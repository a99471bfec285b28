"""A transaction that somebody forgot to end."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.mysql.sessions import sessions_asking

_UPDATE = "UPDATE branches SET balance = balance + 1"


@fault(cause="idle_in_transaction_blocker")
def idle_in_transaction(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """One session updates every branch and then sleeps in its transaction.

    The light load needs a branch in every transaction: all its sessions queue behind the sleeping one until
    innodb_lock_wait_timeout. Mild: it ends after three seconds, and comes again after six. Severe: thirty more queue.
    """
    forgotten = dose.of(_now_and_then, _for_good, _for_good)
    with forgotten(server, dose), sessions_asking(server, _UPDATE, count=dose.of(0, 0, 30)):
        yield


@contextmanager
def _for_good(server: PrivateMySQL, _dose: Dose) -> Iterator[None]:
    with closing(server.connect("app")) as idle:
        idle.begin()
        idle.cursor().execute(_UPDATE)
        yield


@contextmanager
def _now_and_then(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    with clients(server, [Script(("BEGIN", _UPDATE, "sleep 3", "COMMIT", "sleep 6"))], seed=dose.seed, clients=1):
        yield
