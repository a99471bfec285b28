"""Connections that are kept and not used, until none is left."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.mysql.clients import Script, clients
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL

_LIMIT, _KEPT = 20, 15
_REFUSALS = "SHOW GLOBAL STATUS LIKE 'Connection_errors_max_connections'"
_REFUSED = Figure("logins refused", "logins", 1, lambda server: server.figure(_REFUSALS))


@fault(cause="connections_near_limit", effect=_REFUSED, settings={"max_connections": str(_LIMIT)})
def connections_exhausted(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """An application keeps fifteen connections of twenty, and uses none; whoever comes next is refused.

    Four are the light load's, and two are the check-up's or others': "Too many connections" (1040).
    """
    with ExitStack() as stack:
        for _ in range(_KEPT):
            stack.enter_context(closing(server.connect("app")))
        rate = dose.of(0.3, 2.0, 20.0)
        comers = clients(server, [Script(("SELECT 1",))], seed=dose.seed, clients=2, rate_per_s=rate, reconnect=True)
        stack.enter_context(comers)
        yield
