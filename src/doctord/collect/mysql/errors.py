"""Statements that failed, and the numbers of the errors and warnings that were raised, as performance_schema counts.

Both MySQL and MariaDB count the statements that failed; which errors there were, MySQL alone (8.0 and later). Its
table has warnings beside errors, and does not tell them apart.
"""

import os
import time
from typing import Any, Final

from doctord.collect.core.link import Link
from doctord.collect.core.rates import Counters
from doctord.dataset import mysql_names
from doctord.dataset.rows import now_us

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
UNTOLD: Final = "which statements fail is not counted: performance_schema is off"
TO_TELL: Final = "performance_schema = ON under [mysqld], and a restart"


class Errors:
    """Their rates since the last reading, of one server."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._counters = Counters[tuple[str, str | None]](from_zero=True)

    def read(self, link: Link, db: str, *, by_number: bool) -> list[dict[str, Any]]:
        """Rows of `statistic`; none at the first call. An error that was not there before began at none.

        `by_number` is whether the server counts errors by their numbers, too.

        Raises:
            Away: the connection broke.
            UserError: the server refused.
        """
        [(failed,)] = link.query(_FAILED)
        told: dict[tuple[str, str | None], float] = {(mysql_names.FAILED_STATEMENTS, None): float(failed or 0)}
        for number, state, name, raised in link.query(_BY_ERROR) if by_number else ():
            told[mysql_names.RAISED, f"{number} {state} {name}"] = float(raised)
        increase = self._counters.step(time.monotonic(), told)
        if increase is None:
            return []
        about = {"ts": now_us(), "interval_s": increase.interval_s, "host": os.uname().nodename, "db": db}
        about |= {"component": mysql_names.COMPONENT, "kind": "rate", "unit": "per_s"}
        return [
            about | {"name": name, "entity": entity, "value": per_s}
            for (name, entity), per_s in increase.per_s.items()
            if per_s or entity is None
        ]
