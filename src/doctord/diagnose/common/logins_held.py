"""Places of a server that clients hold which never finish logging in: how many, whose, and what to do about them.

A backend has a place among the server's children from its start on (up to version 17 twice as many as there may be
backends of all kinds, from 18 on twice max_connections and max_wal_senders: MaxLivePostmasterChildren,
src/backend/postmaster), and one of max_connections once its request is read, before it is authenticated (InitProcess).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.host.logins_under_way import HELD, NO_REQUEST, Held, held, logins_under_way
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, Words, listed, phrase

TIMEOUT: Final = "authentication_timeout"
TIMEOUT_DEFAULT_S: Final = "60"
# As many as there may be backends: what all children may be is twice that. Their defaults.
SINCE_18: Final = ("max_connections", "max_wal_senders")
BEFORE_18: Final = (*SINCE_18, "autovacuum_max_workers", "max_worker_processes")
LAUNCHER: Final = 1
VERSION_18: Final = 180_000
# Of a limit: the next clients of one application server take what is left.
NEAR: Final = 0.9
# Without these there would be room: half of what is held.
MOST: Final = 0.5
FEWEST: Final = 10.0
MOST_NAMED: Final = 3
LASTING_S: Final = 2.0


def unfinished(case: Case, db: str | None) -> list[Held]:
    """Logins that wait for their client after seconds, by client, most first; none where they hold no notable part."""
    slow = next((one for one in logins_under_way(case.dataset) if one.db == db), None)
    if slow is None or slow.asked or (slow.for_clients is not None and slow.for_clients < MOST):
        return []  # it is the server that has them wait, or whom it asks
    found = [one for one in held(case.dataset, db) if one.oldest_s >= LASTING_S]
    limit = case.setting("max_connections", db)
    least = max(MOST * float(limit), FEWEST) if limit else FEWEST
    return found if sum(one.count for one in found) >= least else []


def are_near_limit(case: Case, db: str | None, used: float, found: Sequence[Held]) -> bool:
    """Whether they and the connections that are in use leave next to none of the server's places."""
    limit, children = case.setting("max_connections", db), _children(case, db)
    read = sum(one.count for one in found if one.phase != NO_REQUEST)
    whole = sum(one.count for one in found)
    is_full = limit is not None and used + read >= NEAR * float(limit)
    return bool(found) and (is_full or (children is not None and used + whole >= NEAR * children))


def named(found: Sequence[Held]) -> Words:
    """Who holds them, for a title."""
    whole = sum(one.count for one in found)
    first = found[0]
    most = phrase(", {:.0f} of them from {}", first.count, first.client) if first.client else ""
    return phrase("{:.0f} clients connect and never finish logging in{}", whole, most)


def evidence(case: Case, db: str | None, found: Sequence[Held]) -> Iterator[Evidence]:
    """How many of each client, in what and since when, what they have a place of, and how long they may stay."""
    for one in found[:MOST_NAMED]:
        yield Evidence("statistic", f"name = '{HELD}' and db = '{db}'",
                       phrase("{:.0f} logins at a time from {}", one.count, one.client or "a client that was not seen"),
                       "", phrase("{}: the oldest after {:time}", one.phase, one.oldest_s))  # fmt: skip
    children = _children(case, db)
    if children is not None:
        told = sum(one.count for one in found)
        yield Evidence("setting", f"name in {BEFORE_18}", phrase("{:.0f} of {:.0f} places", told, children), "",
                       "each has one from its connection on, though no view shows it")  # fmt: skip
    timeout = case.setting(TIMEOUT, db)
    if timeout is not None:
        yield Evidence("setting", f"name = '{TIMEOUT}'", phrase("{} = {:.0f s}", TIMEOUT, float(timeout)), "",
                       "so long each may stay")  # fmt: skip


def first_steps(found: Sequence[Held]) -> list[Phrase]:
    """What to do at the client, at the firewall and at the server."""
    clients = listed(*(one.client for one in found[:MOST_NAMED] if one.client))
    where = clients if clients.values else "there (ss -tnp state established, at the server's port)"
    return [
        phrase("See what connects from {} and says nothing: the check of a monitor, a scanner, a load balancer's TCP "
               "check, a proxy that opens connections ahead. Have it close them, or ask as a client does (pg_isready).",
               where),
        phrase("Until then: authentication_timeout = 5s and a reload (SELECT pg_reload_conf()), so that each gives its "
               "place back; let the firewall drop that address, or bound its connections (nftables: ct count). "
               "pg_hba.conf is read too late: once a client has said who it is."),
    ]  # fmt: skip


def _children(case: Case, db: str | None) -> float | None:
    """How many children of clients' connections the postmaster has places for; null where a setting is not known."""
    version = int(case.setting("server_version_num", db) or 0)
    parts = [case.setting(name, db) for name in (SINCE_18 if version >= VERSION_18 else BEFORE_18)]
    known = [float(part) for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return 2 * (sum(known) + (0 if version >= VERSION_18 else LAUNCHER))
