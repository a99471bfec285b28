"""A buffer pool that is too small for what is read, and one that is not."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

TINY = {"innodb_buffer_pool_size": "8M", "innodb_flush_method": "O_DIRECT"}
_LOOK_UP = Script(("SELECT filler FROM accounts WHERE id = {account}",), {"account": (1, 300_000)})


@fault(cause="buffer_pool_small", settings=TINY)
def buffer_pool_small(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Accounts are read at random, eight MiB of fifty fit into the buffer pool, and memory is free.

    Reads pass the page cache by (O_DIRECT).
    """
    with clients(server, [_LOOK_UP], seed=dose.seed, clients=dose.of(2, 4, 16)):
        yield


@fault(cause=None)
def buffer_pool_large(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of buffer_pool_small: accounts are read at random, and all fit.

    There is nothing to be found.
    """
    with clients(server, [_LOOK_UP], seed=dose.seed, clients=4, rate_per_s=200):
        yield
