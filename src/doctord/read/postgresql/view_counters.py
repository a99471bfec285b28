"""Rows of `statistic` and `space` of pg_stat_database and pg_stat_user_tables."""

from collections.abc import Iterator
from typing import Any, Final

from doctord.read.counters import Counters
from doctord.read.postgresql.view_columns import MOMENTS
from doctord.read.postgresql.view_samples import Sample
from doctord.read.source import SourceFile

COMPONENT: Final = "postgresql"
SINCE_RESET: Final = "counters of one sample are means since stats_reset"
NO_RATE: Final = "of one sample of {} no counter has a rate: two samples tell"
OF_A_DATABASE: Final = frozenset({"datid", "datname", "numbackends"})
TABLE_GAUGES: Final = {"n_live_tup": "rows", "n_dead_tup": "rows", "n_mod_since_analyze": "rows"}
TABLE_COUNTERS: Final = (
    "seq_scan", "seq_tup_read", "idx_scan", "idx_tup_fetch", "n_tup_ins", "n_tup_upd", "n_tup_del", "n_tup_hot_upd",
    "vacuum_count", "autovacuum_count",
)  # fmt: skip
TABLE_SIZES: Final = ("table_bytes", "total_bytes", "size_bytes", "pg_table_size", "pg_total_relation_size",
                      "pg_relation_size", "relation_size", "total_size", "table_size")  # fmt: skip


def databases(source: SourceFile, found: list[Sample]) -> Iterator[dict[str, Any]]:
    """Rows of `statistic` of databases: increases from sample to sample, or of one alone since the reset."""
    counters, several = Counters(), len({row.at_us for row in found}) > 1
    for row in sorted(found, key=lambda row: row.at_us):
        entity = row.cells.get("datname", "shared")
        about = {"ts": row.at_us, "component": COMPONENT, "entity": entity}
        if (connections := row.number("numbackends")) is not None:
            yield about | {"name": "pg_stat_database.numbackends", "value": connections, "kind": "gauge"}
        since_s = None if several else row.age_s(source, "stats_reset")
        if since_s:
            source.note(SINCE_RESET)
        for name in row.cells.keys() - OF_A_DATABASE - set(MOMENTS):
            value = row.number(name)
            if value is None:
                continue
            per_s = value / since_s if since_s else counters.per_s((entity, name), row.at_us, value)
            if per_s is not None:
                yield about | {"name": f"pg_stat_database.{name}", "value": per_s, "unit": "per_s", "kind": "rate",
                               "interval_s": since_s}  # fmt: skip


def tables(source: SourceFile, found: list[Sample]) -> Iterator[dict[str, Any]]:
    """Rows of `statistic` of tables."""
    counters, several = Counters(), len({row.at_us for row in found}) > 1
    if found and not several:
        source.note(NO_RATE.format("pg_stat_user_tables"))
    for row in sorted(found, key=lambda row: row.at_us):
        entity = f"{row.cells.get('datname', 'database')}.{_relation(row)}"
        about = {"ts": row.at_us, "component": COMPONENT, "entity": entity}
        gauges = {name: (row.number(name), unit) for name, unit in TABLE_GAUGES.items()}
        gauges["last_vacuum_age_s"] = (row.age_s(source, "last_vacuum", "last_autovacuum"), "s")
        gauges["last_analyze_age_s"] = (row.age_s(source, "last_analyze", "last_autoanalyze"), "s")
        for name, (value, unit) in gauges.items():
            if value is not None:
                yield about | {"name": f"pg_stat_user_tables.{name}", "value": value, "unit": unit, "kind": "gauge"}
        for name in TABLE_COUNTERS:
            value = row.number(name)
            per_s = None if value is None else counters.per_s((entity, name), row.at_us, value)
            if per_s is not None:
                yield about | {"name": f"pg_stat_user_tables.{name}", "value": per_s, "unit": "per_s", "kind": "rate"}


def _relation(row: Sample) -> str:
    return f"{row.cells.get('schemaname', 'public')}.{row.cells.get('relname', '')}"


def space(row: Sample) -> dict[str, Any]:
    """A row of `space` of a table: live and dead rows, and its size where a column of bytes is there."""
    live, dead = row.number("n_live_tup"), row.number("n_dead_tup")
    size = next((value for name in TABLE_SIZES if (value := row.number(name)) is not None), None)
    whole = {"live_rows": live, "dead_rows": dead, "used_bytes": size}
    rounded = {name: None if value is None else round(value) for name, value in whole.items()}
    return {"ts": row.at_us, "database": row.cells.get("datname"), "kind": "table", "name": _relation(row)} | rounded
