"""The collector of PgBouncer's pools: `DATABASE` is the way in.

A pooler is no database, and yet clients wait there before a server has seen them. It is asked at its console (the
database `pgbouncer`), with the right to look alone (`stats_users`); as its own user through its socket without any.
Where it refuses, its log and the kernel tell a little (`unasked`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Database
from doctord.collect.core.notices import Notices
from doctord.collect.core.place import Place
from doctord.collect.core.poolers import Pooler, poolers

if TYPE_CHECKING:
    from doctord.collect.pgbouncer.driver import PgBouncerDriver


def collectors(addresses: Sequence[str]) -> list[Collector]:
    """One for each pooler at these addresses: `pgbouncer://USER@HOST:PORT`.

    Raises:
        UserError: One of the addresses is none.
    """
    from doctord.collect.pgbouncer.driver import PgBouncerDriver  # noqa: PLC0415 - loads libpq

    return [_asking(PgBouncerDriver.from_address(address), Notices()) for address in addresses]


class Search:
    """Finds the poolers of this host, and on every further call those that have come since."""

    def __init__(self, places: Sequence[Place] | None = None) -> None:
        """Nothing is looked for yet; with `places` only poolers that lead to a server there, or may do so."""
        self._places = places
        self._known: set[tuple[str, int]] = set()

    def collectors(self) -> list[Collector]:
        """Collectors of the poolers that were not known yet; one that starts again is asked by the same link."""
        found = [pooler for pooler in poolers() if (pooler.socket_dir, pooler.port) not in self._known]
        if self._places is not None:
            found = [pooler for pooler in found if pooler.may_lead_to(self._places)]
        self._known.update((pooler.socket_dir, pooler.port) for pooler in found)
        if not found:
            return []
        from doctord.collect.pgbouncer.driver import PgBouncerDriver  # noqa: PLC0415 - as above

        return [_asking(PgBouncerDriver.here(one), Notices(), one, self._places) for one in found]


def _asking(
    driver: "PgBouncerDriver",
    notices: Notices,
    pooler: Pooler | None = None,
    places: Sequence[Place] | None = None,
) -> Collector:
    from doctord.collect.pgbouncer.pools import Pools  # noqa: PLC0415 - as above
    from doctord.collect.pgbouncer.unasked import Unasked  # noqa: PLC0415 - as above

    return Pools(driver, notices, beside=Unasked(driver.db, pooler) if pooler else None, places=places)


DATABASE: Final = Database(
    name="pgbouncer", schemes=("pgbouncer",), collectors=collectors, search=Search, before=Search
)
