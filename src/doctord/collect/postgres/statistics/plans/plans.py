"""Plans of the statements that take most of the time: each is explained once an hour, for no values in particular."""

import math
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg import sql

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.notices import Notices
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.plans.explain import Asked, NotExplained, Why, explain, is_explained
from doctord.collect.postgres.statistics.plans.nodes import nodes
from doctord.collect.postgres.statistics.statements import Statements
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

_AGAIN_S: Final = 3600.0
_AT_ONCE: Final = 8
_BUDGET_S: Final = 1.0
# Statements of which no second look is taken; whoever writes values into names has new ones all the time.
_REMEMBERED: Final = 2000
_TEXTS: Final = """\
SELECT /* doctord */ DISTINCT ON (s.dbid, s.queryid) s.dbid AS number, s.queryid AS statement_id, d.datname AS database,
       r.rolname AS role, s.query AS text
FROM {schema}.pg_stat_statements(true) AS s JOIN pg_database AS d ON d.oid = s.dbid
     JOIN pg_roles AS r ON r.oid = s.userid
WHERE (s.dbid, s.queryid) IN (SELECT * FROM unnest(%s::oid[], %s::bigint[])) AND s.query IS NOT NULL
ORDER BY s.dbid, s.queryid, s.total_exec_time DESC
"""
_BACKEND: Final = (
    "SELECT /* doctord */ pid, backend_start AS started FROM pg_stat_activity WHERE pid = pg_backend_pid()"
)
_END: Final = """\
SELECT /* doctord */ pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s
"""
_BY_HAND: Final = "explain them by hand, as the role that runs them"
_HINTS: Final[dict[Why, str]] = {
    "not granted": "GRANT the roles that run them TO the role that doctord connects as",
    "standby": "they are those of its primary: look there",
    "event triggers": _BY_HAND,
    "superuser": "give the application a role of its own that is no superuser",
}


class Plans:
    """Fills `plan` with the plans of the statements that take a twentieth of the statements' time and more.

    A plan is asked for once an hour, eight at a time and for about a second; one that the server refuses to make is not
    asked for again.
    """

    name = "plans of statements"

    def __init__(self, statements: Statements) -> None:
        """Due when these are, and read after them."""
        self.cadence = Cadence(every_s=30, early_s=EARLY)
        self._statements = statements
        self._next_at = dict[tuple[int, int], float]()

    def read(self, link: Link) -> list[Batch]:
        """Rows of what was explained now."""
        now = time.monotonic()
        due = [key for key in self._statements.costliest if self._next_at.get(key, 0.0) <= now][:_AT_ONCE]
        found: list[dict[str, Any]] = []
        for asked in self._asked(due):
            found += self._of_database(asked, link, now + _BUDGET_S)
        return [rows("plan", found)] if found else []

    def close(self) -> None:
        """There is nothing of its own."""

    def _asked(self, due: Sequence[tuple[int, int]]) -> list[list[Asked]]:
        """What is to be explained of each database; each as the role runs it that spends most on it."""
        if not due or self._statements.place is None:
            return []
        where, schema = self._statements.place
        text = sql.SQL(_TEXTS).format(schema=sql.Identifier(schema))
        self._next_at |= dict.fromkeys(due, time.monotonic() + _AGAIN_S)  # also where the texts cannot be read
        told = where.query(text, ([number for number, _ in due], [statement for _, statement in due]))
        asked = dict[int, list[Asked]]()
        for row in told:
            is_asked = is_explained(row["text"])
            self._next_at[row["number"], row["statement_id"]] = 0.0 if is_asked else math.inf
            if is_asked:
                asked.setdefault(row["number"], []).append(Asked(**row))
        return [*asked.values()]

    def _of_database(self, asked: Sequence[Asked], link: Link, until: float) -> list[dict[str, Any]]:
        """The nodes of the plans of statements of one database, over a connection that has no settings of its own.

        What it has not come to before `until` is asked for the next time.
        """
        # What happens to it is no outage of the server.
        plain = Link(link.target.with_database(asked[0].database), Notices(), limits=False)
        found: list[dict[str, Any]] = []
        backend = None
        try:
            for one in asked:
                if time.monotonic() < until:
                    if plain.open():
                        backend = plain.query(_BACKEND)[0]
                    found += self._explained(one, plain, link.notices)
        except Away:
            if backend:  # what was run may have caught that it is to be cancelled; it cannot catch that it is to end
                link.query(_END, (backend["pid"], backend["started"]))
        finally:
            plain.close()
        return found

    def _explained(self, asked: Asked, link: Link, notices: Notices) -> Iterator[dict[str, Any]]:
        if len(self._next_at) > _REMEMBERED:
            self._next_at.clear()
        key = (asked.number, asked.statement_id)
        self._next_at[key] = math.inf  # should it never come back
        try:
            told = link.ask(lambda connection: explain(connection, asked))
        except UserError as refusal:
            notices.not_measured(link.db, f"{self.name} of {asked.database}", str(refusal), refusal.hint)
            return
        self._next_at[key] = time.monotonic() + _AGAIN_S
        if isinstance(told, NotExplained):
            if told.why == "refused":
                self._next_at[key] = math.inf
            elif told.why in _HINTS:
                notices.not_measured(link.db, f"{self.name} of {asked.database}", told.text, _HINTS[told.why])
            return
        common = {"ts": now_us(), "host": os.uname().nodename, "db": link.db, "database": asked.database}
        for node in nodes(told):
            yield {**common, "statement_id": str(asked.statement_id), **node}
