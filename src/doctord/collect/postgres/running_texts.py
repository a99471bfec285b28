"""Texts of statements that run for long: pg_stat_statements tells a statement once it has ended.

A report that has computed for an hour, a CREATE INDEX behind which everybody waits: their text is what whoever is
called at night asks for first. It is read once for each, of those that have run for two seconds, not more than once in
five seconds, and nothing but its structure is kept: constants are taken out before it leaves this module.
"""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import rows
from doctord.dataset.scrub import scrub

_LONG_S: Final = 2.0
_EVERY_S: Final = 5.0
_AGAIN_S: Final = 3600.0  # an hour may be looked at alone
_AT_ONCE: Final = 16
# Statements of which no second look is taken; whoever writes values into names has new ones all the time.
_REMEMBERED: Final = 2000
_TEXT_LENGTH: Final = 2000
_CLIENT_BACKEND: Final = "client backend"
# pg_settings has the size in bytes; current_setting() would say '1kB'.
_TEXTS: Final = """\
SELECT /* doctord */ query_id, left(query, 8192) AS query,
       length(query) > 8192 OR octet_length(query) >=
           (SELECT setting::int - 4 FROM pg_settings WHERE name = 'track_activity_query_size') AS is_cut
FROM unnest(%s::int[]) AS pid, pg_stat_get_activity(pid)
WHERE query_id = ANY(%s::bigint[]) AND query <> '<insufficient privilege>'
"""


class RunningTexts:
    """Fills `statement` with the text alone, of one moment, of what runs for long; from PostgreSQL 14 on."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known = dict[int, float]()
        self._asked_at = float("-inf")

    def look(
        self, link: Link, active: Sequence[Mapping[str, Any]], databases: Mapping[int, str], ts: int
    ) -> list[Batch]:
        """Rows for one sample; `active` as pg_stat_activity has it, `databases` their names by their numbers.

        Raises:
            UserError: the server refuses.
        """
        now = time.monotonic()
        long = {row["query_id"]: row for row in active if self._is_wanted(row)}
        if not long or now - self._asked_at < _EVERY_S:
            return []
        self._asked_at = now
        asked = dict(list(long.items())[:_AT_ONCE])
        told = link.query(_TEXTS, ([row["pid"] for row in asked.values()], list(asked)), prepare=True)
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known |= dict.fromkeys((row["query_id"] for row in told), now)
        common = {"ts": ts, "host": os.uname().nodename, "db": link.db}
        found = [
            {
                **common,
                "database": databases.get(asked[row["query_id"]]["datid"]),
                "statement_id": str(row["query_id"]),
                "text": _shown(scrub(row["query"], "postgresql"), is_cut=row["is_cut"]),
            }
            for row in told
        ]
        return [rows("statement", found)] if found else []

    def _is_wanted(self, row: Mapping[str, Any]) -> bool:
        """Whether a client's statement has run for long, and its text was not told within the hour."""
        is_long = row["state"] == "active" and (row["statement_s"] or 0.0) >= _LONG_S
        is_client = row["backend_type"] == _CLIENT_BACKEND
        is_new = time.monotonic() - self._known.get(row["query_id"], float("-inf")) >= _AGAIN_S
        return is_client and is_long and row["query_id"] is not None and is_new


def _shown(text: str, *, is_cut: bool) -> str:
    """A text with a mark where it was cut off: what follows may change what it means, and so it is not to be parsed."""
    return f"{text[:_TEXT_LENGTH]} ..." if is_cut or len(text) > _TEXT_LENGTH else text
