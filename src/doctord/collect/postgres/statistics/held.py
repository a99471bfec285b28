"""Who holds the connections, since when these are idle, and whether the clients still exist (`whereabouts`)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.core.sock_diag import Address
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.whereabouts import Whereabouts, whereabouts
from doctord.dataset.secrets import program_name

# The view, for the names of users; sessions whose rows we may not see have no state.
_SESSIONS: Final = """\
SELECT /* doctord */ pid, usename AS user, datname AS database, application_name,
       host(client_addr) AS address, client_port AS port,
       state LIKE 'idle%%' AS is_idle, date_part('epoch', clock_timestamp() - state_change) AS in_state_s,
       date_part('epoch', clock_timestamp() - backend_start) AS age_s,
       current_setting('port')::int AS server_port
FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state IS NOT NULL
      AND application_name NOT LIKE 'doctord%%' ORDER BY pid
"""
_HELD: Final = {
    "there": "pg_stat_activity.held_there",
    "gone": "pg_stat_activity.held_gone",
    "silent": "pg_stat_activity.held_silent",
}
_EACH: Final = {"gone": "pg_stat_activity.client_gone_s", "silent": "pg_stat_activity.client_silent_s"}
_MOST_GROUPS: Final = 10
_MOST_TOLD: Final = 200
# A client that closes is missing for a moment, and one that was just served has answered.
_SETTLED_S: Final = 10.0
# Fewer sessions of a client that all stopped at once are no pool; and a pool may rest for a minute.
_A_POOL: Final = 5
_STILL_S: Final = 60.0
_SUBJECT: Final = "whether the clients of idle sessions still exist"


@dataclass(frozen=True, slots=True)
class Session:
    """A session, seconds since its state changed and since it began, and what is told of its client; null: nothing."""

    pid: int
    group: str
    is_idle: bool
    in_state_s: float
    age_s: float
    is_by_tcp: bool
    client: Whereabouts | None

    @property
    def fate(self) -> Literal["there", "gone", "silent"] | None:
        """Of its client; one elsewhere that something came from since the session is idle was there then."""
        if self.client is None or (self.client.fate == "gone" and self.in_state_s < _SETTLED_S):
            return None
        heard_s = self.client.heard_s
        is_heard = heard_s is not None and heard_s < self.in_state_s - _SETTLED_S
        return self.client.fate or ("there" if is_heard else None)


class Known(NamedTuple):
    """A session of the last look: whose it is, in a log's words and in short, and for how long idle or active."""

    who: str
    doing: str


class Held:
    """Fills `statistic` with who holds the connections: of each client `USER@ADDRESS PROGRAM`, most of them first.

    `pg_stat_activity.held` is how many, `held_idle` how many of these are idle, in a transaction or not, `held_idle_s`
    for how long half of them at the least; `held_there` how many of the idle have a client that is there, `held_gone`
    one whose end of the connection is missing, `held_silent` one that answers no more, or seems to have begun anew; of
    these three what nothing is known of is not told. Of the last two each session is told as well:
    `pg_stat_activity.client_gone_s` and `client_silent_s`, by `PID USER@ADDRESS PROGRAM`, for how long it is idle.
    `known` says of each session of the last look, by its process, whose it was: for who hears of it later.
    """

    name = "who holds the connections"

    def __init__(self) -> None:
        """Due soon after the start, then every half minute."""
        self.cadence = Cadence(30.0, EARLY)
        self.known = dict[int, Known]()

    def read(self, link: Link) -> list[Batch]:
        """The sessions of this moment."""
        found = link.query(_SESSIONS)
        figures, seen = Figures(link.db), self._whereabouts(link, found)
        groups = dict[str, list[Session]]()
        for row in found:
            one = _session(row, seen)
            groups.setdefault(one.group, []).append(one)
        self._know([one for own in groups.values() for one in own], found)
        for group, own in sorted(groups.items(), key=lambda it: (-len(it[1]), it[0]))[:_MOST_GROUPS]:
            _tell(figures, group, own)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def _know(self, sessions: Sequence[Session], found: Sequence[Mapping[str, Any]]) -> None:
        who = {row["pid"]: _who(row) for row in found}
        state = {True: "idle", False: "active"}
        doing = {one.pid: f"{one.group}, {state[one.is_idle]} for {one.in_state_s:.0f} s" for one in sessions}
        self.known.clear()
        self.known |= {pid: Known(who[pid], doing[pid]) for pid in doing}

    def _whereabouts(self, link: Link, found: Sequence[Mapping[str, Any]]) -> Mapping[Address, Whereabouts]:
        asked = [address for row in found if row["is_idle"] and (address := _address(row))]
        if not asked:
            return {}
        try:
            return whereabouts(found[0]["server_port"], asked)
        except OSError as error:
            link.notices.not_measured(link.db, _SUBJECT, error.strerror or str(error), "the module inet_diag")
            return {}


