"""Logins under way: how many are slow, how long they take, and what is not known."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.host.logins_under_way import logins_under_way
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DB = "postgresql:5432"


def row(name: str, value: float, entity: str | None = None, *, look: int = 1, db: str = DB) -> dict[str, Any]:
    about = {"ts": START + timedelta(seconds=5 * look), "interval_s": 5.0, "component": "postgresql", "db": db}
    return about | {"name": name, "entity": entity, "value": value}


def test_their_length_is_estimated_by_how_many_are_under_way() -> None:
    """Two a second that take 4 s: 8 under way at a time."""
    told = [
        row(name, value, entity, look=look)
        for look in range(1, 5)
        for name, value, entity in (
            ("logins.under_way", 8.0, None),
            ("logins.oldest_s", 3.0 + look / 4, None),
            ("logins.slow", 1.5, "authentication"),
            ("logins.slow", 0.5, "no request read"),
            ("logins.slow_in", 0.5, "ep_poll"),
            ("logins.slow_in", 1.5, "do_poll"),
            ("pg_stat_database.sessions", 10.0, "bench"),
        )
    ]
    [logins] = logins_under_way(Dataset.from_rows(statistic=told))
    assert (logins.slow, logins.logins) == (pytest.approx(40), pytest.approx(200))
    assert logins.mean_s == pytest.approx(4)
    assert (logins.oldest_s, logins.phase, logins.for_clients) == (4.0, "authentication", 0.25)


def test_what_was_not_seen_is_not_known() -> None:
    told = [row("logins.under_way", 1.0), row("logins.oldest_s", 2.0), row("logins.slow", 0.2, "startup")]
    [logins] = logins_under_way(Dataset.from_rows(statistic=told))
    assert (logins.logins, logins.for_clients, logins.asked) == (None, None, {})


def test_each_server_is_looked_at_alone() -> None:
    others = "postgresql:5433"
    told = [row("logins.under_way", 1.0), row("logins.slow", 0.2, "startup"), row("logins.under_way", 0.0, db=others)]
    assert [logins.db for logins in logins_under_way(Dataset.from_rows(statistic=told))] == [DB]
    assert logins_under_way(Dataset.from_rows(statistic=told[2:])) == []
