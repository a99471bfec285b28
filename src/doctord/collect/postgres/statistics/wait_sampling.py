"""Waits as pg_wait_sampling counts them, on servers that have it: a hundred looks a second from inside the server.

Its profile counts every process, idle sessions among them, and does not say which was which: so it does not fill
`wait`, whose rows are the time of active sessions, but stands beside it in `statistic`.
"""

import time
from typing import Final

from psycopg import sql

from doctord._native import Batch
from doctord.collect.core.rates import Cadence, Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.extensions import HINT, place_of
from doctord.collect.postgres.statistics.figures import Figures

_PERIOD: Final = "SELECT /* doctord */ current_setting('pg_wait_sampling.profile_period')::float AS period_ms"
_PROFILE: Final = """\
SELECT /* doctord */ event_type || ' ' || event AS entity, sum(count)::float AS samples
FROM {schema}.pg_wait_sampling_profile WHERE event_type <> 'Activity' GROUP BY entity
"""


class WaitSampling:
    """Fills `statistic` with `pg_wait_sampling_profile.wait_time` by type and event: ms waited per second."""

    name = "pg_wait_sampling"

    def __init__(self) -> None:
        """Due every five seconds."""
        self.cadence = Cadence(every_s=5)
        self._counters = Counters[str](from_zero=True)

    def read(self, link: Link) -> list[Batch]:
        """Samples since the last call times their period; nothing where the extension is not installed."""
        installed = place_of(link, self.name)
        if not installed:
            return []
        if not installed.is_safe:
            link.notices.not_measured(link.db, self.name, installed.why_not, HINT.format(self.name))
            return []
        period_ms, figures, at_s = link.query(_PERIOD)[0]["period_ms"], Figures(link.db), time.monotonic()
        profile = link.query(sql.SQL(_PROFILE).format(schema=sql.Identifier(installed.schema)))
        increase = self._counters.step(at_s, {row["entity"]: row["samples"] * period_ms for row in profile})
        if increase is None:
            return []
        for event, waited_ms in increase.per_s.items():
            if waited_ms:
                figures.rate("pg_wait_sampling_profile.wait_time", waited_ms, increase.interval_s, event)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""
