"""Functions: how often they are called, and how long that takes, where track_functions is on."""

import time
from typing import Final

from doctord.collect.core.rates import Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_MOST: Final = 50
_FUNCTIONS: Final = """\
SELECT /* doctord */ schemaname || '.' || funcname AS name, sum(calls)::float8 AS "pg_stat_user_functions.calls",
       sum(total_time) AS "pg_stat_user_functions.total_time", sum(self_time) AS "pg_stat_user_functions.self_time"
FROM pg_stat_user_functions GROUP BY 1
"""


class Functions:
    """Fills `statistic` with the fifty functions of one database that took most time (entity `database.schema.name`).

    Functions of one name count together. The view is empty where track_functions is `none`, its default.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._counters = Counters[tuple[str, str]](from_zero=True)

    def read(self, link: Link, figures: Figures) -> None:
        """Rates since the last call go into `figures`; none the first time."""
        reading = {
            (row["name"], column): float(value)
            for row in link.query(_FUNCTIONS)
            for column, value in row.items()
            if column != "name"
        }
        increase = self._counters.step(time.monotonic(), reading)
        if increase is None:
            return
        took = {name: ms for (name, column), ms in increase.per_s.items() if column.endswith(".total_time") and ms > 0}
        chosen = set(sorted(took, key=lambda name: (-took[name], name))[:_MOST])
        for (name, column), per_s in increase.per_s.items():
            if name in chosen:
                figures.rate(column, per_s, increase.interval_s, f"{link.database}.{name}")
