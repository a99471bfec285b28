"""Statements that failed, and the numbers of the errors and warnings that were raised, as performance_schema counts.

Both MySQL and MariaDB count the statements that failed; which errors there were, MySQL alone (8.0 and later). Its
table has warnings beside errors, and does not tell them apart.
"""

import os
import time
from collections.abc import Mapping
from typing import Any, Final

from doctord.collect.core.link import Link
from doctord.collect.core.rates import Counters
from doctord.collect.mysql.refusals import Refusals
from doctord.dataset import mysql_names
from doctord.dataset.rows import now_us
from doctord.errors import UserError

_FAILED: Final = (
    "SELECT /* doctord */ SUM(sum_errors) AS doctord "
    "FROM performance_schema.events_statements_summary_global_by_event_name "
    "WHERE event_name LIKE 'statement/sql/%' OR event_name LIKE 'statement/com/%'"
)
# What a handler of a stored program took care of, failed nobody.
_BY_ERROR: Final = (
    "SELECT /* doctord */ error_number AS doctord, sql_state, error_name, sum_error_raised - sum_error_handled "
    "FROM performance_schema.events_errors_summary_global_by_error "
    "WHERE sum_error_raised > 0 AND error_number IS NOT NULL"
)
# Asked while statements fail: a server of many users has as many rows for each error as users.
_BY_USER: Final = (
    "SELECT /* doctord */ user AS doctord, error_number, sum_error_raised - sum_error_handled "
    "FROM performance_schema.events_errors_summary_by_user_by_error "
    "WHERE sum_error_raised > 0 AND error_number IN ({}) AND user IS NOT NULL"
)
_MOST_NUMBERS: Final = 10
UNTOLD: Final = "which statements fail is not counted: performance_schema is off"
TO_TELL: Final = "performance_schema = ON under [mysqld], and a restart"


class Errors:
    """Their rates since the last reading, of one server."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._counters = Counters[tuple[str, str | None]](from_zero=True)
        self._by_user = Counters[tuple[str, str | None]]()  # what was asked for anew has counted since the start
        self._rising: list[str] = []
        self._not_now = Refusals()
        self.refused: UserError | None = None

    def read(self, link: Link, db: str, *, by_number: bool) -> list[dict[str, Any]]:
        """Rows of `statistic`; none at the first call. An error that was not there before began at none.

        `by_number` is whether the server counts errors by their numbers, too. That it does not tell whose they are, is
        in `refused`.

        Raises:
            Away: the connection broke.
            UserError: the server refused.
        """
        [(failed,)] = link.query(_FAILED)
        now = time.monotonic()
        told: dict[tuple[str, str | None], float] = {(mysql_names.FAILED_STATEMENTS, None): float(failed or 0)}
        for number, state, name, raised in link.query(_BY_ERROR) if by_number else ():
            told[mysql_names.RAISED, f"{number} {state} {name}"] = float(raised)
        increase = self._counters.step(now, told)
        by_user = self._of_users(link)
        users = self._by_user.step(now, by_user) if by_user else None
        if increase is None:
            return []
        self._rising = _rising(increase.per_s)
        common = {"ts": now_us(), "host": os.uname().nodename, "db": db}
        common |= {"component": mysql_names.COMPONENT, "kind": "rate", "unit": "per_s"}
        return [
            common | {"interval_s": one.interval_s, "name": name, "entity": entity, "value": per_s}
            for one in (increase, users)
            if one is not None
            for (name, entity), per_s in one.per_s.items()
            if per_s or entity is None
        ]

    def _of_users(self, link: Link) -> dict[tuple[str, str | None], float]:
        """Who raised what rose last."""
        if not self._rising or _BY_USER in self._not_now:
            return {}
        try:
            told = link.query(_BY_USER.format(", ".join(self._rising)))
        except UserError as refusal:
            self._not_now.add(_BY_USER)
            self.refused = refusal
            return {}
        return {(mysql_names.RAISED_BY_USER, f"{number} {user}"): float(raised) for user, number, raised in told}


def _rising(per_s: Mapping[tuple[str, str | None], float]) -> list[str]:
    """The numbers that rose most."""
    found = {entity.split()[0]: rate for (name, entity), rate in per_s.items() if name == mysql_names.RAISED and entity}
    return sorted((number for number, rate in found.items() if rate), key=lambda one: -found[one])[:_MOST_NUMBERS]
