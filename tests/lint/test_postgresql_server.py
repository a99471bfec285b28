"""Faults of settings in a real server under a real load, seen by doctord's own collectors; and a server without any."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import LiteralString

import psycopg
import pytest

from doctord.collect import postgres
from doctord.collect.core.schedule import collect_for
from doctord.collect.linux import LinuxCollector
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.violation import Severity, Violation
from doctord.report import phrases
from servers import PostgresServer, running_postgres

pytestmark = pytest.mark.server

LOOK_S = 5.5  # rates of counters come with the second reading, five seconds after the first
SOUND = {"fsync": "on", "shared_buffers": "128MB", "max_connections": 100}
# Each commit flushes: so much work that the WAL of 32 MB is used up while it is looked at.
MUCH = "UPDATE item SET name = repeat(chr(65 + (random() * 25)::int), 400)"
LITTLE = "UPDATE item SET id = id WHERE id = 1 + (random() * 20000)::int"


@contextmanager
def busy(server: PostgresServer, work: LiteralString) -> Iterator[None]:
    """A session that does some work again and again."""
    stop = threading.Event()
    server.execute("CREATE TABLE item AS SELECT n AS id, repeat('x', 400) AS name FROM generate_series(1, 20000) n")

    def again_and_again() -> None:
        with suppress(psycopg.OperationalError), server.connect() as connection:
            while not stop.wait(0.02):
                connection.execute(work)

    worker = threading.Thread(target=again_and_again)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def said(settings: Mapping[str, object], work: LiteralString) -> dict[str, Violation]:
    with running_postgres(settings=settings) as server, busy(server, work):
        collectors = [LinuxCollector(), *postgres.collectors([server.dsn()])]
        dataset = Dataset.from_batches(collect_for(collectors, LOOK_S))
    return {one.rule.partition("/")[2]: one for one in engine.examine(dataset).violations if "postgresql/" in one.rule}


def test_faults_are_found_with_what_they_cost_here() -> None:
    found = said(
        {**SOUND, "max_wal_size": "32MB", "min_wal_size": "32MB", "autovacuum": "off", "work_mem": "64GB"}, MUCH
    )
    assert found["max_wal_size_small"].severity >= Severity.WARNING
    assert "in place of 300 s" in phrases.said(found["max_wal_size_small"].cost)
    assert "rows die a second" in phrases.said(found["autovacuum_off"].cost)
    assert found["work_mem_overcommitted"].severity is Severity.ERROR


def test_a_sound_server_is_left_alone() -> None:
    found = said(SOUND, LITTLE)
    assert [(one.rule, one.cost) for one in found.values() if one.severity > Severity.NOTE] == []
