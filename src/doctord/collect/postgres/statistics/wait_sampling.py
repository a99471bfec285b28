"""Waits as pg_wait_sampling counts them, on servers that have it: a hundred looks a second from inside the server.

Its profile counts every process, idle sessions among them, and does not say which was which: so it does not fill
`wait`, whose rows are the time of active sessions, but stands beside it in `statistic`.
"""

import time
from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence, Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_SCHEMA: Final = """\
SELECT /* doctord */ quote_ident(nspname) AS name,
       current_setting('pg_wait_sampling.profile_period')::float AS period_ms
FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_wait_sampling'
"""
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
        installed = link.query(_SCHEMA)
        if not installed:
            return []
        period_ms, figures, at_s = installed[0]["period_ms"], Figures(link.db), time.monotonic()
        profile = link.query(_PROFILE.format(schema=installed[0]["name"]))
        increase = self._counters.step(at_s, {row["entity"]: row["samples"] * period_ms for row in profile})
        if increase is None:
            return []
        for event, waited_ms in increase.per_s.items():
            if waited_ms:
                figures.rate("pg_wait_sampling_profile.wait_time", waited_ms, increase.interval_s, event)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""
