"""Which relations hold the oldest transaction id of a database that grows old, and whose session a temporary one is."""

import os
import time
from itertools import pairwise
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.rates import Cadence, Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows
from doctord.dataset.secrets import program_name
from doctord.errors import UserError
from doctord.regex import regex

COMPONENT: Final = "pg_class"
XMAX: Final = "pg_current_snapshot.xmax"
# A healthy server freezes at 200 million transactions (autovacuum_freeze_max_age) and at 400 million multixacts.
OLD: Final = 500_000_000
_SINCE_REAL_NUMBERS: Final = 160000
_TEMPORARY: Final = regex(r"^pg_(?:toast_)?temp_(\d+)$")

_NOW: Final = "SELECT /* doctord */ pg_snapshot_xmax(pg_current_snapshot())::text::numeric AS xmax"
_OLD: Final = """\
SELECT /* doctord */ datname AS name, datallowconn AS lets_in, has_database_privilege(oid, 'CONNECT') AS allowed
FROM pg_database WHERE age(datfrozenxid) >= %s OR mxid_age(datminmxid) >= %s
ORDER BY greatest(age(datfrozenxid), mxid_age(datminmxid)) DESC LIMIT 3
"""
# Catalogues alone, without a lock on a table. A vacuum of a table takes its TOAST table along.
_RELATIONS: Final = """\
SELECT /* doctord */ n.nspname AS schema, n.nspname || '.' || c.relname AS relation, c.oid::bigint AS oid, c.relkind,
       CASE WHEN c.relfrozenxid <> '0' THEN age(c.relfrozenxid) END AS "pg_class.oldest_relfrozenxid_age",
       CASE WHEN c.relminmxid <> '0' THEN mxid_age(c.relminmxid) END AS "pg_class.oldest_relminmxid_age",
       (SELECT tn.nspname || '.' || t.relname FROM pg_class AS t JOIN pg_namespace AS tn ON tn.oid = t.relnamespace
        WHERE t.reltoastrelid = c.oid) AS toast_of
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 't') AND c.relfrozenxid <> '0'
ORDER BY {} DESC LIMIT 3
"""
# From 16 on the number of a session is the one in the name of its temporary schema; before, a place in a list that is
# in the order of these numbers, with the background processes without a number last. A new session takes the lowest
# number that is free: below those of our own connections there was no gap when they were opened.
_NUMBERS: Final = """\
SELECT /* doctord */ number, pg_stat_get_backend_pid(number) AS pid FROM pg_stat_get_backend_idset() AS number
ORDER BY number
"""
_VIRTUAL: Final = """\
SELECT /* doctord */ pid, split_part(virtualxid, '/', 1)::int AS number FROM pg_locks
WHERE locktype = 'virtualxid' AND virtualxid IS NOT NULL AND granted AND mode = 'ExclusiveLock' AND pid IS NOT NULL
"""
_SESSION: Final = """\
SELECT /* doctord */ usename AS user, application_name AS program FROM pg_stat_activity
WHERE pid = %s AND backend_type = 'client backend'
"""


class Freezing:
    """Fills `statistic` with the rate of transaction ids and, of databases that grow old, with their oldest relations.

    The entity is `database.schema.relation`; what kind of relation it is, its oid and, of a temporary one, whose, is in
    `setting` (component `pg_class`): `table, oid 16400`, `temporary table, oid 16400, of session 4711 (app reports)`.
    """

    name = "oldest transaction ids"

    def __init__(self) -> None:
        """Due soon after the start, then every half minute."""
        self.cadence = Cadence(every_s=30, early_s=(5.0, 15.0))
        self._counters = Counters[str]()
        self._told: dict[str, str] = {}

    def read(self, link: Link) -> list[Batch]:
        """The rate since the last call, and the oldest relations of this moment."""
        figures = Figures(link.db)
        xmax = link.query(_NOW)[0]["xmax"]
        if increase := self._counters.step(time.monotonic(), {XMAX: float(xmax)}):
            for name, per_s in increase.per_s.items():
                figures.rate(name, per_s, increase.interval_s)
        kinds: dict[str, str] = {}
        for database in link.query(_OLD, (OLD, OLD)):
            if database["lets_in"] and database["allowed"]:
                kinds |= _of_database(database["name"], link, figures)
            else:
                _note_denied(database, link)
        changed = {name: what for name, what in kinds.items() if self._told.get(name) != what}
        self._told |= changed
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        settings = [{**common, "name": name, "value": what} for name, what in changed.items()]
        return figures.batches() + ([rows("setting", settings)] if settings else [])

    def close(self) -> None:
        """There is nothing of its own."""