def _address(row: Mapping[str, Any]) -> Address | None:
    return (row["address"], row["port"]) if row["address"] and row["port"] else None


def _who(row: Mapping[str, Any]) -> str:
    """In the words of `log.errors_from`."""
    told = {
        "user": row["user"],
        "database": row["database"],
        "application": program_name(row["application_name"] or ""),
        "client": row["address"],
    }
    return ", ".join(f"{what} {name.replace('|', '/')}" for what, name in told.items() if name)


def _session(row: Mapping[str, Any], seen: Mapping[Address, Whereabouts]) -> Session:
    address = _address(row)
    program = program_name(row["application_name"] or "")
    return Session(
        row["pid"],
        f"{row['user']}@{row['address'] or '[local]'}{f' {program}' if program else ''}",
        bool(row["is_idle"]),
        row["in_state_s"] or 0.0,
        row["age_s"],
        address is not None,
        seen.get(address) if address else None,
    )


def _median(values: Sequence[float]) -> float:
    # The module `statistics` takes a quarter of a MiB, of a recorder that is to stay small.
    return sorted(values)[len(values) // 2]


def _tell(figures: Figures, group: str, own: Sequence[Session]) -> None:
    idle = [one for one in own if one.is_idle]
    figures.gauge("pg_stat_activity.held", len(own), "connections", group)
    figures.gauge("pg_stat_activity.held_idle", len(idle), "connections", group)
    if idle:
        figures.gauge("pg_stat_activity.held_idle_s", _median([one.in_state_s for one in idle]), "s", group)
    those = {
        "there": [one for one in idle if one.fate == "there"],
        "gone": [one for one in idle if one.fate == "gone"],
        "silent": [*_silent(own)],
    }
    for fate, name in _HELD.items():
        if those[fate] or any(one.client for one in idle):
            figures.gauge(name, len(those[fate]), "connections", group)
    for fate, name in _EACH.items():
        for one in those[fate][:_MOST_TOLD]:
            figures.gauge(name, one.in_state_s, "s", f"{one.pid} {group}")


def _silent(own: Sequence[Session]) -> Iterator[Session]:
    """Idle sessions of a client that answers no more, and those that a client had before it began anew."""
    unanswered = [one for one in own if one.is_idle and one.fate == "silent"]
    yield from unanswered
    yield from (one for one in _left_behind(own) if one not in unanswered)


def _left_behind(own: Sequence[Session]) -> Sequence[Session]:
    """Sessions of one client that all stopped before the others began: it may have started again without a word.

    At least half of them were at work after the last of them had begun, unlike connections that an application opens
    one after another and does not give back. None where one of them is of a client that is there, or was heard of since
    it stopped. Several clients that share a name and an address may look like that too: this is a suspicion.
    """
    old, stopped_s = list[Session](), math.inf
    for one in sorted(own, key=lambda each: -each.age_s):
        if len(old) >= _A_POOL and stopped_s >= max(one.age_s, _STILL_S):
            at_work = sum(each.in_state_s < old[-1].age_s - _SETTLED_S for each in old)
            return old if 2 * at_work >= len(old) else ()
        if not one.is_idle or not one.is_by_tcp or one.fate is not None:
            return ()
        old.append(one)
        stopped_s = min(stopped_s, one.in_state_s)
    return ()
