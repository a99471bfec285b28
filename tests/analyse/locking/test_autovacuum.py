"""Who waits for locks of autovacuum's workers."""

from datetime import timedelta

from diagnose.hosts import DB, START, host
from doctord.analyse.locking.autovacuum import takers
from doctord.dataset.dataset import Dataset

COMMON = {"host": "host", "db": DB, "database": "bench", "interval_s": 0.5}
WORKER = COMMON | {"kind": "autovacuum worker", "sid": 9, "serial": 1, "program": "autovacuum: VACUUM public.t"}
JOB = COMMON | {"kind": "client", "user": "app", "sid": 5, "serial": 2, "event": "relation", "blocker_sid": 9}


def waits(*moments_s: float) -> Dataset:
    rows = [one | {"ts": START + timedelta(seconds=at)} for at in moments_s for one in (WORKER, JOB)]
    return Dataset.from_rows(session=rows)


def test_waits_that_lie_apart_are_several() -> None:
    [taker] = takers(waits(1, 1.5, 10, 10.5, 11))
    assert (taker.times, taker.waited_s, taker.longest_s, taker.table) == (2, 2.5, 1.5, "public.t")
    assert taker.last == START + timedelta(seconds=11)


def test_who_waits_for_a_client_is_none() -> None:
    assert takers(host(sessions=[JOB | {"blocker_sid": 7000}])) == []