def _of_database(name: str, link: Link, figures: Figures) -> dict[str, str]:
    """Ages of the oldest relations of a database go into `figures`; returned is what each is."""
    if name == link.database:
        return _relations(link, link, figures)
    own = Link(link.target.with_database(name), link.notices)
    try:
        own.open()
        return _relations(own, link, figures)
    except UserError as refusal:
        link.notices.not_measured(link.db, f"oldest relations of {name}", str(refusal), refusal.hint)
    except Away:
        pass  # its link has noted why
    finally:
        own.close()
    return {}


def _relations(database: Link, link: Link, figures: Figures) -> dict[str, str]:
    oldest = {
        row["oid"]: row
        for order in ("age(c.relfrozenxid)", "mxid_age(c.relminmxid)")
        for row in database.query(_RELATIONS.format(order))
    }
    found: dict[str, str] = {}
    for row in oldest.values():
        entity = f"{database.database}.{row['toast_of'] or row['relation']}"
        if entity in found:
            continue  # a table and its TOAST table, the older of which came first
        for column in ("pg_class.oldest_relfrozenxid_age", "pg_class.oldest_relminmxid_age"):
            figures.gauge(column, row[column], "transactions", entity)
        found[entity] = _kind(row, database, link)
    return found


def _kind(row: dict[str, Any], *links: Link) -> str:
    kind = {"m": "materialized view", "t": "TOAST table"}.get(row["relkind"], "table")
    number = _TEMPORARY.match(row["schema"])
    if number is None:
        return f"{kind}, oid {row['oid']}"
    return f"temporary {kind}, oid {row['oid']}{_owner(int(number[1]), *links)}"


def _owner(number: int, *links: Link) -> str:
    """The session of that number, with user and program; empty where the server does not tell it."""
    link = links[0]
    listed = [(row["number"], row["pid"]) for row in link.query(_NUMBERS)]
    if link.version >= _SINCE_REAL_NUMBERS:
        pid = dict(listed).get(number)
    else:
        virtual = {row["pid"]: row["number"] for each in links for row in each.query(_VIRTUAL)}
        pid = numbered([pid for _, pid in listed], virtual).get(number)
    session = link.query(_SESSION, (pid,)) if pid is not None else []
    if not session:
        return ""
    names = (session[0]["user"], program_name(session[0]["program"] or ""))
    return f", of session {pid} ({' '.join(name for name in names if name) or 'unknown user'})"


def numbered(listed: list[int], known: dict[int, int]) -> dict[int, int]:
    """Sessions (process ids) by number, as far as it follows from those whose numbers are known.

    Args:
        listed: process ids in the order of their numbers, which may have gaps.
        known: numbers of those among them that are in a transaction.

    Between two that are as many places apart as their numbers are, there is no gap; nor before the first place.

    >>> numbered([11, 12, 13, 14, 15], {12: 2, 14: 5, 15: 6})
    {1: 11, 2: 12, 5: 14, 6: 15}
    """
    anchors = [(-1, 0), *((place, known[pid]) for place, pid in enumerate(listed) if pid in known)]
    found = {number: listed[place] for place, number in anchors[1:]}
    for (place, number), (next_place, next_number) in pairwise(anchors):
        if next_number - number == next_place - place:
            found |= {number + step: listed[place + step] for step in range(1, next_place - place)}
    return dict(sorted(found.items()))


def _note_denied(database: dict[str, Any], link: Link) -> None:
    name = database["name"]
    hint = f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'
    if database["lets_in"]:
        hint = f'GRANT CONNECT ON DATABASE "{name}" TO the role that doctord connects as'
    why = "no connection to it is allowed"
    link.notices.not_measured(link.db, f"oldest relations of {name}", why, hint)
