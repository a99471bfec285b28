"""What each role does in each database: the calls of statements that look at a table, by pg_stat_statements.

Beside what fails of a role it tells whether that is all that it asks for. BEGIN, SET and a pool's SELECT 1 look at no
block and do nothing for anybody.
"""

import time
from collections.abc import Collection
from typing import Final

from psycopg import sql

from doctord._native import Batch
from doctord.collect.core.rates import Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

NAME: Final = "pg_stat_statements.calls_on_tables"
_MOST: Final = 200  # diagnose/common/failing_roles.py goes by it
_CALLS: Final = """\
SELECT /* doctord */ 'user ' || r.rolname || ', database ' || d.datname AS who, sum(s.calls)::float8 AS calls
FROM {schema}.pg_stat_statements(false) AS s
     JOIN pg_roles AS r ON r.oid = s.userid JOIN pg_database AS d ON d.oid = s.dbid
WHERE s.queryid <> ALL(%s) AND s.shared_blks_hit + s.shared_blks_read + s.local_blks_hit + s.local_blks_read > 0
GROUP BY 1
"""


class RoleWork:
    """Fills `statistic` with calls a second that looked at a table; the entity is `user ROLE, database NAME`.

    The two hundred that do most are told; where these are fewer, whoever is not among them did nothing.
    """

    def __init__(self) -> None:
        """No reading is known yet."""
        self._counters = Counters[str](from_zero=True)

    def read(self, db: str, where: Link, schema: str, ours: Collection[int]) -> list[Batch]:
        """Rates since the last call, without our own statements (`ours`, by their ids); none the first time."""
        query = sql.SQL(_CALLS).format(schema=sql.Identifier(schema))
        reading = {row["who"]: row["calls"] for row in where.query(query, (sorted(ours),))}
        increase = self._counters.step(time.monotonic(), reading)
        if increase is None:
            return []
        figures = Figures(db)
        busiest = sorted(increase.per_s, key=lambda who: (-increase.per_s[who], who))
        for who in busiest[:_MOST]:
            figures.rate(NAME, increase.per_s[who], increase.interval_s, who)
        return figures.batches()
