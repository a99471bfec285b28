"""The recorder with its time run faster: as many samples, statements, syncs and seals as in so many times the time.

    DOCTORD_RECORDER='{...}' python benchmarks/cost/hastened.py SPEED

What is recorded is what a recorder of that many times the length would hold in memory; the options are those that
`doctord.app.record.become` leaves. Only how often everything happens is changed: no other code runs.
"""

import functools
import sys

from doctord.app import record as recorder
from doctord.app.unused_modules import keep_out
from doctord.collect.core.rates import Cadence


def hasten(speed: float) -> None:
    """Have the collectors of servers, and the maintenance, happen so many times as often."""
    keep_out()  # as the recorder does, before anything imports psycopg
    from doctord.collect.postgres.sessions import SessionCollector  # noqa: PLC0415
    from doctord.collect.postgres.statistics.collector import StatisticsCollector  # noqa: PLC0415

    due = Cadence.due
    SessionCollector.period_s /= speed
    StatisticsCollector.period_s /= speed
    Cadence.due = lambda cadence, now_s: due(cadence, now_s * speed)  # type: ignore[method-assign]
    recorder.schedule.run = functools.partial(recorder.schedule.run, tick_s=1 / speed)


if __name__ == "__main__":
    hasten(float(sys.argv[1]))
    recorder.main()
