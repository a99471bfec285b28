"""What a kind of database server says of itself: how its servers are addressed and found, and what can be read of them.

A folder of `collect/` that knows a database has a `DATABASE` of this kind in its `__init__`; `databases.py` finds it
there, and nothing else names the folder. Drivers, being large, are imported where a server is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from doctord._native import Batch
from doctord.collect.core.collector import Collector
from doctord.collect.core.notices import Notices
from doctord.collect.core.place import Place


class Wanted(NamedTuple):
    """What is to be timed.

    Attributes:
        subject: What; null takes what says most of a database server, or of the host's devices where there is none.
        period_s: Seconds of an interval.
        db: The server, `postgresql:5432`, where there are several here.
        dsn: The address of a server to be asked: `oracle://...`, `mysql://...`, or a connection string of PostgreSQL.
        pid: The process, where the subject is a system call.
        instance: The instance of a clustered server.
    """

    subject: str | None
    period_s: float
    db: str | None = None
    dsn: str | None = None
    pid: int | None = None
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class LiveSubject:
    """Something that can be mapped live here, of which server (null: the host), and by what."""

    name: str
    db: str | None
    source: str


class Latency(Collector, Protocol):
    """A collector of latencies that can say beforehand whether it will see what it is asked for."""

    def check(self) -> None:
        """See whether all that is wanted can be read.

        Raises:
            UserError: It cannot.
        """
        ...


class Search(Protocol):
    """Looks for servers on this host."""

    def collectors(self) -> list[Collector]:
        """Collectors of the servers that were not here at the last call."""
        ...


class LatenciesHere(Protocol):
    """Latencies of the servers on this host, which need no address: a module of such functions, say."""

    def is_named(self, db: str) -> bool:
        """Whether this may be the name of a server: `postgresql:5432`."""
        ...

    def usual(self) -> str | None:
        """The subject that says most of a server; null where none can be traced."""
        ...

    def subjects(self, *, with_bpftrace: bool) -> Iterator[LiveSubject]:
        """What can be timed of the servers that run."""
        ...

    def may_trace(self, subject: str) -> bool:
        """Whether bpftrace could time such a subject, be it here or not."""
        ...

    def traced(self, wanted: Wanted, subject: str) -> Latency | None:
        """What times a subject with bpftrace; null when it is none of these servers'.

        Raises:
            UserError: The server wanted is not here, or is built without what is needed.
        """
        ...

    def counted(self, wanted: Wanted, subject: str) -> Collector | None:
        """What reads the mean of a subject from the server's own counters; null when these do not tell it.

        Raises:
            UserError: The server wanted is not here.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A kind of database server: null is what it does not offer.

    Attributes:
        name: Its component in the dataset, and the first word of a server's name there: `postgresql` of `postgresql:1`.
        schemes: What may stand before `://` in an address.
        has_plain_addresses: Whether addresses without a scheme are its own; true of one kind.
        collectors: Makes collectors of the servers at addresses, which it may refuse; nothing is connected yet. What
            has none is not looked at by a checkup, a recording or lint.
        named: Addresses of the servers that the environment names.
        search: Begins to look for servers on this host.
        places: Where servers at addresses listen.
        before: Begins to look for what stands on this host before servers at some places, and passes clients on.
        latency: Makes what reads latencies of the server at the address wanted; it may refuse.
        here: Gives what times servers on this host; it is called when somebody asks for latencies.
    """

    name: str
    schemes: tuple[str, ...]
    has_plain_addresses: bool = False
    collectors: Callable[[Sequence[str]], list[Collector]] | None = None
    named: Callable[[], list[str]] = list
    search: Callable[[], Search] | None = None
    places: Callable[[Sequence[str]], list[Place]] | None = None
    before: Callable[[Sequence[Place]], Search] | None = None
    latency: Callable[[Wanted], Latency] | None = None
    here: Callable[[], LatenciesHere] | None = None


class Unreached:
    """The collector of servers that could not be asked: it says why."""

    period_s = 60.0

    def __init__(self, name: str, notices: Notices) -> None:
        """`name` is the database's; `notices` holds what was noted while looking for servers."""
        self.name = name
        self._notices = notices

    def sample(self) -> list[Batch]:
        """Rows of `event`: what was noted since the last call."""
        return self._notices.batches()

    def close(self) -> None:
        """There is nothing to let go of."""
