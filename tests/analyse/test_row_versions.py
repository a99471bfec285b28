"""Tables whose readers step over dead rows."""

from datetime import UTC, datetime

import pytest

from doctord.analyse.row_versions import row_versions
from doctord.dataset.dataset import Dataset

AT = {"ts": datetime(2026, 11, 20, tzinfo=UTC), "host": "h", "db": "postgresql:5432"}
HOT = AT | {"database": "bench", "kind": "table", "name": "public.hot", "live_rows": 10, "dead_rows": 5000}


def rates(table: str, **figures: float) -> list[dict[str, object]]:
    views = {"heap_blks_hit": "pg_statio_user_tables", "idx_blks_hit": "pg_statio_user_tables"}
    return [
        AT | {"interval_s": 10.0, "component": "postgresql", "entity": f"bench.public.{table}", "value": value,
              "name": f"{views.get(name, 'pg_stat_user_tables')}.{name}", "kind": "rate"}
        for name, value in figures.items()
    ]  # fmt: skip


def test_pages_for_each_row_and_what_of_them_is_wasted() -> None:
    hot = rates("hot", heap_blks_hit=4000.0, idx_blks_hit=1000.0, idx_tup_fetch=50.0, n_tup_upd=50.0)
    other = rates("cold", heap_blks_hit=5000.0, seq_tup_read=90000.0)
    (table,) = row_versions(Dataset.from_rows(space=[HOT], statistic=[*hot, *other]))
    assert (table.name, table.dead, table.live, table.pages_per_row) == ("public.hot", 5000, 10, 40.0)
    assert table.gets_share == pytest.approx(0.5)
    assert table.wasted == pytest.approx(0.5 * 0.95)
    assert table.changed_per_s == 50.0
    assert table.vacuumed_s is None


def test_a_row_on_a_page_of_its_own_wastes_nothing() -> None:
    hot = rates("hot", heap_blks_hit=50.0, idx_tup_fetch=50.0)
    (table,) = row_versions(Dataset.from_rows(space=[HOT], statistic=hot))
    assert table.wasted == 0


def test_what_was_not_counted_or_has_no_dead_rows_is_left_out() -> None:
    hot = rates("hot", heap_blks_hit=4000.0, idx_tup_fetch=50.0)
    assert row_versions(Dataset.from_rows(space=[HOT], statistic=rates("hot", idx_tup_fetch=50.0))) == []
    assert row_versions(Dataset.from_rows(space=[HOT | {"dead_rows": 0}], statistic=hot)) == []
    assert row_versions(Dataset.from_rows(space=[HOT | {"dead_rows": None}], statistic=hot)) == []
    assert row_versions(Dataset()) == []


def test_a_scan_finds_many_rows_in_a_page_and_steps_over_dead_ones_all_the_same() -> None:
    """64 rows of a page of 8 KiB, two of which are alive: 20 scans a second look at all 80 pages."""
    table = HOT | {"live_rows": 160, "dead_rows": 4960, "used_bytes": 80 * 8192}
    scanned = rates("hot", heap_blks_hit=1600.0, seq_tup_read=3200.0)
    (found,) = row_versions(Dataset.from_rows(space=[table], statistic=scanned))
    assert found.pages_per_row == 0.5
    assert found.usual_pages == pytest.approx(1 / 64)
    assert found.avoidable == pytest.approx(1 - 160 / 5120)


def test_a_scan_of_rows_that_are_alive_wastes_nothing() -> None:
    table = HOT | {"live_rows": 5000, "dead_rows": 120, "used_bytes": 80 * 8192}
    scanned = rates("hot", heap_blks_hit=1600.0, seq_tup_read=100_000.0)
    (found,) = row_versions(Dataset.from_rows(space=[table], statistic=scanned))
    assert found.avoidable == pytest.approx(120 / 5120)
