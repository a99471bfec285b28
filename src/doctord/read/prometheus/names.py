"""Where the metrics of exporters belong in the dataset: `exporters/*.csv`, a table for each exporter.

A line is a metric: the versions of the exporter that have it (empty: all that are known), table
and column that it fills (of `statistic` its name there, with `{label}` for a label's value), the unit of a statistic,
its kind (`counter`: its rate; `gauge`: as it is; `since`: a moment in seconds since 1970, as its age), what it is
multiplied by, and what its row is about: `column=label` or `column='text'`, several behind `;`, of a statistic labels
joined by dots. `name{label}` is the metric where it has that label, which some versions do.

Written from the sources: prometheus/node_exporter 0.12 to 1.12, prometheus-community/postgres_exporter 0.10 to 0.20,
prometheus/mysqld_exporter 0.10 to 0.20, iamseth/oracledb_exporter 0.6, oracle/oracle-db-appdev-monitoring 1.0 to 2.4.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from doctord.regex import regex

# The component of an exporter's statistics.
COMPONENTS: Final = {"node": "kernel", "postgres": "postgresql", "mysqld": "mysql", "oracledb": "oracle"}
CPU_MODES: Final = {
    "user": "usr_pct",
    "nice": "usr_pct",
    "system": "sys_pct",
    "iowait": "wait_io_pct",
    "irq": "irq_pct",
    "softirq": "irq_pct",
    "steal": "steal_pct",
    "idle": "idle_pct",
}
# Whether an exporter could ask its server.
UP: Final = {"pg_up": "postgresql", "mysql_up": "mysql", "oracledb_up": "oracle"}
HOST_NAME: Final = ("node_uname_info", "nodename")
CLOCK: Final = "node_time_seconds"

# Views of PostgreSQL, as postgres_exporter writes them before the name of the column; the longest first.
PG_VIEWS: Final = (
    "pg_stat_database_conflicts", "pg_stat_progress_vacuum", "pg_stat_checkpointer", "pg_stat_user_tables",
    "pg_stat_user_indexes", "pg_stat_statements", "pg_stat_replication", "pg_stat_database", "pg_stat_bgwriter",
    "pg_stat_activity", "pg_stat_archiver", "pg_stat_wal_receiver", "pg_stat_wal", "pg_statio_user_tables",
    "pg_statio_user_indexes", "pg_replication_slots", "pg_replication_slot", "pg_replication", "pg_process_idle",
    "pg_long_running_transactions", "pg_database", "pg_locks", "pg_wal",
)  # fmt: skip
# Columns of these that are readings; the others rise.
PG_GAUGES: Final = regex(
    r"(numbackends|count|lag\w*|active|slot\w*|size\w*|\w*size_bytes|bytes|n_(live|dead)_tup|n_mod_since_analyze"
    r"|n_ins_since_vacuum|oldest\w*|last_\w+|max_tx_duration|stats_reset|segments|connection_limit"
    r"|\w+_duration_seconds|is_replica|heap_blks_(scanned|total|vacuumed)\w*|checksum_last_failure)$"
)
PG_GAUGE_VIEWS: Final = frozenset({
    "pg_stat_activity", "pg_locks", "pg_long_running_transactions", "pg_replication", "pg_stat_progress_vacuum",
    "pg_process_idle", "pg_stat_replication", "pg_stat_wal_receiver", "pg_replication_slots", "pg_replication_slot",
})  # fmt: skip
# Labels that name what a figure of PostgreSQL is about, from the whole to the part.
PG_ENTITY: Final = ("datname", "schemaname", "relname", "indexrelname", "slot_name", "application_name", "queryid")
# Figures of databases and tables: kind and column of `space`.
SPACE: Final = {
    "pg_database_size_bytes": ("database", "used_bytes"),
    "pg_stat_user_tables_n_live_tup": ("table", "live_rows"),
    "pg_stat_user_tables_n_dead_tup": ("table", "dead_rows"),
    "pg_stat_user_tables_table_size_bytes": ("table", "used_bytes"),
}


class Place(NamedTuple):
    """Where a metric belongs: see this module.

    Attributes:
        component: Of the exporter.
        table: Of the dataset.
        column: Of it; of a statistic its name.
        unit: Of a statistic, of a counter that of its rate.
        kind: `counter`, `gauge` or `since`.
        factor: What the value, or its rate, is multiplied by.
        entity: What the row is about, as it stands in the table.
        label: The label that the metric has to have; null: none.
        versions: Of the exporter, in words.
    """

    component: str
    table: str
    column: str
    unit: str | None
    kind: str
    factor: float
    entity: str
    label: str | None = None
    versions: str = ""

    @property
    def counter(self) -> bool:
        """Whether the metric rises."""
        return self.kind == "counter"

    def about(self, labels: Mapping[str, str]) -> dict[str, str | None]:
        """The columns that say what its row is about; a label that is not there is null."""
        pairs = (pair.partition("=") for pair in self.entity.split(";") if pair)
        return {
            column: told.strip("'") if told.startswith("'") else labels.get(told) or None for column, _, told in pairs
        }

    def name(self, labels: Mapping[str, str]) -> str:
        """The name of the statistic; a label that is not there is `unknown`."""
        return self.column.format_map(defaultdict(lambda: "unknown", labels))

    def entity_of(self, labels: Mapping[str, str]) -> str | None:
        """What the statistic is about."""
        return ".".join(labels[label] for label in self.entity.split(".") if labels.get(label)) or None


@cache
def places() -> dict[str, tuple[Place, ...]]:
    """Where each known metric belongs, those that ask for a label first."""
    found = dict[str, tuple[Place, ...]]()
    for exporter, component in COMPONENTS.items():
        file = Path(__file__).with_name("exporters") / f"{exporter}.csv"
        for line in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            metric, _, label = line["metric"].rstrip("}").partition("{")
            place = Place(
                component, line["table"], line["column"], line["unit"] or None, line["kind"],
                float(line["factor"]), line["entity"], label or None, line["versions"],
            )  # fmt: skip
            found[metric] = tuple(sorted((*found.get(metric, ()), place), key=lambda one: one.label is None))
    return found


def place_of(metric: str, labels: Mapping[str, str]) -> Place | None:
    """Where a metric belongs; null where no table has it.

    >>> place_of("node_memory_MemFree", {}).column, place_of("oracledb_wait_time_other", {"con_id": "0"}).kind
    ('free_bytes', 'counter')
    """
    return next((one for one in places().get(metric, ()) if one.label is None or one.label in labels), None)
