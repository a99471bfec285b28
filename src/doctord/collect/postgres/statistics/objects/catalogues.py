"""What changes in the system catalogues that plans depend on: rights, statistics, tables that are made and altered."""

import time
from typing import Final

from doctord.collect.core.rates import Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_CATALOGUES: Final = (
    "pg_class", "pg_attribute", "pg_index", "pg_statistic", "pg_constraint", "pg_type", "pg_proc", "pg_namespace",
    "pg_operator",
)  # fmt: skip
_CHANGES: Final = """\
SELECT /* doctord */ relname AS name, pg_stat_get_tuples_inserted(oid)::float8 AS "pg_stat_sys_tables.n_tup_ins",
       pg_stat_get_tuples_updated(oid)::float8 AS "pg_stat_sys_tables.n_tup_upd",
       pg_stat_get_tuples_deleted(oid)::float8 AS "pg_stat_sys_tables.n_tup_del"
FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname = ANY(%s)
"""


class Catalogues:
    """Fills `statistic` with `pg_stat_sys_tables.*` of one database (entity `database.pg_catalog.name`).

    What did not change has no row. What ANALYZE and VACUUM write into a row in its place is not counted by the server.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._counters = Counters[tuple[str, str]]()

    def read(self, link: Link, figures: Figures) -> None:
        """Rates since the last call go into `figures`; none the first time."""
        reading = {
            (row["name"], column): row[column]
            for row in link.query(_CHANGES, ([*_CATALOGUES],))
            for column in row
            if column != "name"
        }
        increase = self._counters.step(time.monotonic(), reading)
        for (name, column), per_s in increase.per_s.items() if increase else ():
            if per_s > 0:
                figures.rate(column, per_s, increase.interval_s if increase else 0.0,
                             f"{link.database}.pg_catalog.{name}")  # fmt: skip
