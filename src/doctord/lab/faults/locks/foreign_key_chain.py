"""Rows that others refer to, locked by somebody who thinks: by a lock that foreign keys wait for, or a weaker one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table products (id int primary key, price numeric not null)",
    "insert into products select id, id from generate_series(1, 100) as id",
    "create table sold (id bigserial primary key, product int not null references products, branch int not null)",
)
_LOCK: Final[LiteralString] = "select price from products for {}"
# Whoever sells holds a branch, which the light load needs, while the foreign key is looked at.
_SELL = """
\\set branch random(1, 10)
\\set product random(1, 100)
begin;
update pgbench_branches set bbalance = bbalance + 1 where bid = :branch;
insert into sold (product, branch) values (:product, :branch);
commit;
\\sleep 50 ms
"""
_NOW_AND_THEN = "begin;\nselect price from products for update;\n\\sleep 3 s\ncommit;\n\\sleep 6 s\n"


@fault(cause="idle_in_transaction_blocker")
def foreign_key_chain(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A price list is locked by SELECT FOR UPDATE while somebody thinks; whoever sells a product waits for its row.

    The foreign key's check takes FOR KEY SHARE of the product, which FOR UPDATE keeps out. The sellers hold branches
    meanwhile, and the light load waits for them: nobody of it touches a product. Mild: three seconds of nine.

    Seen: four sellers in `Lock: transactionid` behind an idle session, and all of the light load behind these.
    """
    _create(server)
    forgotten = dose.of(_from_time_to_time, _for_good, _for_good)
    with forgotten(server, "update"), workload(server, seed=dose.seed, clients=dose.of(4, 4, 24), script=_SELL):
        yield


@fault(cause=None)
def foreign_key_not_in_the_way(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of foreign_key_chain: the price list is locked FOR NO KEY UPDATE, as an UPDATE of a price does.

    Foreign keys do not mind it: nobody waits, for as long as the session thinks.
    """
    _create(server)
    with _for_good(server, "no key update"), workload(server, seed=dose.seed, clients=4, script=_SELL):
        yield


def _create(server: PrivateServer) -> None:
    for statement in _TABLES:
        server.execute(statement)


@contextmanager
def _for_good(server: PrivateServer, strength: LiteralString) -> Iterator[None]:
    with server.connect("price list") as idle, idle.transaction():
        idle.execute(sql.SQL(_LOCK).format(sql.SQL(strength)))
        yield


@contextmanager
def _from_time_to_time(server: PrivateServer, _strength: LiteralString) -> Iterator[None]:
    with workload(server, seed=1, clients=1, script=_NOW_AND_THEN):
        yield
