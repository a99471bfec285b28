"""Commits with NOTIFY: in a line of their own, and seldom enough for none."""

from collections.abc import Iterator
from typing import Final, LiteralString

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_CLIENTS: Final = 12
_SELDOM_PER_S: Final = 15
_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table bookings (id bigserial primary key, account int)",
    "create function tell_listeners() returns trigger language plpgsql as $$ begin"
    " perform pg_notify('bookings', new.id::text); return null; end $$",
    "create trigger tell_listeners after insert on bookings for each row execute function tell_listeners()",
)
_BOOKING: Final = """
\\set account random(1, 1000)
insert into bookings (account) values (:account);
"""
_WAITING: Final = Figure(
    "sessions that wait to commit with NOTIFY",
    "sessions",
    3.0,
    answer("select count(*) from pg_locks where locktype = 'object' and database = 0 and not granted"),
)


@fault(cause="commits_notify", effect=_WAITING)
def notify_commits(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A trigger calls pg_notify for each row: the commits of twelve sessions go one by one.

    Each takes some milliseconds, as on a disk of a cloud (commit_delay), which commits without NOTIFY would share.

    Seen: 11 of 12 sessions in the lock on database 0, 190 bookings a second.
    """
    yield from _booking(server, dose, str(dose.of(2000, 5000, 10000)), None)


@fault(cause=None)
def notify_seldom(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of notify_commits: the same trigger, fifteen bookings a second, commits as the disk does them.

    No commit meets another one.
    """
    yield from _booking(server, dose, "0", _SELDOM_PER_S)


def _booking(server: PrivateServer, dose: Dose, delay_us: str, rate_per_s: int | None) -> Iterator[None]:
    for statement in _TABLES:
        server.execute(statement)
    server.set(commit_delay=delay_us, commit_siblings="0")
    with workload(server, seed=dose.seed, clients=_CLIENTS, script=_BOOKING, rate_per_s=rate_per_s):
        yield
