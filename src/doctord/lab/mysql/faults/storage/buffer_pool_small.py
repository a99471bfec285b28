"""A buffer pool that is too small for what is read, and one that is not."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

TINY = {"innodb_buffer_pool_size": "8M", "innodb_flush_method": "O_DIRECT"}
_LOOK_UP = Script(("SELECT filler FROM accounts WHERE id = {account}",), {"account": (1, 300_000)})
_MISSES = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_reads'"
_READ = Figure("pages read from files", "pages", 5000, lambda server: server.figure(_MISSES))


@fault(cause="buffer_pool_small", effect=_READ, settings=TINY)
def buffer_pool_small(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """Accounts are read at random, eight MiB of fifty fit into the buffer pool, and memory is free.

    Reads pass the page cache by (O_DIRECT), at a rate that leaves room on two CPUs: as fast as they can, the clients
    take the CPUs from the server, and that is what is wrong then.
    """
    with clients(server, [_LOOK_UP], seed=dose.seed, clients=8, rate_per_s=dose.of(800, 1200, 2000)):
        yield


@fault(cause=None)
def buffer_pool_large(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """The look-alike of buffer_pool_small: accounts are read at random, and all fit.

    There is nothing to be found.
    """
    with clients(server, [_LOOK_UP], seed=dose.seed, clients=4, rate_per_s=200):
        yield
