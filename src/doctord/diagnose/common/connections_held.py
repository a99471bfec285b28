"""Connections against their limit, who holds them, and which of these sessions have lost their client."""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.held import HELD, LOST, Fate, Holder, Left, growth, holders, left
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, Words, listed, phrase

# Connections in use by vendor.
IN_USE: Final = ("pg_stat_activity.connections", "global_status.threads_connected")
NEAR_LIMIT: Final = 0.9
MOST_NAMED: Final = 3
# Half of what is taken: without these the limit would be far.
MOST: Final = 0.5
# Of the limit, within one recording: connections that are opened and not given back.
GROWN: Final = 0.1
GROWN_LEAST: Final = 5
SESSION_MODE: Final = "pgbouncer.session_mode"


def connections_allowed(case: Case, db: str | None) -> int | None:
    """How many connections clients may have, without those that are reserved; null where that is not known."""
    limit = case.setting("max_connections", db)
    if limit is None:
        return None
    reserved = (case.setting(name, db) for name in ("superuser_reserved_connections", "reserved_connections"))
    return int(limit) - sum(int(value) for value in reserved if value is not None)


def clients_lost(case: Case, db: str | None, fate: Fate) -> list[Left]:
    """Sessions of a server whose client is gone, or silent; those idle for longest first."""
    return left(case.dataset, db, fate) if any(one.db == db for one in case.figures(LOST[fate])) else []


def held_by(case: Case, db: str | None) -> list[Holder]:
    """Who held the server's connections when most were taken, most of them first; none where nobody told."""
    return holders(case.dataset, db) if any(one.db == db for one in case.figures(HELD)) else []


def mostly(found: Sequence[Holder], used: float) -> Words:
    """Who has most of what is taken, for a title; empty where nobody has."""
    if not found or found[0].held < MOST * used:
        return ""
    first = found[0]
    idle = phrase(", idle for {:time}", first.idle_s) if first.idle_s and first.idle >= MOST * first.held else ""
    return phrase(", {:.0f} of them by {}{}", first.held, first.who, idle)


def evidence(case: Case, db: str | None, found: Sequence[Holder], limit: int) -> Iterator[Evidence]:
    """Who holds how many, since when they are idle, and what is known of the clients."""
    for one in found[:MOST_NAMED]:
        yield Evidence("statistic", f"name = '{HELD}' and entity = '{one.who}'",
                       phrase("{:count connection/connections} of {}", round(one.held), one.who), "",
                       listed(_idle(one), _clients(one), by="; "))  # fmt: skip
    grown = growth(case.dataset, db, found[0].who) if found else None
    if grown and grown.last - grown.first >= max(GROWN * limit, GROWN_LEAST):
        yield Evidence("statistic", f"name = '{HELD}_idle' and entity = '{found[0].who}'",
                       phrase("from {:.0f} to {:.0f} idle ones within {:time}", grown.first, grown.last, grown.seconds),
                       "", "never fewer: it opens connections, and does not give them back")  # fmt: skip
    if found and any(figure.last > 0 for figure in case.figures(SESSION_MODE)):
        yield Evidence("statistic", f"name = '{SESSION_MODE}'", "a pooler in session mode is before the server", "",
                       "it keeps a connection for each of its clients, idle or not, until that leaves")  # fmt: skip


def _idle(one: Holder) -> Words:
    if not one.idle:
        return "none of them idle"
    since = phrase(", half of these for {:time} and longer", one.idle_s) if one.idle_s else ""
    return phrase("{:.0f} of them idle{}", one.idle, since)


def _clients(one: Holder) -> Words:
    """What is known of the clients of the idle ones: nothing is said where the sockets were not seen."""
    if not one.idle or one.there is None:
        return ""
    told = [(one.there, "is there", "are there"), (one.gone or 0.0, "is gone", "are gone"),
            (one.silent or 0.0, "may be gone", "may be gone")]  # fmt: skip
    words = [
        phrase("the clients of {:.0f} {}", number, many if number > 1 else single) for number, single, many in told
        if number
    ]  # fmt: skip
    return listed(*words) if words else "whether their clients are there cannot be told"


def fewer(found: Sequence[Holder], used: float) -> list[Phrase]:
    """What to do where most of what is taken are idle connections of one client that is there."""
    if not found or found[0].idle < MOST * used or (found[0].there or 0.0) < MOST * found[0].idle:
        return []
    return [
        phrase("{} keeps more connections than it uses, and its clients are there: lower its pool's maximum and its "
               "minimum of idle ones (for each of its processes), or see that it gives them back; a pooler in "
               "transaction mode where many processes need few at a time.", found[0].who)
    ]  # fmt: skip
