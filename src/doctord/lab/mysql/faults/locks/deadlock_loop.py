"""Sessions that lock the same rows in different order."""

from collections.abc import Iterator
from contextlib import ExitStack

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL


def _transfer(first: int, second: int) -> Script:
    take = f"UPDATE branches SET balance = balance - 1 WHERE id = {first}"
    give = f"UPDATE branches SET balance = balance + 1 WHERE id = {second}"
    return Script(("BEGIN", take, "sleep 0.05", give, "COMMIT"))


@fault(cause="deadlocks_reported")
def deadlock_loop(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Transfers between two accounts lock the one that they take from first, in both directions at a time.

    InnoDB finds each deadlock at once and rolls one of the two back, which is done again.
    """
    with ExitStack() as beside:
        for one in range(1, 2 * dose.of(1, 2, 5), 2):
            for first, second in ((one, one + 1), (one + 1, one)):
                beside.enter_context(clients(server, [_transfer(first, second)], seed=dose.seed, clients=2))
        yield


@fault(cause=None)
def transfers_in_order(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of deadlock_loop: transfers between two of many accounts, the lower number locked first.

    There is nothing to be found.
    """
    take = "UPDATE accounts SET balance = balance - 1 WHERE id = {low}"
    give = "UPDATE accounts SET balance = balance + 1 WHERE id = {high}"
    ranges = {"low": (1, 150_000), "high": (150_001, 300_000)}
    transfer = Script(("BEGIN", take, "sleep 0.02", give, "COMMIT", "sleep 0.1"), ranges)
    with clients(server, [transfer], seed=dose.seed, clients=4):
        yield
