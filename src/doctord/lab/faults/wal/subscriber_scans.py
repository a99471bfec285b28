"""A subscriber whose table has no key: each change that is applied reads it whole. And one whose table has a key."""

from collections.abc import Iterator
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer
from doctord.lab.subscriber import subscriber_of

_TABLE: Final = "create table stock (item int not null, place int not null, amount int not null)"
_KEY: Final = "alter table stock add primary key (item)"
_PUBLISHED: Final[tuple[LiteralString, ...]] = (
    _TABLE,
    "insert into stock select item, item % 50, 100 from generate_series(1, 400000) as item",
    _KEY,
    "alter table stock replica identity full",
    "vacuum analyze stock",
    "create publication stock for table stock",
)
_UPDATES: Final = """
\\set item random(1, 400000)
update stock set amount = amount - 1 where item = :item;
"""
_NOT_APPLIED = Figure(
    "WAL that the subscriber has not applied",
    "MiB",
    8.0,
    answer("select pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) / 2 ^ 20 from pg_stat_replication "
           "where application_name = 'stock'"),
)  # fmt: skip
_SETTINGS: Final = {"wal_level": "logical"}


@fault(cause="subscription_behind", effect=_NOT_APPLIED, settings=_SETTINGS, warm_up_s=15.0)
def subscriber_scans(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A table of 400,000 rows is published with its whole rows as identity, and has no key at the subscriber.

    Each update is found there by reading the table from its beginning, half of it on average. `subscriber_by_key` has
    the same load, with a key.

    Seen: no session of either server waits for anything; the apply worker is at 100 % of a CPU, and what is read at
    the subscriber gets older by half a second and more each second.
    """
    yield from _followed(server, dose, (_TABLE,), dose.of(150, 250, 500))


@fault(cause=None, settings=_SETTINGS, warm_up_s=5.0)
def subscriber_by_key(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of subscriber_scans: the same changes, found by the primary key of the subscriber's table.

    Its worker rests most of the time, and is some milliseconds behind.
    """
    yield from _followed(server, dose, (_TABLE, _KEY), 250)


def _followed(server: PrivateServer, dose: Dose, tables: tuple[LiteralString, ...], per_s: int) -> Iterator[None]:
    for statement in _PUBLISHED:
        server.execute(statement)
    with (
        subscriber_of(server, "stock", tables),
        workload(server, seed=dose.seed, clients=2, script=_UPDATES, rate_per_s=per_s),
    ):
        yield
